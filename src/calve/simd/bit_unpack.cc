#include "calve/simd/bit_unpack.h"

#include "calve/simd/targets.h"

#include <array>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/bit_unpack.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Two ways. Blocks of 32 values, which begin and end at a byte for any width: every value by a load, a shift and a mask
// that the compiler knows. With AVX2, up to 25 bits: eight values at a time, which take `width` bytes. The first four
// lie at the start of a 16-byte load, the other four, that begin at bit 4 * width, of another; a byte shuffle puts the
// four bytes in which a value begins into its lane, where it is shifted down by what is left of its first byte. With
// AVX-512, up to 8 bits: sixteen values from one load, the same way.

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

constexpr size_t kBlock = 32;

/// Value `i` of a block of 32, which takes exactly 4 * kWidth bytes. Eight bytes are loaded that lie inside the block:
/// those that start with the value's first byte, or the last eight.
template <int kWidth>
HWY_INLINE uint64_t ValueOfBlock(const uint8_t* in, size_t i) {
  constexpr size_t kBytes = 4 * kWidth;
  const size_t bit = i * kWidth;
  size_t byte = bit / 8;
  if (byte + 8 > kBytes) byte = kBytes - 8;
  const size_t shift = bit - byte * 8;
  uint64_t word;
  std::memcpy(&word, in + byte, sizeof(word));
  uint64_t value = word >> shift;
  if constexpr (kWidth > 57) {
    if (shift + kWidth > 64) value |= static_cast<uint64_t>(in[byte + 8]) << (64 - shift);
  }
  constexpr uint64_t kMask = kWidth == 64 ? ~uint64_t{0} : (uint64_t{1} << (kWidth % 64)) - 1;
  return value & kMask;
}

template <typename T, int kWidth>
void UnpackBlock(const uint8_t* in, T* out) {
  if constexpr (kWidth == 0) {
    std::memset(out, 0, kBlock * sizeof(T));
  } else if constexpr (kWidth == 1) {
    uint32_t word;
    std::memcpy(&word, in, sizeof(word));
    for (size_t i = 0; i < kBlock; ++i) out[i] = static_cast<T>(word >> i & 1);
  } else {
    for (size_t i = 0; i < kBlock; ++i) out[i] = static_cast<T>(ValueOfBlock<kWidth>(in, i));
  }
}

template <typename T>
using BlockFunction = void (*)(const uint8_t*, T*);

template <typename T, int... kWidths>
constexpr std::array<BlockFunction<T>, sizeof...(kWidths)> Blocks(std::integer_sequence<int, kWidths...>) {
  return {&UnpackBlock<T, kWidths>...};
}

template <typename T, int kMaxWidth>
void UnpackBlocks(const uint8_t* in, int width, size_t count, T* out) {
  static constexpr auto kBlocks = Blocks<T>(std::make_integer_sequence<int, kMaxWidth + 1>());
  const BlockFunction<T> unpack = kBlocks[width];
  const size_t block_bytes = PackedBytes(kBlock, width);
  for (; count >= kBlock; count -= kBlock, in += block_bytes, out += kBlock) unpack(in, out);
  if (count == 0) return;
  if (width == 0) {
    std::memset(out, 0, count * sizeof(T));
    return;
  }
  uint8_t padded[4 * kMaxWidth] = {};
  std::memcpy(padded, in, PackedBytes(count, width));
  T values[kBlock];
  unpack(padded, values);
  std::memcpy(out, values, count * sizeof(T));
}

#if CALVE_HAS_AVX2

constexpr int kMaxShuffledWidth = 25;

struct alignas(32) Shuffle {
  uint8_t bytes[32];
  uint32_t shifts[8];
};

constexpr std::array<Shuffle, kMaxShuffledWidth + 1> MakeShuffles() {
  std::array<Shuffle, kMaxShuffledWidth + 1> shuffles{};
  for (int width = 1; width <= kMaxShuffledWidth; ++width) {
    for (int i = 0; i < 8; ++i) {
      const int lane_bit = i < 4 ? 0 : 4 * width % 8;
      const int bit = lane_bit + i % 4 * width;
      for (int b = 0; b < 4; ++b) {
        const int byte = bit / 8 + b;
        // Past the sixteen bytes there is nothing that the value needs.
        shuffles[width].bytes[4 * i + b] = static_cast<uint8_t>(byte < 16 ? byte : 0x80);
      }
      shuffles[width].shifts[i] = static_cast<uint32_t>(bit % 8);
    }
  }
  return shuffles;
}

constexpr auto kShuffles = MakeShuffles();

/// Unpacks groups of eight while a group's two loads lie in `left` bytes; returns how many groups.
template <typename Store>
HWY_INLINE size_t UnpackGroups(const uint8_t* in, int width, size_t groups, size_t left, const Store& store) {
  const size_t step = static_cast<size_t>(width), half = step / 2;
  const Shuffle& shuffle = kShuffles[step];
  const __m256i bytes = _mm256_load_si256(reinterpret_cast<const __m256i*>(shuffle.bytes));
  const __m256i shifts = _mm256_load_si256(reinterpret_cast<const __m256i*>(shuffle.shifts));
  const __m256i mask = _mm256_set1_epi32(static_cast<int>((uint32_t{1} << width) - 1));
  const size_t most = left < half + 16 ? 0 : (left - half - 16) / step + 1;
  if (groups > most) groups = most;
  for (size_t group = 0; group < groups; ++group, in += step) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + half));
    const __m256i words = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), bytes);
    store(group * 8, _mm256_and_si256(_mm256_srlv_epi32(words, shifts), mask));
  }
  return groups;
}

/// The same for all values: what the loads would reach past is copied first.
template <typename T, typename Store>
HWY_INLINE void UnpackShuffled(const uint8_t* in, size_t readable, int width, size_t count, T* out,
                               const Store& store) {
  const size_t step = static_cast<size_t>(width);
  const size_t whole =
      UnpackGroups(in, width, count / 8, readable, [&](size_t at, __m256i values) { store(out + at, values); });
  in += whole * step;
  out += whole * 8;
  count -= whole * 8;
  if (count == 0) return;
  // No more than half + 15 bytes are left, of groups that are not whole or whose loads are too long: 128 values at
  // most.
  uint8_t padded[64] = {};
  std::memcpy(padded, in, PackedBytes(count, width));
  T last[128];
  UnpackGroups(padded, width, (count + 7) / 8, sizeof(padded),
               [&](size_t at, __m256i values) { store(last + at, values); });
  std::memcpy(out, last, count * sizeof(T));
}

#if CALVE_HAS_AVX512

constexpr int kMaxNarrowWidth = 8;

struct alignas(64) NarrowShuffle {
  uint8_t bytes[64];
  uint32_t shifts[16];
};

constexpr std::array<NarrowShuffle, kMaxNarrowWidth + 1> MakeNarrowShuffles() {
  std::array<NarrowShuffle, kMaxNarrowWidth + 1> shuffles{};
  for (int width = 1; width <= kMaxNarrowWidth; ++width) {
    for (int i = 0; i < 16; ++i) {
      const int bit = i * width;
      for (int b = 0; b < 4; ++b) {
        shuffles[width].bytes[4 * i + b] = static_cast<uint8_t>(bit / 8 + b < 16 ? bit / 8 + b : 0x80);
      }
      shuffles[width].shifts[i] = static_cast<uint32_t>(bit % 8);
    }
  }
  return shuffles;
}

constexpr auto kNarrowShuffles = MakeNarrowShuffles();

/// Of up to 8 bits: sixteen values at a time lie in one load. Stops before one that would not lie in `readable` bytes;
/// returns how many values there were.
size_t UnpackNarrow(const uint8_t* in, size_t readable, int width, size_t count, uint32_t* out) {
  const size_t step = static_cast<size_t>(width) * 2;
  const NarrowShuffle& shuffle = kNarrowShuffles[static_cast<size_t>(width)];
  const __m512i bytes = _mm512_load_si512(shuffle.bytes), shifts = _mm512_load_si512(shuffle.shifts);
  const __m512i mask = _mm512_set1_epi32(static_cast<int>((uint32_t{1} << width) - 1));
  const size_t most = readable < 16 ? 0 : (readable - 16) / step + 1;
  const size_t groups = count / 16 < most ? count / 16 : most;
  for (size_t group = 0; group < groups; ++group, in += step) {
    const __m512i packed = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
    const __m512i words = _mm512_shuffle_epi8(packed, bytes);
    _mm512_storeu_si512(out + group * 16, _mm512_and_si512(_mm512_srlv_epi32(words, shifts), mask));
  }
  return groups * 16;
}

#endif

void Unpack32(const uint8_t* in, size_t readable, int width, size_t count, uint32_t* out) {
  if (width < 1 || width > kMaxShuffledWidth) return UnpackBlocks<uint32_t, 32>(in, width, count, out);
#if CALVE_HAS_AVX512
  if (width <= kMaxNarrowWidth) {
    const size_t done = UnpackNarrow(in, readable, width, count, out), bytes = PackedBytes(done, width);
    in += bytes;
    readable -= bytes;
    count -= done;
    out += done;
    if (count == 0) return;
  }
#endif
  UnpackShuffled(in, readable, width, count, out,
                 [](uint32_t* to, __m256i values) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), values); });
}

void Unpack64(const uint8_t* in, size_t readable, int width, size_t count, uint64_t* out) {
  if (width < 1 || width > kMaxShuffledWidth) return UnpackBlocks<uint64_t, 64>(in, width, count, out);
  UnpackShuffled(in, readable, width, count, out, [](uint64_t* to, __m256i values) {
#if CALVE_HAS_AVX512
    _mm512_storeu_si512(to, _mm512_cvtepu32_epi64(values));
#else
    auto* words = reinterpret_cast<__m256i*>(to);
    _mm256_storeu_si256(words, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(values)));
    _mm256_storeu_si256(words + 1, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(values, 1)));
#endif
  });
}

/// Levels: eight values of `width` bits become eight bytes by one deposit.
void Unpack8(const uint8_t* in, size_t readable, int width, size_t count, uint8_t* out) {
  if (width < 1 || width > 8) return UnpackBlocks<uint8_t, 8>(in, width, count, out);
  const size_t step = static_cast<size_t>(width);
  const uint64_t mask = 0x0101010101010101 * ((uint64_t{1} << width) - 1);
  for (; count >= 8 && readable >= 8; count -= 8, readable -= step, in += step, out += 8) {
    uint64_t word;
    std::memcpy(&word, in, sizeof(word));
    word = _pdep_u64(word, mask);
    std::memcpy(out, &word, sizeof(word));
  }
  if (count == 0) return;
  // Fewer than eight bytes, or fewer than eight values, are left.
  uint8_t padded[24] = {};
  std::memcpy(padded, in, PackedBytes(count, width));
  uint8_t last[72];
  for (size_t i = 0; i < count; i += 8) {
    uint64_t word;
    std::memcpy(&word, padded + i / 8 * step, sizeof(word));
    word = _pdep_u64(word, mask);
    std::memcpy(last + i, &word, sizeof(word));
  }
  std::memcpy(out, last, count);
}

#else

void Unpack32(const uint8_t* in, size_t /*readable*/, int width, size_t count, uint32_t* out) {
  UnpackBlocks<uint32_t, 32>(in, width, count, out);
}

void Unpack8(const uint8_t* in, size_t /*readable*/, int width, size_t count, uint8_t* out) {
  UnpackBlocks<uint8_t, 8>(in, width, count, out);
}

void Unpack64(const uint8_t* in, size_t /*readable*/, int width, size_t count, uint64_t* out) {
  UnpackBlocks<uint64_t, 64>(in, width, count, out);
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(Unpack32);
HWY_EXPORT(Unpack64);
HWY_EXPORT(Unpack8);

void Unpack(std::span<const uint8_t> in, int width, size_t count, uint32_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(Unpack32)(in.data(), in.size(), width, count, out);
}

void Unpack(std::span<const uint8_t> in, int width, size_t count, uint64_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(Unpack64)(in.data(), in.size(), width, count, out);
}

void Unpack(std::span<const uint8_t> in, int width, size_t count, uint8_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(Unpack8)(in.data(), in.size(), width, count, out);
}

}  // namespace calve::simd
#endif
