#pragma once

#include "calve/parquet/row_ranges.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <deque>
#include <memory>

namespace calve::parquet {

/// Puts the few rows that pass of one batch after another together to batches that are worth returning.
class RowsCollector {
 public:
  /// A batch is full with half of `batch_rows` rows, or with `batch_bytes`. A single one that is full is not copied.
  RowsCollector(int64_t batch_rows, int64_t batch_bytes, arrow::MemoryPool* pool)
      : batch_rows_(batch_rows), batch_bytes_(batch_bytes), pool_(pool) {}

  /// Takes rows behind all others.
  void Add(std::shared_ptr<arrow::RecordBatch> batch, const RowRanges& rows);
  bool empty() const { return parts_.empty(); }
  /// Whether there is a batch to take before more may be added.
  bool full() const { return num_rows_ * 2 >= batch_rows_ || num_bytes_ >= batch_bytes_; }
  /// The first rows as one batch, of at most `batch_rows` rows and 1 GiB but for a single one, and where they are. What
  /// is more stays.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(RowRanges* rows);

 private:
  struct Part {
    std::shared_ptr<arrow::RecordBatch> batch;
    RowRanges rows;
    int64_t bytes = 0;
  };

  const int64_t batch_rows_, batch_bytes_;
  arrow::MemoryPool* pool_;
  std::deque<Part> parts_;
  int64_t num_rows_ = 0, num_bytes_ = 0;
};

}  // namespace calve::parquet
