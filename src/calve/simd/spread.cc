#include "calve/simd/spread.h"

#include "calve/simd/targets.h"

#include <array>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/spread.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// In place, all go from the back, so that no value is overwritten before it has moved: slot i holds at most value i.
// Where a vector is loaded that reaches past the values it is asked for, what lies there has moved already.

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE bool IsSet(const uint8_t* bits, size_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }

struct Bytes12 {
  uint8_t bytes[12];
};
struct Bytes16 {
  uint64_t words[2];
};

template <typename T>
void SpreadAs(uint8_t* data, size_t values_count, size_t slots, const uint8_t* validity, size_t bit_offset) {
  const T zero{};
  size_t next = values_count;
  for (size_t i = slots; i-- > next;) {
    if (IsSet(validity, bit_offset + i)) {
      std::memcpy(data + i * sizeof(T), data + --next * sizeof(T), sizeof(T));
    } else {
      std::memcpy(data + i * sizeof(T), &zero, sizeof(T));
    }
  }
}

void SpreadBytes(uint8_t* data, size_t width, size_t values_count, size_t slots, const uint8_t* validity,
                 size_t bit_offset) {
  size_t next = values_count;
  for (size_t i = slots; i-- > next;) {
    if (IsSet(validity, bit_offset + i)) {
      std::memmove(data + i * width, data + --next * width, width);
    } else {
      std::memset(data + i * width, 0, width);
    }
  }
}

#if CALVE_HAS_AVX2

/// Eight bits from bit `i` on; those at and behind `end` are 0.
HWY_INLINE uint32_t EightBits(const uint8_t* bits, size_t i, size_t end) {
  uint32_t word = bits[i / 8];
  if (i % 8 != 0 && i / 8 + 1 < (end + 7) / 8) word |= static_cast<uint32_t>(bits[i / 8 + 1]) << 8;
  return word >> (i % 8) & 0xff;
}

#endif

#if CALVE_HAS_AVX512

/// Eight values.
HWY_INLINE void ExpandEight(const uint8_t* in, uint32_t valid, uint8_t* out, uint64_t) {
  _mm512_storeu_si512(out, _mm512_maskz_expand_epi64(static_cast<__mmask8>(valid), _mm512_loadu_si512(in)));
}
HWY_INLINE void ExpandEight(const uint8_t* in, uint32_t valid, uint8_t* out, uint32_t) {
  const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_maskz_expand_epi32(static_cast<__mmask8>(valid), values));
}

#elif CALVE_HAS_AVX2

/// For each mask of eight slots, the value that each slot takes (any, where it takes none).
constexpr std::array<std::array<uint8_t, 8>, 256> MakePermutes() {
  std::array<std::array<uint8_t, 8>, 256> permutes{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    uint8_t next = 0;
    for (unsigned i = 0; i < 8; ++i) {
      permutes[mask][i] = next & 7;
      if ((mask >> i & 1) != 0) ++next;
    }
  }
  return permutes;
}

constexpr auto kPermutes = MakePermutes();

HWY_INLINE __m256i LaneMask(uint32_t valid) {
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(valid)), bits), bits);
}

HWY_INLINE __m256i Permute(uint32_t valid) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kPermutes[valid].data())));
}

HWY_INLINE void ExpandEight(const uint8_t* in, uint32_t valid, uint8_t* out, uint32_t) {
  const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
  const __m256i spread = _mm256_permutevar8x32_epi32(values, Permute(valid));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_and_si256(spread, LaneMask(valid)));
}
/// Two bits a slot.
HWY_INLINE uint32_t Doubled(uint32_t four) { return static_cast<uint32_t>(_pdep_u32(four, 0x55)) * 3; }
HWY_INLINE void ExpandEight(const uint8_t* in, uint32_t valid, uint8_t* out, uint64_t) {
  const uint32_t low = Doubled(valid & 15), high = Doubled(valid >> 4);
  const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
  const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 8 * std::popcount(valid & 15)));
  const __m256i back = _mm256_and_si256(_mm256_permutevar8x32_epi32(second, Permute(high)), LaneMask(high));
  const __m256i front = _mm256_and_si256(_mm256_permutevar8x32_epi32(first, Permute(low)), LaneMask(low));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 32), back);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), front);
}

#endif

#if CALVE_HAS_AVX2

/// Eight slots at a time. What is loaded lies inside `data`: no more than end - 8 values precede the eight slots.
template <typename T>
void SpreadEights(uint8_t* data, size_t values_count, size_t slots, const uint8_t* validity, size_t bit_offset) {
  size_t next = values_count, end = slots;
  while (end > next && end % 8 != 0) {
    const bool valid = IsSet(validity, bit_offset + --end);
    next -= valid ? 1 : 0;
    T value{};
    if (valid) std::memcpy(&value, data + next * sizeof(T), sizeof(T));
    std::memcpy(data + end * sizeof(T), &value, sizeof(T));
  }
  while (end > next) {
    end -= 8;
    const uint32_t valid = EightBits(validity, bit_offset + end, bit_offset + slots);
    next -= static_cast<size_t>(std::popcount(valid));
    ExpandEight(data + next * sizeof(T), valid, data + end * sizeof(T), T{});
  }
}

/// Spreads eight slots at a time while eight values can be loaded; returns how many slots, and how many values they
/// took.
template <typename T>
size_t SpreadEightsFrom(const uint8_t* values, size_t values_count, size_t slots, const uint8_t* validity,
                        size_t bit_offset, uint8_t* out, size_t* next) {
  size_t i = 0;
  for (; i + 8 <= slots && *next + 8 <= values_count; i += 8) {
    const uint32_t valid = EightBits(validity, bit_offset + i, bit_offset + slots);
    ExpandEight(values + *next * sizeof(T), valid, out + i * sizeof(T), T{});
    *next += static_cast<size_t>(std::popcount(valid));
  }
  return i;
}

#else

template <typename T>
void SpreadEights(uint8_t* data, size_t values_count, size_t slots, const uint8_t* validity, size_t bit_offset) {
  SpreadAs<T>(data, values_count, slots, validity, bit_offset);
}

template <typename T>
size_t SpreadEightsFrom(const uint8_t*, size_t, size_t, const uint8_t*, size_t, uint8_t*, size_t*) {
  return 0;
}

#endif

template <typename T>
void SpreadAsFrom(const uint8_t* values, size_t values_count, size_t slots, const uint8_t* validity, size_t bit_offset,
                  uint8_t* out) {
  size_t next = 0;
  for (size_t i = SpreadEightsFrom<T>(values, values_count, slots, validity, bit_offset, out, &next); i < slots; ++i) {
    T value{};
    if (IsSet(validity, bit_offset + i)) std::memcpy(&value, values + next++ * sizeof(T), sizeof(T));
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

void SpreadValuesFrom(const uint8_t* values, size_t width, size_t values_count, size_t slots, const uint8_t* validity,
                      size_t bit_offset, uint8_t* out) {
  if (width == 4) return SpreadAsFrom<uint32_t>(values, values_count, slots, validity, bit_offset, out);
  if (width == 8) return SpreadAsFrom<uint64_t>(values, values_count, slots, validity, bit_offset, out);
  for (size_t i = 0; i < slots; ++i) {
    const bool valid = IsSet(validity, bit_offset + i);
    if (valid) {
      std::memcpy(out + i * width, values, width);
      values += width;
    } else {
      std::memset(out + i * width, 0, width);
    }
  }
}

void SpreadValues(uint8_t* data, size_t width, size_t values_count, size_t slots, const uint8_t* validity,
                  size_t bit_offset) {
  switch (width) {
    case 0:
      return;
    case 1:
      return SpreadAs<uint8_t>(data, values_count, slots, validity, bit_offset);
    case 2:
      return SpreadAs<uint16_t>(data, values_count, slots, validity, bit_offset);
    case 4:
      return SpreadEights<uint32_t>(data, values_count, slots, validity, bit_offset);
    case 8:
      return SpreadEights<uint64_t>(data, values_count, slots, validity, bit_offset);
    case 12:
      return SpreadAs<Bytes12>(data, values_count, slots, validity, bit_offset);
    case 16:
      return SpreadAs<Bytes16>(data, values_count, slots, validity, bit_offset);
    default:
      return SpreadBytes(data, width, values_count, slots, validity, bit_offset);
  }
}

/// Slots from `end` down to `stop`, one by one; returns how many values precede them.
HWY_INLINE size_t SpreadEndsOneByOne(int32_t* ends, size_t next, size_t stop, size_t end, const uint8_t* validity,
                                     size_t bit_offset, int32_t begin) {
  for (size_t i = end; i > stop && i > next; --i) {
    // A slot without a value ends where the value before it ends.
    ends[i - 1] = next == 0 ? begin : ends[next - 1];
    next -= IsSet(validity, bit_offset + i - 1) ? 1 : 0;
  }
  return next;
}

#if CALVE_HAS_AVX2

/// For each mask of eight slots: how many values the slots up to each, itself included, take.
constexpr std::array<std::array<uint8_t, 8>, 256> MakeCounts() {
  std::array<std::array<uint8_t, 8>, 256> counts{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    uint8_t count = 0;
    for (unsigned i = 0; i < 8; ++i) counts[mask][i] = count += mask >> i & 1;
  }
  return counts;
}

constexpr auto kCounts = MakeCounts();

void SpreadEnds(int32_t* ends, size_t values_count, size_t slots, const uint8_t* validity, size_t bit_offset,
                int32_t begin) {
  size_t end = slots - slots % 8;
  size_t next = SpreadEndsOneByOne(ends, values_count, end, slots, validity, bit_offset, begin);
  // Eight slots take the ends of the value before them and of the next seven; a group that is full is only moved.
  for (; end > next && next > 8; end -= 8) {
    const uint32_t valid = EightBits(validity, bit_offset + end - 8, bit_offset + slots);
    next -= static_cast<size_t>(std::popcount(valid));
    const int32_t* const from = ends + next - (valid == 0xff ? 0 : 1);
    __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    if (valid != 0xff) {
      const __m128i counts = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kCounts[valid].data()));
      values = _mm256_permutevar8x32_epi32(values, _mm256_cvtepu8_epi32(counts));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(ends + end - 8), values);
  }
  SpreadEndsOneByOne(ends, next, 0, end, validity, bit_offset, begin);
}

#else

void SpreadEnds(int32_t* ends, size_t values_count, size_t slots, const uint8_t* validity, size_t bit_offset,
                int32_t begin) {
  SpreadEndsOneByOne(ends, values_count, 0, slots, validity, bit_offset, begin);
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(SpreadValues);
HWY_EXPORT(SpreadValuesFrom);
HWY_EXPORT(SpreadEnds);

void Spread(uint8_t* data, size_t width, size_t values_count, size_t slots, const uint8_t* validity,
            size_t bit_offset) noexcept {
  HWY_DYNAMIC_DISPATCH(SpreadValues)(data, width, values_count, slots, validity, bit_offset);
}

void SpreadFrom(const uint8_t* values, size_t width, size_t values_count, size_t slots, const uint8_t* validity,
                size_t bit_offset, uint8_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(SpreadValuesFrom)(values, width, values_count, slots, validity, bit_offset, out);
}

void SpreadOffsets(int32_t* ends, size_t values_count, size_t slots, const uint8_t* validity, size_t bit_offset,
                   int32_t begin) noexcept {
  HWY_DYNAMIC_DISPATCH(SpreadEnds)(ends, values_count, slots, validity, bit_offset, begin);
}

}  // namespace calve::simd
#endif
