#pragma once

#include "calve/compress/codec.h"

#include <arrow/buffer.h>
#include <arrow/status.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace calve::bench {

/// What of a page's body is compressed.
struct CompressedPage {
  Codec codec;
  std::span<const uint8_t> bytes;
  size_t size_bytes;  ///< decompressed
};

/// Pages in memory, as the floors work on them.
struct FilePages {
  std::vector<std::shared_ptr<arrow::Buffer>> chunks;  ///< what the pages lie in
  std::vector<CompressedPage> pages;
  int64_t rows = 0;
};

/// Adds every page of the named top-level columns of a Parquet file; without names of all columns.
arrow::Status AddFile(const std::string& path, const std::vector<std::string>& columns, FilePages* out);

/// Bytes that a floor copies at a time: source and destination stay in the second-level cache.
size_t CopyPieceBytes();
/// Copies `size_bytes` from one piece of memory to the other, again and again; both are CopyPieceBytes() long.
void CopyBytes(int64_t size_bytes, std::span<const uint8_t> from, std::span<uint8_t> to);

}  // namespace calve::bench
