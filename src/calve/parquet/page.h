#pragma once

#include "calve/parquet/metadata.h"
#include "calve/parquet/page_budget.h"
#include "calve/parquet/read_counters.h"
#include "calve/parquet/read_plan.h"

#include "calve/base/status.h"

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace calve::parquet {

/// Which page, for messages: made into text only when there is one.
struct PagePlace {
  int64_t index = 0;   ///< in the chunk, dictionary page included
  int64_t offset = 0;  ///< of its header, in the file

  std::string text() const;  ///< "page 3 at byte 4096"
};

using calve::WithContext;
/// The status with the page in front of its message.
inline Status WithContext(const Status& status, const PagePlace& page) {
  return status.ok() ? status : calve::WithContext(status, page.text());
}

/// A page as it lies in the file.
struct RawPage {
  PageHeader header;
  int64_t offset = 0;                     ///< of its header, in the file
  int64_t index = 0;                      ///< in the chunk, dictionary page included
  int64_t ordinal = 0;                    ///< of an encrypted data page among the chunk's data pages
  std::span<const uint8_t> bytes;         ///< compressed_page_size of them
  std::shared_ptr<arrow::Buffer> memory;  ///< keeps `bytes` alive

  int64_t num_values() const;  ///< of a data page
  PagePlace place() const { return {index, offset}; }
  /// What it takes in memory, before and after decompression.
  int64_t held_bytes() const { return int64_t{header.compressed_page_size} + header.uncompressed_page_size; }
};

/// A page, decompressed. The spans are valid until the reader's next call; who holds `memory` and `body_memory` too
/// keeps them for longer.
struct Page {
  PageHeader header;
  int64_t offset = 0;                                             ///< of its header, in the file
  int64_t index = 0;                                              ///< in the chunk, dictionary page included
  std::span<const uint8_t> repetition_levels, definition_levels;  ///< v2 only
  std::span<const uint8_t> body;                                  ///< v1 and dictionary: everything; v2: the values
  std::shared_ptr<arrow::Buffer> memory;                          ///< of the levels
  std::shared_ptr<arrow::Buffer> body_memory;                     ///< of the body

  int64_t num_values() const;  ///< of a data page
  Encoding encoding() const;   ///< of a data page
  PagePlace place() const { return {index, offset}; }
};

/// How the pages of a reader are read, and what its columns share.
struct PageOptions {
  bool verify_crc = false;
  arrow::MemoryPool* pool = nullptr;   ///< of what pages are read and decompressed into
  std::shared_ptr<PageBudget> budget;  ///< null: no limit
  ReadCounters* counters = nullptr;    ///< null: nothing is counted; outlives the reader
};

/// Checks, decrypts and decompresses a page; `raw` may be from another thread. Errors do not name the page.
Result<Page> OpenPage(RawPage raw, const ChunkPlan& plan, const PageOptions& options);

}  // namespace calve::parquet
