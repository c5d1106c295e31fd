#include "calve/simd/byte_stream_split.h"

#include "calve/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/byte_stream_split.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Blocks keep the part of `out` that all streams write to in the nearest cache.
constexpr size_t kBlock = 512;

#if HWY_TARGET != HWY_SCALAR

using Bytes = hn::Full128<uint8_t>;
using Vector = hn::Vec<Bytes>;

/// Interleaves the first half of 16 * kWidth bytes with the second, which turns the binary number of each byte's place
/// round by one digit.
template <size_t kWidth>
HWY_INLINE void Interleave(Vector* vectors) {
  const Bytes d;
  Vector to[kWidth];
  for (size_t b = 0; b < kWidth / 2; ++b) {
    to[2 * b] = hn::InterleaveLower(d, vectors[b], vectors[b + kWidth / 2]);
    to[2 * b + 1] = hn::InterleaveUpper(d, vectors[b], vectors[b + kWidth / 2]);
  }
  for (size_t b = 0; b < kWidth; ++b) vectors[b] = to[b];
}

/// Sixteen values at a time: a turn for every power of two in kWidth brings the bytes of each value together.
template <size_t kWidth>
HWY_INLINE void JoinSixteen(const uint8_t* streams, size_t stride, uint8_t* out) {
  const Bytes d;
  Vector vectors[kWidth];
  for (size_t b = 0; b < kWidth; ++b) vectors[b] = hn::LoadU(d, streams + b * stride);
  for (size_t step = 1; step < kWidth; step *= 2) Interleave<kWidth>(vectors);
  for (size_t b = 0; b < kWidth; ++b) hn::StoreU(vectors[b], d, out + b * 16);
}

/// The four turns that are left of a whole one bring them apart.
template <size_t kWidth>
HWY_INLINE void SplitSixteen(const uint8_t* values, size_t stride, uint8_t* streams) {
  const Bytes d;
  Vector vectors[kWidth];
  for (size_t b = 0; b < kWidth; ++b) vectors[b] = hn::LoadU(d, values + b * 16);
  for (int turn = 0; turn < 4; ++turn) Interleave<kWidth>(vectors);
  for (size_t b = 0; b < kWidth; ++b) hn::StoreU(vectors[b], d, streams + b * stride);
}

/// Returns how many values were joined.
template <size_t kWidth>
size_t JoinSixteens(const uint8_t* streams, size_t stride, size_t count, uint8_t* out) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) JoinSixteen<kWidth>(streams + i, stride, out + i * kWidth);
  return i;
}

template <size_t kWidth>
size_t SplitSixteens(const uint8_t* values, size_t count, size_t stride, uint8_t* streams) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) SplitSixteen<kWidth>(values + i * kWidth, stride, streams + i);
  return i;
}

#else

template <size_t kWidth>
size_t JoinSixteens(const uint8_t*, size_t, size_t, uint8_t*) {
  return 0;
}

template <size_t kWidth>
size_t SplitSixteens(const uint8_t*, size_t, size_t, uint8_t*) {
  return 0;
}

#endif

template <size_t kWidth>
void Join(const uint8_t* streams, size_t stride, size_t count, uint8_t* out) {
  for (size_t i = JoinSixteens<kWidth>(streams, stride, count, out); i < count; ++i) {
    for (size_t b = 0; b < kWidth; ++b) out[i * kWidth + b] = streams[b * stride + i];
  }
}

void JoinAny(const uint8_t* streams, size_t stride, size_t width, size_t count, uint8_t* out) {
  if (width == 2) return Join<2>(streams, stride, count, out);
  if (width == 4) return Join<4>(streams, stride, count, out);
  if (width == 8) return Join<8>(streams, stride, count, out);
  if (width == 16) return Join<16>(streams, stride, count, out);
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t end = begin + kBlock < count ? begin + kBlock : count;
    for (size_t b = 0; b < width; ++b) {
      for (size_t i = begin; i < end; ++i) out[i * width + b] = streams[b * stride + i];
    }
  }
}

template <size_t kWidth>
void Split(const uint8_t* values, size_t count, size_t stride, uint8_t* streams) {
  for (size_t i = SplitSixteens<kWidth>(values, count, stride, streams); i < count; ++i) {
    for (size_t b = 0; b < kWidth; ++b) streams[b * stride + i] = values[i * kWidth + b];
  }
}

void SplitAny(const uint8_t* values, size_t width, size_t count, size_t stride, uint8_t* streams) {
  if (width == 2) return Split<2>(values, count, stride, streams);
  if (width == 4) return Split<4>(values, count, stride, streams);
  if (width == 8) return Split<8>(values, count, stride, streams);
  if (width == 16) return Split<16>(values, count, stride, streams);
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t end = begin + kBlock < count ? begin + kBlock : count;
    for (size_t b = 0; b < width; ++b) {
      for (size_t i = begin; i < end; ++i) streams[b * stride + i] = values[i * width + b];
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(JoinAny);
HWY_EXPORT(SplitAny);

void JoinByteStreams(const uint8_t* streams, size_t stride, size_t width, size_t count, uint8_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(JoinAny)(streams, stride, width, count, out);
}

void SplitByteStreams(const uint8_t* values, size_t width, size_t count, size_t stride, uint8_t* streams) noexcept {
  HWY_DYNAMIC_DISPATCH(SplitAny)(values, width, count, stride, streams);
}

}  // namespace calve::simd
#endif
