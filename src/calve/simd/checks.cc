#include "calve/simd/checks.h"

#include "calve/simd/targets.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/checks.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Where no value is negative a difference is negative only when a value is less than the one before; so the sign bits
/// of all values and all differences tell.
template <typename T>
bool OffsetsOf(const T* values, size_t count) {
  if (count == 0) return true;
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  auto signs = hn::Zero(d), more = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * lanes + 1 <= count; i += 2 * lanes) {
    const auto first = hn::LoadU(d, values + i), second = hn::LoadU(d, values + i + lanes);
    const auto after_first = hn::LoadU(d, values + i + 1), after_second = hn::LoadU(d, values + i + lanes + 1);
    signs = hn::Or(signs, hn::Or(first, hn::Sub(after_first, first)));
    more = hn::Or(more, hn::Or(second, hn::Sub(after_second, second)));
  }
  if (!hn::AllFalse(d, hn::Lt(hn::Or(signs, more), hn::Zero(d)))) return false;
  bool in_order = values[i] >= 0;
  for (; i + 1 < count; ++i) in_order &= values[i] <= values[i + 1];
  return in_order;
}

bool Offsets32(const int32_t* values, size_t count) { return OffsetsOf(values, count); }
bool Offsets64(const int64_t* values, size_t count) { return OffsetsOf(values, count); }

bool Ascii(const uint8_t* bytes, size_t count) {
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), e = hn::Zero(d), f = hn::Zero(d);
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = hn::Or(a, hn::LoadU(d, bytes + i));
    b = hn::Or(b, hn::LoadU(d, bytes + i + lanes));
    e = hn::Or(e, hn::LoadU(d, bytes + i + 2 * lanes));
    f = hn::Or(f, hn::LoadU(d, bytes + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) a = hn::Or(a, hn::LoadU(d, bytes + i));
  uint8_t rest = 0;
  for (; i < count; ++i) rest |= bytes[i];
  const auto all = hn::Or(hn::Or(a, b), hn::Or(e, f));
  return rest < 0x80 && hn::AllFalse(d, hn::Ne(hn::And(all, hn::Set(d, uint8_t{0x80})), hn::Zero(d)));
}

template <typename T>
uint32_t Largest(const T* values, size_t count) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  auto largest = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) largest = hn::Max(largest, hn::LoadU(d, values + i));
  HWY_ALIGN T each[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(largest, d, each);
  T result = *std::max_element(each, each + lanes);
  for (; i < count; ++i) result = std::max(result, values[i]);
  return result;
}

uint32_t Largest8(const uint8_t* values, size_t count) { return Largest(values, count); }
uint32_t Largest16(const uint16_t* values, size_t count) { return Largest(values, count); }
uint32_t Largest32(const uint32_t* values, size_t count) { return Largest(values, count); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(Offsets32);
HWY_EXPORT(Offsets64);
HWY_EXPORT(Ascii);
HWY_EXPORT(Largest8);
HWY_EXPORT(Largest16);
HWY_EXPORT(Largest32);

bool AreOffsets(const int32_t* values, size_t count) noexcept { return HWY_DYNAMIC_DISPATCH(Offsets32)(values, count); }
bool AreOffsets(const int64_t* values, size_t count) noexcept { return HWY_DYNAMIC_DISPATCH(Offsets64)(values, count); }
bool IsAscii(const uint8_t* bytes, size_t count) noexcept { return HWY_DYNAMIC_DISPATCH(Ascii)(bytes, count); }
uint32_t MaxOf(const uint8_t* values, size_t count) noexcept { return HWY_DYNAMIC_DISPATCH(Largest8)(values, count); }
uint32_t MaxOf(const uint16_t* values, size_t count) noexcept { return HWY_DYNAMIC_DISPATCH(Largest16)(values, count); }
uint32_t MaxOf(const uint32_t* values, size_t count) noexcept { return HWY_DYNAMIC_DISPATCH(Largest32)(values, count); }

}  // namespace calve::simd
#endif
