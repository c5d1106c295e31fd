#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// Gathers `count` values of `width` bytes out of `values_count`: out[i] = values[indices[i]]. Every index is in range.
/// Behind the values kGatherSlackBytes may be read.
void Gather(const uint8_t* values, size_t width, size_t values_count, const uint32_t* indices, size_t count,
            uint8_t* out) noexcept;
inline constexpr size_t kGatherSlackBytes = 64;

/// The largest of `count` values, 0 of none.
uint32_t Largest(const uint32_t* values, size_t count) noexcept;
uint8_t Largest(const uint8_t* values, size_t count) noexcept;

/// Fills `count` values of `width` bytes with `value`.
void Repeat(const uint8_t* value, size_t width, size_t count, uint8_t* out) noexcept;

}  // namespace calve::simd
