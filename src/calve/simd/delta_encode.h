#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

constexpr size_t kDeltaBlock = 128;     ///< deltas of a block
constexpr size_t kDeltaMiniblock = 32;  ///< deltas of a miniblock
constexpr size_t kDeltaMiniblocks = kDeltaBlock / kDeltaMiniblock;

/// Turns the `count` <= kDeltaBlock values at values[1] into what lies above the least of their differences:
/// out[i] = values[i + 1] - values[i] - least, and 0 from `count` on. `bits[m]` gets all bits that are set in miniblock
/// m. Arithmetic wraps around; differences compare as signed numbers. Returns the least, 0 when there are no values.
int32_t SubtractNeighbours(const uint32_t* values, size_t count, uint32_t* out, uint32_t* bits) noexcept;
int64_t SubtractNeighbours(const uint64_t* values, size_t count, uint64_t* out, uint64_t* bits) noexcept;

}  // namespace calve::simd
