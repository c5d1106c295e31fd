#include "calve/simd/run_bits.h"

#include "calve/simd/targets.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/run_bits.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Of 64 values, which another follows.
HWY_INLINE uint64_t EqualWord(const uint32_t* values) {
  const hn::CappedTag<uint32_t, 16> d;
  const size_t lanes = hn::Lanes(d);
  uint64_t word = 0;
  for (size_t i = 0; i < 64; i += lanes) {
    uint8_t mask[8] = {};
    hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, values + i), hn::LoadU(d, values + i + 1)), mask);
    uint64_t bits;
    std::memcpy(&bits, mask, sizeof(bits));
    word |= (bits & ((uint64_t{1} << lanes) - 1)) << i;
  }
  return word;
}

void EqualBits(const uint32_t* values, size_t count, uint64_t* bits) {
  size_t i = 0;
  for (; i + 64 < count; i += 64) *bits++ = EqualWord(values + i);
  if (i >= count) return;
  uint64_t word = 0;
  for (size_t j = i; j + 1 < count; ++j) word |= uint64_t{values[j] == values[j + 1]} << (j - i);
  *bits = word;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(EqualBits);

void EqualToNext(const uint32_t* values, size_t count, uint64_t* bits) noexcept {
  HWY_DYNAMIC_DISPATCH(EqualBits)(values, count, bits);
}

}  // namespace calve::simd
#endif
