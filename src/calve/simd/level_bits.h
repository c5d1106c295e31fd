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

/// The reverse: puts the bits of `bits` where `mask` is set, in order; elsewhere the bits of `out` are `others`. Those
/// of `mask` behind `count` are 0, and so become those of `out`.
void ExpandBits(const uint64_t* bits, const uint64_t* mask, size_t count, bool others, uint64_t* out) noexcept;

/// How many bits of `bits` stand in front of each of those that are set in `mask`, in order, to `out`. Returns how many
/// there are in all `words` words.
int32_t CountBitsBefore(const uint64_t* bits, const uint64_t* mask, size_t words, int32_t* out) noexcept;

/// Sets bit i of `zeros` where bytes[i] is 0x00 and of `ones` where it is 0xFF, for i < count; the last words' other
/// bits are 0. Both have room for whole words.
void UniformBytes(const uint8_t* bytes, size_t count, uint64_t* zeros, uint64_t* ones) noexcept;

/// Packs levels, `bit_width` (1 to 8) bits each, LSB first, into `out`. Level i is the number of `planes` (at most
/// 2^bit_width - 1) in which bit i is set. Whole words are read, and kPackLevelsSlackBytes may be written behind the
/// last level of a whole group of 64.
void PackLevels(const uint64_t* const* planes, size_t planes_count, int bit_width, size_t count, uint8_t* out) noexcept;
inline constexpr size_t kPackLevelsSlackBytes = 8;

}  // namespace calve::simd
