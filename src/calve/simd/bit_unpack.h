#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace calve::simd {

/// Bytes that `count` packed values of `width` bits take.
constexpr size_t PackedBytes(size_t count, int width) { return (count * static_cast<size_t>(width) + 7) / 8; }

/// Unpacks `count` values of `width` bits each, LSB first, from the front of `in` to `out[count]`. `in` holds at least
/// PackedBytes(count, width) bytes, and nothing outside it is read. What lies behind those bytes is of no consequence,
/// but where sixteen more may be read no value takes a detour. 0 <= width <= 32.
void Unpack(std::span<const uint8_t> in, int width, size_t count, uint32_t* out) noexcept;
/// The same for 0 <= width <= 64.
void Unpack(std::span<const uint8_t> in, int width, size_t count, uint64_t* out) noexcept;
/// The same for 0 <= width <= 8: levels.
void Unpack(std::span<const uint8_t> in, int width, size_t count, uint8_t* out) noexcept;

}  // namespace calve::simd
