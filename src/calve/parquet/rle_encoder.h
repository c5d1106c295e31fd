#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/status.h>

#include <cstdint>
#include <span>

namespace calve::parquet {

/// Appends `values`, each below 2^bit_width, as runs and bit-packed groups. `bit_width` is 0 to 32. No length goes
/// before. T: uint32_t (dictionary ids).
template <typename T>
arrow::Status EncodeRle(std::span<const T> values, int bit_width, ByteBuffer* out);

extern template arrow::Status EncodeRle(std::span<const uint32_t>, int, ByteBuffer*);

}  // namespace calve::parquet
