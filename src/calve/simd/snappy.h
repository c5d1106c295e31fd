#pragma once

#include <cstdint>
#include <span>

namespace calve::simd {

/// Decodes the elements of a raw snappy block, which follow its decompressed size, into exactly all of `out`. False
/// when they are malformed or hold more or less. Neither reads nor writes outside the spans.
bool DecodeSnappyElements(std::span<const uint8_t> in, std::span<uint8_t> out) noexcept;

}  // namespace calve::simd
