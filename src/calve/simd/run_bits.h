#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// Sets bit i of `bits` where values[i] == values[i + 1], for i + 1 < count, LSB first; the last word's other bits are
/// 0. `bits` has room for whole 64-bit words of `count` bits.
void EqualToNext(const uint32_t* values, size_t count, uint64_t* bits) noexcept;

}  // namespace calve::simd
