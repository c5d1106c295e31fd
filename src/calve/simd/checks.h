#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// True when the first value is not negative and none is less than the one before it.
bool AreOffsets(const int32_t* values, size_t count) noexcept;
bool AreOffsets(const int64_t* values, size_t count) noexcept;

/// True when no byte has its high bit set.
bool IsAscii(const uint8_t* bytes, size_t count) noexcept;

/// The largest value; 0 of none.
uint32_t MaxOf(const uint8_t* values, size_t count) noexcept;
uint32_t MaxOf(const uint16_t* values, size_t count) noexcept;
uint32_t MaxOf(const uint32_t* values, size_t count) noexcept;

}  // namespace calve::simd
