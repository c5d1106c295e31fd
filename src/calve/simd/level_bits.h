#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// Sets bit i of `bits` where levels[i] >= threshold, for i < count, LSB first; the last word's other bits are 0.
/// `bits` has room for whole 64-bit words.
void BitsAtLeast(const uint8_t* levels, size_t count, uint8_t threshold, uint64_t* bits) noexcept;

/// Packs the bits of `bits` that stand where `mask` is set together, LSB first, in `out` (room for whole words of
/// `count` bits). Returns how many they are. Bits of both behind `count` are 0.
size_t CompressBits(const uint64_t* bits, const uint64_t* mask, size_t count, uint64_t* out) noexcept;

}  // namespace calve::simd
