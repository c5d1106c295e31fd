#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/status.h>

#include <cstdint>
#include <span>

namespace calve::parquet {

/// Append the values of a page, given in PLAIN, as DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY. `width`: bytes of a
/// FIXED_LEN_BYTE_ARRAY, 0 for BYTE_ARRAY, which alone the first one is for. `plain` is well-formed.
arrow::Status EncodeDeltaLengthByteArray(std::span<const uint8_t> plain, int64_t count, ByteBuffer* out);
arrow::Status EncodeDeltaByteArray(std::span<const uint8_t> plain, int64_t width, int64_t count, ByteBuffer* out);

}  // namespace calve::parquet
