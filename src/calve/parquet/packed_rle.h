#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/status.h>

#include <cstdint>

namespace calve::parquet {

/// Appends `count` values that are packed already, `bit_width` (1 to 8) bits each, LSB first, as runs and bit-packed
/// groups ("RLE = 3" in Encodings.md). No length goes before. Only the bytes that hold values are read; bits behind the
/// last may be anything.
///
/// A run is written where it is smaller than the packed values, what interrupting a packed part costs included.
arrow::Status EncodePackedRle(const uint8_t* packed, int64_t count, int bit_width, ByteBuffer* out);

/// Appends a run of `count` values of 1 to 8 bits.
arrow::Status AppendRleRun(int value, int64_t count, ByteBuffer* out);

}  // namespace calve::parquet
