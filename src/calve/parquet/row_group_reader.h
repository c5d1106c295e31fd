#pragma once

#include "calve/parquet/open_file.h"
#include "calve/parquet/row_cursor.h"
#include "calve/parquet/row_ranges.h"
#include "calve/parquet/selection.h"

#include <memory>
#include <optional>
#include <vector>

namespace calve::parquet {

/// A chunk to be read by rows.
struct PlannedChunk {
  ChunkPlan plan;
  std::optional<RowRanges> rows;  ///< of the pages that the plan names, when it names pages
};

/// Reads rows of some columns of one row group, front to back, as they are asked for.
class RowGroupReader {
 public:
  /// `chunks` are parallel to the leaves of `selection`, whose schema `leaf_index` counts by. All arguments outlive the
  /// reader, but `chunks`.
  static Result<std::unique_ptr<RowGroupReader>> Make(const OpenFile& file, const Selection& selection,
                                                      std::vector<PlannedChunk> chunks, const PageOptions& options,
                                                      const BatchLimits& limits, arrow::MemoryPool* pool);

  /// The first rows of `wanted` (counted from the row group's first), as many as the limits allow, at least one.
  /// `wanted` begins with the rows that the call before left, and goes on behind them.
  Result<std::shared_ptr<arrow::RecordBatch>> Read(const RowRanges& wanted);

 private:
  struct Column {
    RowCursor cursor;
    int leaf_index = 0, row_group = 0;
    bool binary = false;
  };

  RowGroupReader(const Selection& selection, arrow::MemoryPool* pool) : selection_(selection), pool_(pool) {}
  Result<int64_t> FillColumns(const RowRanges& wanted);
  Result<std::shared_ptr<arrow::RecordBatch>> Assemble(int64_t rows);
  Status InColumn(const Status& status, const Column& column) const;

  const Selection& selection_;
  arrow::MemoryPool* pool_;
  std::vector<Column> columns_;
};

}  // namespace calve::parquet
