#pragma once

#include "calve/parquet/column_reader.h"
#include "calve/parquet/read_counters.h"
#include "calve/parquet/selection.h"
#include "calve/parquet_reader.h"

#include <memory>
#include <string>
#include <vector>

namespace calve::parquet {

/// An open file, as its batch readers need it. Immutable.
struct OpenFile {
  std::shared_ptr<arrow::io::RandomAccessFile> file;
  std::string name;
  int64_t size_bytes = 0;
  int64_t num_rows = 0;  ///< of all row groups
  int64_t data_end = 0;  ///< where the footer begins
  FileMetadata metadata;
  FileSchema schema;
  ParquetReadOptions options;
  Context context;
  int64_t footer_cache_hits = 0;  ///< of opening it
};

/// Reads row groups one after another, each in batches of rows that all columns have.
class BatchReader : public ParquetBatchReader {
 public:
  /// Plans all chunks. `file` outlives the reader.
  static Result<std::unique_ptr<BatchReader>> Make(const OpenFile& file, const std::vector<int>& leaves,
                                                   const std::vector<int>& row_groups, const BatchLimits& limits = {});

  const std::shared_ptr<arrow::Schema>& schema() const override { return selection_.arrow_schema; }
  Result<std::shared_ptr<arrow::RecordBatch>> Next() override;
  int64_t first_row() const override { return first_row_; }
  std::vector<RowRange> rows() const override { return {{first_row_, first_row_ + last_rows_}}; }
  ParquetReadMetrics metrics() const override { return counters_.Read(); }

 private:
  struct PlannedGroup {
    int index = 0;
    int64_t first_row = 0, num_rows = 0;
    std::vector<ChunkPlan> chunks;  ///< parallel to the selection's leaves
  };

  BatchReader(const OpenFile& file, Selection selection, const BatchLimits& limits);
  Status Plan(const std::vector<int>& row_groups);
  Result<std::shared_ptr<arrow::RecordBatch>> ReadBatch();
  Status OpenGroup();
  Status CloseGroup();
  Result<int64_t> FillColumns(int64_t rows);
  std::string Where(size_t column) const;

  const OpenFile& file_;
  Selection selection_;
  BatchLimits limits_;
  std::vector<PlannedGroup> groups_;
  std::vector<size_t> fill_order_;  ///< of the selection's leaves: byte arrays first
  size_t group_ = 0;                ///< the current one
  int64_t group_row_ = 0;           ///< rows of it that were returned
  int64_t first_row_ = 0, last_rows_ = 0;  ///< of the last batch
  ReadCounters counters_;
  PageOptions page_options_;
  std::vector<std::unique_ptr<ColumnReader>> columns_;
  Status failure_;
};

}  // namespace calve::parquet
