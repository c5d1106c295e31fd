#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/status.h>

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace calve::parquet {

static_assert(std::endian::native == std::endian::little, "Parquet's values are little-endian");

/// Bytes that `values` take in PLAIN. `fixed`: FIXED_LEN_BYTE_ARRAY, which have no length before them.
template <typename T>
int64_t PlainBytes(std::span<const T> values, bool fixed) {
  return static_cast<int64_t>(values.size_bytes());
}
template <>
inline int64_t PlainBytes(std::span<const uint8_t> values, bool fixed) {
  return static_cast<int64_t>((values.size() + 7) / 8);
}
template <>
inline int64_t PlainBytes(std::span<const std::string_view> values, bool fixed) {
  int64_t bytes = fixed ? 0 : static_cast<int64_t>(values.size() * sizeof(uint32_t));
  for (std::string_view value : values) bytes += static_cast<int64_t>(value.size());
  return bytes;
}

/// Appends `values` in PLAIN. Byte arrays are at most 2^31 - 1 bytes long. Not for booleans, which are packed.
template <typename T>
arrow::Status AppendPlain(std::span<const T> values, bool fixed, ByteBuffer* out) {
  return out->Append(reinterpret_cast<const uint8_t*>(values.data()), static_cast<int64_t>(values.size_bytes()));
}
template <>
inline arrow::Status AppendPlain(std::span<const std::string_view> values, bool fixed, ByteBuffer* out) {
  ARROW_RETURN_NOT_OK(out->Reserve(PlainBytes(values, fixed)));
  for (std::string_view value : values) {
    const auto length = static_cast<uint32_t>(value.size());
    if (!fixed) out->UnsafeAppend(reinterpret_cast<const uint8_t*>(&length), sizeof(length));
    out->UnsafeAppend(reinterpret_cast<const uint8_t*>(value.data()), length);
  }
  return arrow::Status::OK();
}

}  // namespace calve::parquet
