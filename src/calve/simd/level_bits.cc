#include "calve/simd/level_bits.h"

#include "calve/simd/targets.h"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/level_bits.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

#if CALVE_HAS_AVX2

HWY_INLINE uint64_t WordAtLeast(const uint8_t* levels, uint8_t threshold) {
  const __m256i bound = _mm256_set1_epi8(static_cast<char>(threshold));
  uint64_t word = 0;
  for (int half = 0; half < 2; ++half) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(levels + 32 * half));
    const __m256i reached = _mm256_cmpeq_epi8(_mm256_max_epu8(values, bound), values);
    word |= uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(reached))} << (32 * half);
  }
  return word;
}

HWY_INLINE uint64_t Extract(uint64_t bits, uint64_t mask) { return _pext_u64(bits, mask); }
HWY_INLINE uint64_t Deposit(uint64_t bits, uint64_t mask) { return _pdep_u64(bits, mask); }

#else

HWY_INLINE uint64_t WordAtLeast(const uint8_t* levels, uint8_t threshold) {
  uint64_t word = 0;
  for (int i = 0; i < 64; ++i) word |= uint64_t{levels[i] >= threshold} << i;
  return word;
}

HWY_INLINE uint64_t Extract(uint64_t bits, uint64_t mask) {
  uint64_t out = 0;
  for (int next = 0; mask != 0; mask &= mask - 1, ++next) {
    out |= (bits >> std::countr_zero(mask) & 1) << next;
  }
  return out;
}

HWY_INLINE uint64_t Deposit(uint64_t bits, uint64_t mask) {
  uint64_t out = 0;
  for (; mask != 0; mask &= mask - 1, bits >>= 1) out |= (mask & (~mask + 1)) * (bits & 1);
  return out;
}

#endif

void LevelBits(const uint8_t* levels, size_t count, uint8_t threshold, uint64_t* bits) {
  for (; count >= 64; count -= 64, levels += 64) *bits++ = WordAtLeast(levels, threshold);
  if (count == 0) return;
  uint8_t last[64] = {};
  std::memcpy(last, levels, count);
  *bits = WordAtLeast(last, threshold) & (~uint64_t{0} >> (64 - count));
}

size_t PackBits(const uint64_t* bits, const uint64_t* mask, size_t count, uint64_t* out) {
  uint64_t word = 0;
  size_t total = 0;
  for (size_t i = 0; i < (count + 63) / 64; ++i) {
    const auto added = static_cast<size_t>(std::popcount(mask[i]));
    const uint64_t extracted = Extract(bits[i], mask[i]);
    const size_t used = total % 64;
    word |= extracted << used;
    total += added;
    if (used + added >= 64) {
      *out++ = word;
      word = used == 0 ? 0 : extracted >> (64 - used);
    }
  }
  if (total % 64 != 0) *out = word;
  return total;
}

void SpreadBits(const uint64_t* bits, const uint64_t* mask, size_t count, bool others, uint64_t* out) {
  size_t next = 0;
  for (size_t i = 0; i < (count + 63) / 64; ++i) {
    const uint64_t inside = i < count / 64 ? ~uint64_t{0} : ~uint64_t{0} >> (64 - count % 64);
    const uint64_t filler = others ? ~mask[i] & inside : 0;
    const auto taken = static_cast<size_t>(std::popcount(mask[i]));
    const size_t used = next % 64;
    uint64_t source = 0;
    if (taken > 0) {
      source = bits[next / 64] >> used;
      if (used + taken > 64) source |= bits[next / 64 + 1] << (64 - used);
    }
    out[i] = Deposit(source, mask[i]) | filler;
    next += taken;
  }
}

int32_t RankBits(const uint64_t* bits, const uint64_t* mask, size_t words, int32_t* out) {
  int32_t before = 0;
  for (size_t i = 0; i < words; ++i) {
    const uint64_t word = bits[i];
    for (uint64_t left = mask[i]; left != 0; left &= left - 1) {
      const uint64_t in_front = (left & (~left + 1)) - 1;
      *out++ = before + std::popcount(word & in_front);
    }
    before += std::popcount(word);
  }
  return before;
}

/// Adds the planes of one word up: bit i of the number of planes with bit j set becomes bit j of digits[i].
HWY_INLINE void AddPlanes(const uint64_t* const* planes, size_t planes_count, size_t word, int width,
                          uint64_t* digits) {
  for (int b = 0; b < width; ++b) digits[b] = 0;
  for (size_t k = 0; k < planes_count; ++k) {
    uint64_t carry = planes[k][word];
    for (int b = 0; b < width; ++b) {
      const uint64_t sum = digits[b] ^ carry;
      carry &= digits[b];
      digits[b] = sum;
    }
  }
}

#if CALVE_HAS_AVX2

HWY_INLINE uint64_t EqualTo(const uint8_t* bytes, __m256i value) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32));
  return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, value))) |
         uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, value)))} << 32;
}

HWY_INLINE void UniformWord(const uint8_t* bytes, uint64_t* zeros, uint64_t* ones) {
  *zeros = EqualTo(bytes, _mm256_setzero_si256());
  *ones = EqualTo(bytes, _mm256_set1_epi8(-1));
}

#else

HWY_INLINE void UniformWord(const uint8_t* bytes, uint64_t* zeros, uint64_t* ones) {
  *zeros = *ones = 0;
  for (int i = 0; i < 64; ++i) {
    *zeros |= uint64_t{bytes[i] == 0x00} << i;
    *ones |= uint64_t{bytes[i] == 0xFF} << i;
  }
}

#endif

void FindUniform(const uint8_t* bytes, size_t count, uint64_t* zeros, uint64_t* ones) {
  for (; count >= 64; count -= 64, bytes += 64) UniformWord(bytes, zeros++, ones++);
  if (count == 0) return;
  uint8_t last[64] = {};
  std::memcpy(last, bytes, count);
  UniformWord(last, zeros, ones);
  *zeros &= ~uint64_t{0} >> (64 - count);
}

HWY_INLINE void StoreWord(uint64_t word, uint8_t* out) { std::memcpy(out, &word, sizeof(word)); }

void InterleavePlanes(const uint64_t* const* planes, size_t planes_count, int width, size_t count, uint8_t* out) {
  uint64_t digits[8];
  uint64_t every = 0;  // the first bit of each of eight levels
  for (int i = 0; i < 8; ++i) every |= uint64_t{1} << (i * width);
  for (size_t word = 0; word < (count + 63) / 64; ++word) {
    AddPlanes(planes, planes_count, word, width, digits);
    if (width == 2) {
      constexpr uint64_t kEven = 0x5555555555555555;
      StoreWord(Deposit(digits[0], kEven) | Deposit(digits[1], ~kEven), out);
      StoreWord(Deposit(digits[0] >> 32, kEven) | Deposit(digits[1] >> 32, ~kEven), out + 8);
      out += 16;
      continue;
    }
    for (int group = 0; group < 8; ++group, out += width) {
      uint64_t packed = 0;
      for (int b = 0; b < width; ++b) packed |= Deposit(digits[b] >> (8 * group) & 0xff, every << b);
      StoreWord(packed, out);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(LevelBits);
HWY_EXPORT(PackBits);
HWY_EXPORT(SpreadBits);
HWY_EXPORT(RankBits);
HWY_EXPORT(InterleavePlanes);
HWY_EXPORT(FindUniform);

void BitsAtLeast(const uint8_t* levels, size_t count, uint8_t threshold, uint64_t* bits) noexcept {
  HWY_DYNAMIC_DISPATCH(LevelBits)(levels, count, threshold, bits);
}

size_t CompressBits(const uint64_t* bits, const uint64_t* mask, size_t count, uint64_t* out) noexcept {
  return HWY_DYNAMIC_DISPATCH(PackBits)(bits, mask, count, out);
}

void ExpandBits(const uint64_t* bits, const uint64_t* mask, size_t count, bool others, uint64_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(SpreadBits)(bits, mask, count, others, out);
}

int32_t CountBitsBefore(const uint64_t* bits, const uint64_t* mask, size_t words, int32_t* out) noexcept {
  return HWY_DYNAMIC_DISPATCH(RankBits)(bits, mask, words, out);
}

void UniformBytes(const uint8_t* bytes, size_t count, uint64_t* zeros, uint64_t* ones) noexcept {
  HWY_DYNAMIC_DISPATCH(FindUniform)(bytes, count, zeros, ones);
}

void PackLevels(const uint64_t* const* planes, size_t planes_count, int bit_width, size_t count,
                uint8_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(InterleavePlanes)(planes, planes_count, bit_width, count, out);
}

}  // namespace calve::simd
#endif
