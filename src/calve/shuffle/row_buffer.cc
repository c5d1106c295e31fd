#include "calve/shuffle/row_buffer.h"

#include "calve/base/status.h"

#include <arrow/array/array_primitive.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>

#include <algorithm>

namespace calve::shuffle {

namespace {

const arrow::Buffer* Backing(const arrow::Buffer& buffer) {
  const arrow::Buffer* backing = &buffer;
  while (backing->parent() != nullptr) backing = backing->parent().get();
  return backing;
}

/// The rows of `batch` in the order that `rows` says, while they are still in the caches: blocks are then made of
/// ranges instead of single rows all over the memory.
Result<std::shared_ptr<arrow::RecordBatch>> InOrderOf(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                      const std::vector<uint32_t>& rows, arrow::MemoryPool* pool) {
  if (batch->num_columns() == 0) return batch;
  const arrow::UInt32Array indices(static_cast<int64_t>(rows.size()), arrow::Buffer::Wrap(rows));
  arrow::compute::ExecContext context(pool);
  ARROW_ASSIGN_OR_RAISE(const auto taken, arrow::compute::Take(arrow::Datum(batch), arrow::Datum(indices.data()),
                                                               arrow::compute::TakeOptions::NoBoundsCheck(), &context));
  return taken.record_batch();
}

}  // namespace

int64_t RowBuffer::NewBytes(const arrow::ArrayData& data, Seen* seen) const {
  int64_t bytes = 0;
  for (const auto& buffer : data.buffers) {
    if (buffer == nullptr) continue;
    const arrow::Buffer* backing = Backing(*buffer);
    if (buffers_.contains(backing) || !seen->insert(backing).second) continue;
    bytes += std::max(backing->size(), backing->capacity());
  }
  for (const auto& child : data.child_data) bytes += NewBytes(*child, seen);
  if (data.dictionary != nullptr) bytes += NewBytes(*data.dictionary, seen);
  return bytes;
}

int64_t RowBuffer::NewBytes(const arrow::RecordBatch& batch, Seen* seen) const {
  int64_t bytes = 0;
  for (const auto& column : batch.column_data()) bytes += NewBytes(*column, seen);
  return bytes;
}

int64_t RowBuffer::IndexBytes(const PartitionedBatch& batch) {
  return static_cast<int64_t>(sizeof(batch) + 4 * (batch.starts.capacity() + batch.rows.capacity()));
}

int64_t RowBuffer::CostOf(const PartitionedBatch& batch) const {
  Seen seen;
  return NewBytes(*batch.batch, &seen) + IndexBytes(batch);
}

// A counting sort, which keeps the order of rows within a partition.
Result<PartitionedBatch> RowBuffer::Prepare(std::shared_ptr<arrow::RecordBatch> batch,
                                            std::span<const uint32_t> partition_of_row) const {
  const auto partitions = static_cast<size_t>(partitions_);
  PartitionedBatch result{std::move(batch), std::vector<uint32_t>(partitions + 1),
                          std::vector<uint32_t>(partition_of_row.size())};
  for (const uint32_t partition : partition_of_row) {
    if (partition >= partitions) return Invalid("a row was assigned to partition {} of {}", partition, partitions_);
    ++result.starts[partition];
  }
  uint32_t start = 0;
  for (uint32_t& count : result.starts) start += std::exchange(count, start);
  for (size_t row = 0; row < partition_of_row.size(); ++row) {
    result.rows[result.starts[partition_of_row[row]]++] = static_cast<uint32_t>(row);
  }
  // Each start has moved to the next partition's.
  std::copy_backward(result.starts.begin(), result.starts.end() - 1, result.starts.end());
  result.starts[0] = 0;
  auto sorted = InOrderOf(result.batch, result.rows, pool_);
  if (sorted.ok()) {
    result.batch = *std::move(sorted);
    result.rows = std::vector<uint32_t>();  // an empty list would keep the memory
  } else if (!sorted.status().IsNotImplemented()) {
    return sorted.status();
  }
  return result;
}

void RowBuffer::Add(PartitionedBatch batch) {
  Seen seen;
  batch_bytes_ += NewBytes(*batch.batch, &seen);
  buffers_.merge(seen);
  index_bytes_ += IndexBytes(batch);
  rows_ += batch.batch->num_rows();
  batches_.push_back(std::move(batch));
}

void RowBuffer::RowsOf(int32_t partition, std::vector<ShuffleRows>* rows) const {
  const auto p = static_cast<size_t>(partition);
  for (const PartitionedBatch& batch : batches_) {
    const uint32_t begin = batch.starts[p], end = batch.starts[p + 1];
    if (begin == end) continue;
    const bool in_order = batch.rows.empty();
    rows->push_back(
        {batch.batch.get(), in_order ? nullptr : batch.rows.data() + begin, end - begin, in_order ? begin : 0});
  }
}

void RowBuffer::Clear() {
  batches_.clear();
  buffers_.clear();
  rows_ = batch_bytes_ = index_bytes_ = 0;
}

}  // namespace calve::shuffle
