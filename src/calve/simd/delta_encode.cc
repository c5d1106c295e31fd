#include "calve/simd/delta_encode.h"

#include "calve/simd/targets.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/delta_encode.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Signed>
Signed Subtract(const Signed* HWY_RESTRICT values, size_t count, Signed* HWY_RESTRICT out, Signed* HWY_RESTRICT bits) {
  using Unsigned = std::make_unsigned_t<Signed>;
  const hn::ScalableTag<Signed> d;
  const size_t lanes = hn::Lanes(d);
  auto least = hn::Set(d, std::numeric_limits<Signed>::max());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto delta = hn::Sub(hn::LoadU(d, values + i + 1), hn::LoadU(d, values + i));
    hn::StoreU(delta, d, out + i);
    least = hn::Min(least, delta);
  }
  Signed each[HWY_MAX_BYTES / sizeof(Signed)];
  hn::StoreU(least, d, each);
  Signed min = *std::min_element(each, each + lanes);
  for (; i < count; ++i) {
    out[i] = static_cast<Signed>(static_cast<Unsigned>(values[i + 1]) - static_cast<Unsigned>(values[i]));
    min = std::min(min, out[i]);
  }
  if (count == 0) min = 0;
  std::fill(out + count, out + kDeltaBlock, min);
  const auto subtrahend = hn::Set(d, min);
  for (size_t m = 0; m < kDeltaMiniblocks; ++m) {
    auto any = hn::Zero(d);
    for (size_t k = m * kDeltaMiniblock; k < (m + 1) * kDeltaMiniblock; k += lanes) {
      const auto above = hn::Sub(hn::LoadU(d, out + k), subtrahend);
      hn::StoreU(above, d, out + k);
      any = hn::Or(any, above);
    }
    hn::StoreU(any, d, each);
    bits[m] = 0;
    for (size_t lane = 0; lane < lanes; ++lane) bits[m] |= each[lane];
  }
  return min;
}

int32_t Subtract32(const int32_t* values, size_t count, int32_t* out, int32_t* bits) {
  return Subtract(values, count, out, bits);
}

int64_t Subtract64(const int64_t* values, size_t count, int64_t* out, int64_t* bits) {
  return Subtract(values, count, out, bits);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(Subtract32);
HWY_EXPORT(Subtract64);

int32_t SubtractNeighbours(const uint32_t* values, size_t count, uint32_t* out, uint32_t* bits) noexcept {
  return HWY_DYNAMIC_DISPATCH(Subtract32)(reinterpret_cast<const int32_t*>(values), count,
                                          reinterpret_cast<int32_t*>(out), reinterpret_cast<int32_t*>(bits));
}

int64_t SubtractNeighbours(const uint64_t* values, size_t count, uint64_t* out, uint64_t* bits) noexcept {
  return HWY_DYNAMIC_DISPATCH(Subtract64)(reinterpret_cast<const int64_t*>(values), count,
                                          reinterpret_cast<int64_t*>(out), reinterpret_cast<int64_t*>(bits));
}

}  // namespace calve::simd
#endif
