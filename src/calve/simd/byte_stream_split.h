#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// Joins `count` values of `width` bytes: byte b of value i is `streams[b * stride + i]`. `out` has count * width
/// bytes.
void JoinByteStreams(const uint8_t* streams, size_t stride, size_t width, size_t count, uint8_t* out) noexcept;

/// The reverse: `streams[b * stride + i]` becomes byte b of value i. `values` has count * width bytes.
void SplitByteStreams(const uint8_t* values, size_t width, size_t count, size_t stride, uint8_t* streams) noexcept;

}  // namespace calve::simd
