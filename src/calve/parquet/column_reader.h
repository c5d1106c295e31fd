#pragma once

#include "calve/parquet/leaf_values.h"
#include "calve/parquet/level_decoder.h"
#include "calve/parquet/page_reader.h"
#include "calve/parquet/schema.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace calve::parquet {

/// What bounds the memory of a column's part of a batch.
struct BatchLimits {
  int64_t soft_bytes = int64_t{64} << 20;       ///< a batch ends with the row that reaches it
  int64_t hard_bytes = (int64_t{1} << 31) - 1;  ///< byte arrays of a batch stay at or below it
  int64_t levels = int64_t{1} << 24;            ///< a batch ends with the row that reaches it
};

/// Decodes a column chunk, page by page.
class ColumnReader {
 public:
  ColumnReader(const LeafColumn& leaf, PageReader pages, const BatchLimits& limits, arrow::MemoryPool* pool);
  Status Init() { return held_.Init(); }

  /// Whether what a row takes in memory is not known before it is decoded.
  bool is_binary() const { return layout_.binary; }
  /// Decodes until `rows` rows are held, or a limit is reached, or the chunk ends. Returns how many are held, at least
  /// one.
  Result<int64_t> Fill(int64_t rows);
  /// Passes over the `rows` rows after those held. Called when Fill gave all that it was asked for; the rows skipped
  /// must be there. Whole pages are passed over without being decompressed where their row counts are known.
  Status Skip(int64_t rows);
  /// The first `rows` of the rows held.
  Result<LeafBatch> Take(int64_t rows);
  /// Invalid when the chunk has more rows than were taken.
  Status CheckEnd();

 private:
  static constexpr int64_t kLevels = 4096;

  Status SkipFlat(int64_t rows);
  Status SkipNested(int64_t rows);
  Status FillFlat(int64_t rows);
  Status FillNested(int64_t rows);
  /// Goes on to the next data page with values; false when there is none.
  Result<bool> NextPage();
  Status BeginPage(const Page& page);
  Status BeginValues(const Page& page, std::span<const uint8_t> bytes);
  Status ReadDictionary(const Page& page);
  /// `inside_row`: the levels may go on with a row that has begun.
  Status DecodeLevels(bool inside_row);
  /// How many of the decoded entries in [begin, end) begin a row.
  int64_t CountRows(int64_t begin, int64_t end) const;
  int64_t CountTakeable(int64_t rows) const;
  /// How many of the next `count` entries may be decoded within the limits; 0: the batch has to end.
  Result<int64_t> WithinLimits(int64_t count) const;
  int64_t BytesAtMost(int64_t count) const;
  bool HoldsBytes() const;
  Status AppendFlat(int64_t count);
  Status AppendNested(int64_t count);

  LeafColumn leaf_;
  LeafLayout layout_;
  PageReader pages_;
  BatchLimits limits_;
  LeafValues held_;
  int64_t complete_rows_ = 0;  ///< of those held

  std::shared_ptr<const Dictionary> dictionary_;
  arrow::MemoryPool* pool_;
  bool seen_data_page_ = false;

  // The current page.
  PagePlace page_place_;
  int64_t page_left_ = 0;  ///< entries not yet decoded
  LevelDecoder repetition_decoder_, definition_decoder_;
  PageValues values_;

  // Levels of the current page that are decoded but not yet taken (nested columns).
  std::vector<uint8_t> definition_, repetition_;
  std::vector<uint64_t> inside_rows_;  ///< a bit an entry: its repetition level is not 0
  int64_t level_ = 0, levels_end_ = 0;
};

}  // namespace calve::parquet
