#include "calve/shuffle/row_buffer.h"

#include "calve/base/status.h"

#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/util/byte_size.h>

#include <algorithm>

namespace calve::shuffle {

namespace {

constexpr int64_t kSlackBytes = 64 << 10;  // not worth a copy

const arrow::Buffer* Backing(const arrow::Buffer& buffer) {
  const arrow::Buffer* backing = &buffer;
  while (backing->parent() != nullptr) backing = backing->parent().get();
  return backing;
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

int64_t RowBuffer::IndexBytes(int64_t rows) const {
  return static_cast<int64_t>(sizeof(Entry)) + 4 * (rows + partitions_ + 1);
}

int64_t RowBuffer::CostOf(const arrow::RecordBatch& batch) const {
  Seen seen;
  return NewBytes(batch, &seen) + IndexBytes(batch.num_rows());
}

Result<std::shared_ptr<arrow::RecordBatch>> RowBuffer::WorthKeeping(
    const std::shared_ptr<arrow::RecordBatch>& batch) const {
  Seen seen;
  const auto used = arrow::util::ReferencedBufferSize(*batch);
  if (!used.ok() || NewBytes(*batch, &seen) <= 2 * *used + kSlackBytes) return batch;
  arrow::ArrayVector columns;
  for (const auto& column : batch->columns()) {
    ARROW_ASSIGN_OR_RAISE(auto copy, arrow::Concatenate({column}, pool_));
    columns.push_back(std::move(copy));
  }
  return arrow::RecordBatch::Make(batch->schema(), batch->num_rows(), std::move(columns));
}

// A counting sort, which keeps the order of rows within a partition.
Status RowBuffer::Add(std::shared_ptr<arrow::RecordBatch> batch, std::span<const uint32_t> partition_of_row) {
  const auto partitions = static_cast<size_t>(partitions_);
  Entry entry{std::move(batch), std::vector<uint32_t>(partition_of_row.size()), std::vector<uint32_t>(partitions + 1)};
  for (const uint32_t partition : partition_of_row) {
    if (partition >= partitions) return Invalid("a row was assigned to partition {} of {}", partition, partitions_);
    ++entry.starts[partition];
  }
  uint32_t start = 0;
  for (uint32_t& count : entry.starts) start += std::exchange(count, start);
  for (size_t row = 0; row < partition_of_row.size(); ++row) {
    entry.rows[entry.starts[partition_of_row[row]]++] = static_cast<uint32_t>(row);
  }
  // Each start has moved to the next partition's.
  std::copy_backward(entry.starts.begin(), entry.starts.end() - 1, entry.starts.end());
  entry.starts[0] = 0;
  Seen seen;
  batch_bytes_ += NewBytes(*entry.batch, &seen);
  buffers_.merge(seen);
  index_bytes_ += IndexBytes(entry.batch->num_rows());
  rows_ += entry.batch->num_rows();
  batches_.push_back(std::move(entry));
  return Status::OK();
}

void RowBuffer::RowsOf(int32_t partition, std::vector<ShuffleRows>* rows) const {
  const auto p = static_cast<size_t>(partition);
  for (const Entry& entry : batches_) {
    const uint32_t begin = entry.starts[p], end = entry.starts[p + 1];
    if (begin != end) rows->push_back({entry.batch.get(), entry.rows.data() + begin, end - begin, 0});
  }
}

void RowBuffer::Clear() {
  batches_.clear();
  buffers_.clear();
  rows_ = batch_bytes_ = index_bytes_ = 0;
}

}  // namespace calve::shuffle
