#pragma once

#include "calve/parquet/field_reader.h"
#include "calve/parquet/open_file.h"
#include "calve/parquet/read_ahead.h"
#include "calve/parquet/selection.h"
#include "calve/parquet_reader.h"

#include <memory>
#include <string>
#include <vector>

namespace calve::parquet {

/// Reads row groups one after another, each in batches of rows that all columns have.
///
/// Every field of a row group is decoded piece by piece, by whichever thread (read_ahead.h); a batch goes to the
/// nearest end of a piece. So the batches are the same for any number of threads.
class BatchReader : public ParquetBatchReader {
 public:
  /// Plans all chunks. `file` outlives the reader.
  static Result<std::unique_ptr<BatchReader>> Make(const OpenFile& file, const std::vector<int>& leaves,
                                                   const std::vector<int>& row_groups, const BatchLimits& limits = {});

  const std::shared_ptr<arrow::Schema>& schema() const override { return selection_.schema.arrow_schema; }
  Result<std::shared_ptr<arrow::RecordBatch>> Next() override;
  int64_t first_row() const override { return first_row_; }
  std::vector<RowRange> rows() const override { return {{first_row_, first_row_ + last_rows_}}; }
  ParquetReadMetrics metrics() const override { return counters_.Read(); }

 private:
  struct PlannedGroup {
    int index = 0;
    int64_t first_row = 0, num_rows = 0;
    int64_t weight_bytes = 0;          ///< about what it holds in memory while it is read
    std::vector<PlannedChunk> chunks;  ///< parallel to the selection's leaves
  };
  /// What is left of the last array of a field.
  struct Piece {
    std::shared_ptr<arrow::ArrayData> array;
    int64_t used_rows = 0;
    int64_t rows_left() const { return array == nullptr ? 0 : array->length - used_rows; }
  };

  BatchReader(const OpenFile& file, Selection selection, const BatchLimits& limits);
  Status Plan(const std::vector<int>& row_groups);
  Result<std::shared_ptr<arrow::RecordBatch>> ReadBatch();
  Status OpenGroups();
  Status OpenGroup(const PlannedGroup& group);
  Result<std::shared_ptr<RangeReader>> MergeSmallChunks(const std::vector<PlannedChunk>& chunks) const;
  bool HasRoomFor(const PlannedGroup& group) const;
  /// Makes every field have rows; returns how many all of them have.
  Result<int64_t> FillPieces();
  static std::shared_ptr<arrow::ArrayData> TakeRows(int64_t rows, Piece* piece);
  void CloseGroup();

  const OpenFile& file_;
  Selection selection_;
  std::vector<PlannedGroup> groups_;
  ReadCounters counters_;
  ReadMemory memory_;
  ReadSetup setup_;
  size_t most_open_groups_ = 1;
  int64_t most_open_bytes_ = 0;

  size_t group_ = 0;                       ///< the current one
  size_t opened_ = 0;                      ///< the first that is not open
  int64_t open_bytes_ = 0;                 ///< weight of those that are
  int64_t group_row_ = 0;                  ///< rows of the current one that were returned
  int64_t first_row_ = 0, last_rows_ = 0;  ///< of the last batch
  std::vector<Piece> pieces_;              ///< one a field
  Status failure_;
  ReadAhead ahead_;  ///< the last: its threads use the others
};

}  // namespace calve::parquet
