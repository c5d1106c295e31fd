#pragma once

#include "calve/parquet/chunk_bytes.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/read_plan.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace calve::parquet {

/// A page, decompressed. The spans are valid until the reader's next call.
struct Page {
  PageHeader header;
  int64_t offset = 0;                                             ///< of its header, in the file
  int64_t index = 0;                                              ///< in the chunk, dictionary page included
  std::span<const uint8_t> repetition_levels, definition_levels;  ///< v2 only
  std::span<const uint8_t> body;                                  ///< v1 and dictionary: everything; v2: the values

  int64_t num_values() const;  ///< of a data page
  Encoding encoding() const;   ///< of a data page
  std::string where() const;   ///< "page 3 at byte 4096"
};

/// Yields the dictionary page and the data pages of a column chunk.
///
/// Sizes are checked against the chunk, and counts against its num_values, before memory is taken for them; see
/// page_reader.cc for what a compressed page may claim to expand to.
class PageReader {
 public:
  PageReader(ChunkBytes bytes, const ChunkPlan& plan, bool verify_crc, arrow::MemoryPool* pool)
      : bytes_(std::move(bytes)), plan_(plan), verify_crc_(verify_crc), pool_(pool) {}

  /// The next page; null when all values of the chunk have been seen. Errors name the page.
  Result<const Page*> Next();

 private:
  Status ReadHeader();
  Status CheckHeader() const;
  Status ReadBody();
  Status ReadBodyV2(std::span<const uint8_t> raw);
  Result<std::span<const uint8_t>> DecompressBody(std::span<const uint8_t> raw, int64_t size);

  ChunkBytes bytes_;
  ChunkPlan plan_;
  bool verify_crc_;
  arrow::MemoryPool* pool_;
  Page page_;
  int64_t next_index_ = 0;
  int64_t values_seen_ = 0;
  std::shared_ptr<arrow::Buffer> decompressed_;
};

}  // namespace calve::parquet
