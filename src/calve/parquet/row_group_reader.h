#pragma once

#include "calve/parquet/field_decoder.h"
#include "calve/parquet/selection.h"

#include <memory>
#include <vector>

namespace calve::parquet {

/// Reads rows of some columns of one row group, front to back, as they are asked for.
class RowGroupReader {
 public:
  /// `chunks` are parallel to the leaves of `selection`, whose schema `leaf_index` counts by; at least one. `first_row`
  /// is the row group's in the file. `setup` is for the schema of `selection`; both outlive the reader.
  static Result<std::unique_ptr<RowGroupReader>> Make(const ReadSetup& setup, const Selection& selection,
                                                      std::vector<PlannedChunk> chunks, int64_t first_row);

  /// The first rows of `wanted` (counted from the row group's first), as many as the limits allow, at least one.
  /// `wanted` begins with the rows that the call before left, and goes on behind them.
  Result<std::shared_ptr<arrow::RecordBatch>> Read(const RowRanges& wanted);

  /// The pages of all columns, for threads that work ahead.
  std::vector<std::shared_ptr<PageQueue>> queues() const;

 private:
  RowGroupReader(const Selection& selection, int64_t first_row) : selection_(selection), first_row_(first_row) {}
  Result<int64_t> FillFields(const RowRanges& wanted);

  const Selection& selection_;
  const int64_t first_row_;
  std::vector<FieldDecoder> fields_;
};

}  // namespace calve::parquet
