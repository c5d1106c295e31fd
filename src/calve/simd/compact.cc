#include "calve/simd/compact.h"

#include "calve/simd/targets.h"

#include <array>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/compact.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// 64 values at a time: all of them in one copy, few of them one by one, others in vectors.

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

constexpr int kFew = 8;

/// `count` bits (1 to 64) from bit `at` on; the others are 0.
HWY_INLINE uint64_t LoadBits(const uint8_t* bits, size_t at, size_t count) {
  const size_t shift = at % 8, bytes = (shift + count + 7) / 8;
  uint64_t word = 0;
  std::memcpy(&word, bits + at / 8, bytes < 8 ? bytes : 8);
  word >>= shift;
  if (bytes == 9) word |= uint64_t{bits[at / 8 + 8]} << (64 - shift);
  return count == 64 ? word : word & ((uint64_t{1} << count) - 1);
}

struct Bytes16 {
  uint64_t words[2];
};

template <typename T>
HWY_INLINE uint8_t* CopySet(const uint8_t* values, uint64_t set, uint8_t* out) {
  for (; set != 0; set &= set - 1, out += sizeof(T)) {
    std::memcpy(out, values + static_cast<size_t>(std::countr_zero(set)) * sizeof(T), sizeof(T));
  }
  return out;
}

#if CALVE_HAS_AVX512

HWY_INLINE uint8_t* CopyMany(const uint8_t* values, uint64_t set, uint8_t* out, uint32_t) {
  for (int i = 0; i < 64; i += 16, set >>= 16) {
    const auto mask = static_cast<__mmask16>(set);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(mask, _mm512_loadu_si512(values + i * 4)));
    out += 4 * std::popcount(static_cast<uint32_t>(mask));
  }
  return out;
}
HWY_INLINE uint8_t* CopyMany(const uint8_t* values, uint64_t set, uint8_t* out, uint64_t) {
  for (int i = 0; i < 64; i += 8, set >>= 8) {
    const auto mask = static_cast<__mmask8>(set);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi64(mask, _mm512_loadu_si512(values + i * 8)));
    out += 8 * std::popcount(static_cast<uint32_t>(mask));
  }
  return out;
}

#elif CALVE_HAS_AVX2

/// For each mask of eight values, those that are set, together.
constexpr std::array<std::array<uint8_t, 8>, 256> MakePermutes() {
  std::array<std::array<uint8_t, 8>, 256> permutes{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    size_t next = 0;
    for (unsigned i = 0; i < 8; ++i) {
      if ((mask >> i & 1) != 0) permutes[mask][next++] = static_cast<uint8_t>(i);
    }
  }
  return permutes;
}

constexpr auto kPermutes = MakePermutes();

HWY_INLINE void CompactEight(const uint8_t* values, uint32_t mask, uint8_t* out) {
  const __m256i order = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kPermutes[mask].data())));
  const __m256i loaded = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permutevar8x32_epi32(loaded, order));
}

HWY_INLINE uint8_t* CopyMany(const uint8_t* values, uint64_t set, uint8_t* out, uint32_t) {
  for (int i = 0; i < 64; i += 8, set >>= 8) {
    CompactEight(values + i * 4, set & 0xff, out);
    out += 4 * std::popcount(static_cast<uint32_t>(set & 0xff));
  }
  return out;
}
HWY_INLINE uint8_t* CopyMany(const uint8_t* values, uint64_t set, uint8_t* out, uint64_t) {
  for (int i = 0; i < 64; i += 4, set >>= 4) {
    // Two bits a value.
    CompactEight(values + i * 8, static_cast<uint32_t>(_pdep_u32(set & 0xf, 0x55)) * 3, out);
    out += 8 * std::popcount(static_cast<uint32_t>(set & 0xf));
  }
  return out;
}

#endif

template <typename T>
HWY_INLINE uint8_t* CopyMany(const uint8_t* values, uint64_t set, uint8_t* out, T) {
  return CopySet<T>(values, set, out);
}

template <typename T>
uint8_t* CompactAs(const uint8_t* values, const uint8_t* bits, size_t at, size_t count, uint8_t* out) {
  for (; count >= 64; count -= 64, at += 64, values += 64 * sizeof(T)) {
    const uint64_t set = LoadBits(bits, at, 64);
    if (set == ~uint64_t{0}) {
      std::memcpy(out, values, 64 * sizeof(T));
      out += 64 * sizeof(T);
    } else if (std::popcount(set) <= kFew) {
      out = CopySet<T>(values, set, out);
    } else {
      out = CopyMany(values, set, out, T{});
    }
  }
  return count == 0 ? out : CopySet<T>(values, LoadBits(bits, at, count), out);
}

uint8_t* CompactBytes(const uint8_t* values, size_t width, const uint8_t* bits, size_t at, size_t count, uint8_t* out) {
  for (size_t done = 0; done < count; done += 64) {
    uint64_t set = LoadBits(bits, at + done, count - done < 64 ? count - done : 64);
    for (; set != 0; set &= set - 1, out += width) {
      std::memcpy(out, values + (done + static_cast<size_t>(std::countr_zero(set))) * width, width);
    }
  }
  return out;
}

uint8_t* CompactValues(const uint8_t* values, size_t width, const uint8_t* bits, size_t at, size_t count,
                       uint8_t* out) {
  switch (width) {
    case 1:
      return CompactAs<uint8_t>(values, bits, at, count, out);
    case 2:
      return CompactAs<uint16_t>(values, bits, at, count, out);
    case 4:
      return CompactAs<uint32_t>(values, bits, at, count, out);
    case 8:
      return CompactAs<uint64_t>(values, bits, at, count, out);
    case 16:
      return CompactAs<Bytes16>(values, bits, at, count, out);
    default:
      return CompactBytes(values, width, bits, at, count, out);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(CompactValues);

size_t Compact(const uint8_t* values, size_t width, const uint8_t* bits, size_t bit_offset, size_t count,
               uint8_t* out) noexcept {
  const uint8_t* end = HWY_DYNAMIC_DISPATCH(CompactValues)(values, width, bits, bit_offset, count, out);
  return static_cast<size_t>(end - out) / width;
}

}  // namespace calve::simd
#endif
