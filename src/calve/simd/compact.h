#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// Copies the values of `width` bytes whose bit in `bits` (from `bit_offset` on, LSB first) is set, of `count` in all,
/// together to `out`. Returns how many they are. Behind them kCompactSlackBytes of `out` may be written; of the bits
/// and values no byte behind the last is read.
size_t Compact(const uint8_t* values, size_t width, const uint8_t* bits, size_t bit_offset, size_t count,
               uint8_t* out) noexcept;
inline constexpr size_t kCompactSlackBytes = 64;

}  // namespace calve::simd
