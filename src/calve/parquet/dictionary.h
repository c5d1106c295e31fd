#pragma once

#include "calve/parquet/binary_views.h"
#include "calve/parquet/leaf_layout.h"

#include <arrow/array/data.h>
#include <arrow/buffer.h>

#include <cstdint>
#include <memory>
#include <span>

namespace calve::parquet {

/// The values that a chunk's dictionary-encoded pages refer to, in the form that the column's values are held in.
/// Behind the bytes of every buffer kOvercopyBytes may be read. Immutable.
struct Dictionary {
  int64_t count = 0;
  std::shared_ptr<arrow::Buffer> fixed;           ///< count * width bytes, of a column of fixed width
  std::shared_ptr<arrow::Buffer> offsets, bytes;  ///< of byte arrays: count + 1 int32, and what lies between them
  std::shared_ptr<arrow::Buffer> views;  ///< of byte arrays, where the column's are held so: BinaryView, in `bytes`
  int64_t largest_bytes = 0;             ///< the longest byte array
  bool same_lengths = false;             ///< all byte arrays are as long, and there are some

  const int32_t* ends() const { return reinterpret_cast<const int32_t*>(offsets->data()); }
  /// As Arrow has it, of `type`.
  std::shared_ptr<arrow::ArrayData> AsArray(const std::shared_ptr<arrow::DataType>& type) const;
};

/// Decodes a dictionary page's PLAIN values, and converts them. Invalid when they do not fit the bytes.
Result<std::shared_ptr<const Dictionary>> MakeDictionary(const LeafLayout& layout, int64_t count,
                                                         std::span<const uint8_t> bytes, arrow::MemoryPool* pool);

}  // namespace calve::parquet
