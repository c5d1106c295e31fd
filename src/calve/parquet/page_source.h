#pragma once

#include "calve/parquet/chunk_bytes.h"
#include "calve/parquet/page.h"
#include "calve/parquet/page_decryption.h"

#include <cstdint>
#include <optional>

namespace calve::parquet {

/// The pages of a column chunk as they lie in the file, one after another. What can be done to a page apart from the
/// others is OpenPage()'s.
///
/// Sizes are checked against the chunk, and counts against its num_values, before memory is taken for them.
class PageSource {
 public:
  PageSource(ChunkBytes bytes, const ChunkPlan& plan);

  const ChunkPlan& plan() const { return plan_; }

  /// Reads the header of the next dictionary or data page; false when all values of the chunk have been seen. Errors
  /// name the page.
  Result<bool> ReadHeader(RawPage* page);
  /// Reads the bytes of the page whose header was read last.
  Status ReadBody(RawPage* page);
  /// Passes over them.
  void SkipBody(const RawPage& page) { bytes_.Skip(page.header.compressed_page_size); }

 private:
  Status ReadOneHeader(RawPage* page);
  Status ParseHeader(PageHeader* header);
  Status CheckHeader(const RawPage& page) const;

  ChunkBytes bytes_;
  ChunkPlan plan_;
  std::optional<PageHeaderDecryptor> decryptor_;  ///< of encrypted chunks
  int64_t next_index_ = 0;
  int64_t values_seen_ = 0;
};

}  // namespace calve::parquet
