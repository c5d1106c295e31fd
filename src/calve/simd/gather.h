#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// Gathers `count` values of `width` bytes: out[i] = values[indices[i]]. Every index is in range.
void Gather(const uint8_t* values, size_t width, const uint32_t* indices, size_t count, uint8_t* out) noexcept;

/// The largest of `count` values, 0 of none.
uint32_t Largest(const uint32_t* values, size_t count) noexcept;
uint8_t Largest(const uint8_t* values, size_t count) noexcept;

/// Fills `count` values of `width` bytes with `value`.
void Repeat(const uint8_t* value, size_t width, size_t count, uint8_t* out) noexcept;

}  // namespace calve::simd
