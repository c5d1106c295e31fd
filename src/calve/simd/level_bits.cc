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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(LevelBits);
HWY_EXPORT(PackBits);

void BitsAtLeast(const uint8_t* levels, size_t count, uint8_t threshold, uint64_t* bits) noexcept {
  HWY_DYNAMIC_DISPATCH(LevelBits)(levels, count, threshold, bits);
}

size_t CompressBits(const uint64_t* bits, const uint64_t* mask, size_t count, uint64_t* out) noexcept {
  return HWY_DYNAMIC_DISPATCH(PackBits)(bits, mask, count, out);
}

}  // namespace calve::simd
#endif
