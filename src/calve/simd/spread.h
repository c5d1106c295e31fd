#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// Spreads `values_count` values of `width` bytes, packed at the start of `data`, over `slots` slots, in place: slot i
/// gets the next value where bit `bit_offset + i` of `validity` is set, and zeros where it is not. `data` has room for
/// all slots, and `values_count` of the bits are set.
void Spread(uint8_t* data, size_t width, size_t values_count, size_t slots, const uint8_t* validity,
            size_t bit_offset) noexcept;

/// The same from `values`, where the values lie packed, to `out`. Of both no byte behind the last is touched.
void SpreadFrom(const uint8_t* values, size_t width, size_t values_count, size_t slots, const uint8_t* validity,
                size_t bit_offset, uint8_t* out) noexcept;

/// Spreads end offsets in the same way; a slot without a value gets the end of the one before it, the first one
/// `begin`.
void SpreadOffsets(int32_t* ends, size_t values_count, size_t slots, const uint8_t* validity, size_t bit_offset,
                   int32_t begin) noexcept;

}  // namespace calve::simd
