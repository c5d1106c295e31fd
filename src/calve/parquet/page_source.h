#pragma once

#include "calve/parquet/chunk_bytes.h"
#include "calve/parquet/page.h"
#include "calve/parquet/page_decryption.h"

#include <cstdint>
#include <optional>

namespace calve::parquet {

/// The pages of a column chunk as they lie in the file, one after another: all of them, or the dictionary page and the
/// data pages that the plan names. What can be done to a page apart from the others is OpenPage()'s.
///
/// Sizes are checked against the chunk, and counts against its num_values, before memory is taken for them. A page that
/// the plan names must be as the plan says, in bytes and (where its header tells them) in rows.
class PageSource {
 public:
  PageSource(ChunkBytes bytes, const ChunkPlan& plan);

  const ChunkPlan& plan() const { return plan_; }
  int64_t position() const { return bytes_.position(); }  ///< in the file
  int64_t remaining() const { return bytes_.remaining(); }

  /// Reads the header of the next dictionary or data page; false when all values of the chunk have been seen. Errors
  /// name the page.
  Result<bool> ReadHeader(RawPage* page);
  /// Reads the bytes of the page whose header was read last.
  Status ReadBody(RawPage* page);
  /// Passes over them.
  void SkipBody(const RawPage& page) { bytes_.Skip(page.header.compressed_page_size); }

 private:
  Status ReadOneHeader(RawPage* page);
  bool AtEnd() const;
  /// Goes to the next page of the plan, when that names pages.
  void SeekPlannedPage();
  /// The page whose header ends here, against the plan.
  Status CheckPlanned(const RawPage& page);
  Status ParseHeader(PageHeader* header);
  Status CheckHeader(const RawPage& page) const;

  ChunkBytes bytes_;
  ChunkPlan plan_;
  std::optional<PageHeaderDecryptor> decryptor_;  ///< of encrypted chunks
  int64_t next_index_ = 0;
  int64_t values_seen_ = 0;
  size_t planned_ = 0;       ///< pages of the plan that were seen
  bool in_planned_ = false;  ///< the bytes at hand are those of planned pages, not of what lies before all data pages
};

}  // namespace calve::parquet
