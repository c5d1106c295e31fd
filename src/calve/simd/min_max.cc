#include "calve/simd/min_max.h"

#include "calve/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/min_max.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
constexpr bool kIsFloat = T(0.5) != T(0);

template <typename T>
HWY_INLINE size_t One(T value, T* min, T* max) {
  if (value < *min) *min = value;
  if (*max < value) *max = value;
  return value == value ? 0 : 1;
}

template <typename T>
size_t MinMaxOf(const T* values, size_t count, T* min, T* max) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0, numbers = 0, nans = 0;
  if (count >= 2 * lanes) {
    // NaNs take the place of the bound that is there. Two of each, so that they do not wait for each other.
    const auto first_low = hn::Set(d, *min), first_high = hn::Set(d, *max);
    auto low = first_low, other_low = first_low, high = first_high, other_high = first_high;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      const auto a = hn::LoadU(d, values + i), b = hn::LoadU(d, values + i + lanes);
      if constexpr (kIsFloat<T>) {
        const auto a_is_number = hn::Eq(a, a), b_is_number = hn::Eq(b, b);
        numbers += hn::CountTrue(d, a_is_number) + hn::CountTrue(d, b_is_number);
        low = hn::Min(low, hn::IfThenElse(a_is_number, a, first_low));
        high = hn::Max(high, hn::IfThenElse(a_is_number, a, first_high));
        other_low = hn::Min(other_low, hn::IfThenElse(b_is_number, b, first_low));
        other_high = hn::Max(other_high, hn::IfThenElse(b_is_number, b, first_high));
      } else {
        low = hn::Min(low, a);
        high = hn::Max(high, a);
        other_low = hn::Min(other_low, b);
        other_high = hn::Max(other_high, b);
      }
    }
    if constexpr (kIsFloat<T>) nans = i - numbers;
    HWY_ALIGN T lows[HWY_MAX_BYTES / sizeof(T)];
    HWY_ALIGN T highs[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(hn::Min(low, other_low), d, lows);
    hn::Store(hn::Max(high, other_high), d, highs);
    for (size_t lane = 0; lane < lanes; ++lane) {
      One(lows[lane], min, max);
      One(highs[lane], min, max);
    }
  }
  for (; i < count; ++i) nans += One(values[i], min, max);
  return nans;
}

size_t MinMaxInt32(const int32_t* values, size_t count, int32_t* min, int32_t* max) {
  return MinMaxOf(values, count, min, max);
}
size_t MinMaxInt64(const int64_t* values, size_t count, int64_t* min, int64_t* max) {
  return MinMaxOf(values, count, min, max);
}
size_t MinMaxUint32(const uint32_t* values, size_t count, uint32_t* min, uint32_t* max) {
  return MinMaxOf(values, count, min, max);
}
size_t MinMaxUint64(const uint64_t* values, size_t count, uint64_t* min, uint64_t* max) {
  return MinMaxOf(values, count, min, max);
}
size_t MinMaxFloat(const float* values, size_t count, float* min, float* max) {
  return MinMaxOf(values, count, min, max);
}
size_t MinMaxDouble(const double* values, size_t count, double* min, double* max) {
  return MinMaxOf(values, count, min, max);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(MinMaxInt32);
HWY_EXPORT(MinMaxInt64);
HWY_EXPORT(MinMaxUint32);
HWY_EXPORT(MinMaxUint64);
HWY_EXPORT(MinMaxFloat);
HWY_EXPORT(MinMaxDouble);

template <>
size_t MinMax(const int32_t* values, size_t count, int32_t* min, int32_t* max) noexcept {
  return HWY_DYNAMIC_DISPATCH(MinMaxInt32)(values, count, min, max);
}
template <>
size_t MinMax(const int64_t* values, size_t count, int64_t* min, int64_t* max) noexcept {
  return HWY_DYNAMIC_DISPATCH(MinMaxInt64)(values, count, min, max);
}
template <>
size_t MinMax(const uint32_t* values, size_t count, uint32_t* min, uint32_t* max) noexcept {
  return HWY_DYNAMIC_DISPATCH(MinMaxUint32)(values, count, min, max);
}
template <>
size_t MinMax(const uint64_t* values, size_t count, uint64_t* min, uint64_t* max) noexcept {
  return HWY_DYNAMIC_DISPATCH(MinMaxUint64)(values, count, min, max);
}
template <>
size_t MinMax(const float* values, size_t count, float* min, float* max) noexcept {
  return HWY_DYNAMIC_DISPATCH(MinMaxFloat)(values, count, min, max);
}
template <>
size_t MinMax(const double* values, size_t count, double* min, double* max) noexcept {
  return HWY_DYNAMIC_DISPATCH(MinMaxDouble)(values, count, min, max);
}

}  // namespace calve::simd
#endif
