#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// Lowers `min` and raises `max` to the smallest and largest of `count` values. T: int32_t, int64_t, uint32_t,
/// uint64_t, float, double; of the last two NaNs are left out. Returns the number of NaNs.
template <typename T>
size_t MinMax(const T* values, size_t count, T* min, T* max) noexcept;

}  // namespace calve::simd
