#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <span>
#include <vector>

namespace calve::shuffle {

/// Whether the form of ShuffleCodec::kZstdOffsetsAsLengths is defined for every column: only 32-bit offsets of strings,
/// binary, lists and maps, and no dictionaries.
bool CanStoreOffsetsAsLengths(const arrow::Schema& schema);

/// Turns n + 1 little-endian 32-bit offsets into [first, length_0 .. length_(n-1)], as four planes of n + 1 bytes each,
/// low bytes first. `offsets`: 4 * (n + 1) bytes. `scratch` is used and may grow.
void StoreOffsetsAsLengths(std::span<uint8_t> offsets, std::vector<uint8_t>* scratch);

}  // namespace calve::shuffle
