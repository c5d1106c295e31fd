#pragma once

#include "calve/parquet/column_reader.h"
#include "calve/parquet/row_ranges.h"

#include <optional>

namespace calve::parquet {

/// Drives a column reader to the rows wanted, front to back, skipping the others.
class RowCursor {
 public:
  /// `present`: the rows that the column reader comes by, when that is not all of the row group's.
  RowCursor(std::unique_ptr<ColumnReader> column, std::optional<RowRanges> present)
      : column_(std::move(column)), present_(std::move(present)) {}

  /// Decodes the first rows of `wanted` until `count` of them are held, or a limit is reached. Those held already are
  /// the first of `wanted`. Returns how many are held, at least one.
  Result<int64_t> Fill(const RowRanges& wanted, int64_t count);
  /// The same for the next rows, none skipped.
  Result<int64_t> FillNext(int64_t count);
  /// The first `count` of those held.
  Result<LeafBatch> Take(int64_t count);
  /// Invalid when the chunk has more rows than were taken or skipped.
  Status CheckEnd() { return column_->CheckEnd(); }

 private:
  Status GoTo(int64_t row);
  int64_t PresentBetween(int64_t begin, int64_t end);

  std::unique_ptr<ColumnReader> column_;
  std::optional<RowRanges> present_;
  size_t range_ = 0;  ///< of `present_`: the first that ends behind next_row_
  int64_t next_row_ = 0, held_ = 0;
};

}  // namespace calve::parquet
