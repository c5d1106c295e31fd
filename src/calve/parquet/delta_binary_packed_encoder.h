#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/status.h>

#include <cstdint>
#include <span>

namespace calve::parquet {

/// Appends little-endian values of type T as DELTA_BINARY_PACKED. T: int32_t or int64_t; the bytes may lie anywhere.
/// Arithmetic wraps around, so deltas never take more bits than values.
template <typename T>
arrow::Status EncodeDeltaBinaryPacked(std::span<const uint8_t> values, ByteBuffer* out);

extern template arrow::Status EncodeDeltaBinaryPacked<int32_t>(std::span<const uint8_t>, ByteBuffer*);
extern template arrow::Status EncodeDeltaBinaryPacked<int64_t>(std::span<const uint8_t>, ByteBuffer*);

}  // namespace calve::parquet
