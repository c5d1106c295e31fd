#include "calve/simd/byte_stream_split.h"

namespace calve::simd {
namespace {

/// Blocks keep the part of `out` that all streams write to in the nearest cache.
constexpr size_t kBlock = 512;

template <size_t kWidth>
void Join(const uint8_t* streams, size_t stride, size_t count, uint8_t* out) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t b = 0; b < kWidth; ++b) out[i * kWidth + b] = streams[b * stride + i];
  }
}

}  // namespace

void JoinByteStreams(const uint8_t* streams, size_t stride, size_t width, size_t count, uint8_t* out) noexcept {
  if (width == 4) return Join<4>(streams, stride, count, out);
  if (width == 8) return Join<8>(streams, stride, count, out);
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t end = begin + kBlock < count ? begin + kBlock : count;
    for (size_t b = 0; b < width; ++b) {
      for (size_t i = begin; i < end; ++i) out[i * width + b] = streams[b * stride + i];
    }
  }
}

}  // namespace calve::simd
