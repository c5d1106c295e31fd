#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// Joins `count` values of `width` bytes: byte b of value i is `streams[b * stride + i]`. `out` has count * width
/// bytes.
void JoinByteStreams(const uint8_t* streams, size_t stride, size_t width, size_t count, uint8_t* out) noexcept;

}  // namespace calve::simd
