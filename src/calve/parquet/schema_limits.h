#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace calve::parquet {

/// The deepest schema that is read. Keeps every level in a byte, with room to spare.
constexpr int kMaxSchemaDepth = 100;

/// What a name takes in the path of a column.
inline size_t PathBytes(size_t name_size) { return sizeof(std::string) + name_size; }

/// What the paths of all columns may take, whose elements' names take `name_bytes`: every column has a copy of the
/// names above it, so that a few long names over many columns would take far more than the file.
inline size_t MostPathBytes(size_t name_bytes) {
  constexpr size_t kLeastPathBytes = 64 << 20, kPathBytesPerNameByte = 64;
  return std::max(kLeastPathBytes, kPathBytesPerNameByte * name_bytes);
}

}  // namespace calve::parquet
