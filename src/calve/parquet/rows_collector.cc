#include "calve/parquet/rows_collector.h"

#include <arrow/record_batch.h>
#include <arrow/util/byte_size.h>

#include <vector>

namespace calve::parquet {

void RowsCollector::Add(std::shared_ptr<arrow::RecordBatch> batch, const RowRanges& rows) {
  if (batch->num_rows() == 0) return;
  const int64_t bytes = arrow::util::TotalBufferSize(*batch);
  num_rows_ += batch->num_rows();
  num_bytes_ += bytes;
  parts_.push_back({std::move(batch), rows, bytes});
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> RowsCollector::Take(RowRanges* rows) {
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  *rows = RowRanges();
  std::vector<std::shared_ptr<arrow::RecordBatch>> taken;
  for (int64_t bytes = 0; !parts_.empty(); parts_.pop_front()) {
    const Part& part = parts_.front();
    const int64_t count = part.batch->num_rows();
    bytes += part.bytes;
    if (!taken.empty() && (rows->count() + count > batch_rows_ || bytes > kMostBytes)) break;
    for (const RowRange& range : part.rows.ranges()) rows->Append(range);
    taken.push_back(part.batch);
    num_rows_ -= count;
    num_bytes_ -= part.bytes;
  }
  if (taken.size() == 1) return taken[0];
  if (taken[0]->num_columns() > 0) return arrow::ConcatenateRecordBatches(taken, pool_);
  return arrow::RecordBatch::Make(taken[0]->schema(), rows->count(), arrow::ArrayVector{});
}

}  // namespace calve::parquet
