#pragma once

#include "calve/ipc/column_rows.h"

#include <cstdint>
#include <span>

namespace calve::shuffle {

// Kernels that put values in another order. `sources` are consecutive rows, one source after another; `positions` says
// where each row goes, `rows` which row each place gets.

/// Values of `width` bytes.
void ScatterValues(ipc::Sources sources, size_t width, std::span<const uint32_t> positions, uint8_t* out);

/// How long texts are.
struct TextExtent {
  int64_t bytes = 0;    ///< all together
  int64_t longest = 0;  ///< one of them
};

/// Offsets from 0 of texts in their new order, positions.size() + 1 of them. What they are is undefined where the bytes
/// are more than an offset can say.
template <typename Offset>
TextExtent ScatterLengths(ipc::Sources sources, std::span<const uint32_t> positions, Offset* out);

/// The bytes of texts, in order. Up to 64 bytes behind the last are written over.
template <typename Offset>
void GatherText(ipc::Sources sources, std::span<const uint32_t> rows, const TextExtent& extent, uint8_t* out);

/// The bits that `rows` number; returns how many are set.
int64_t TakeBits(const uint8_t* bits, std::span<const uint32_t> rows, uint8_t* out);

}  // namespace calve::shuffle
