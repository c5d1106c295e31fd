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

int64_t RowBuffer::RoomFor(const arrow::RecordBatch& batch, int64_t first) const {
  const int64_t rows = batch.num_rows() - first;
  if (!slabs_) return waiting_.empty() ? rows : 0;
  if (!waiting_.empty() && !SlabBuilder::FitTogether(*waiting_.front().batch, batch)) return 0;
  const int64_t room = slab_bytes_ - SlabBytesNeeded();
  int64_t fitting = rows;
  for (int64_t size = 0; fitting > 0 && (size = SlabBuilder::SizeOf(batch, first, fitting)) > room;) {
    fitting = std::min(
        fitting / 2, static_cast<int64_t>(static_cast<double>(fitting) * 0.98 *
                                          static_cast<double>(std::max<int64_t>(room, 0)) / static_cast<double>(size)));
  }
  // A few rows are not worth a slice; rows that no slab has room for get one of their own.
  constexpr int64_t kFewRows = 64;
  if (waiting_.empty()) return std::max<int64_t>(fitting, 1);
  return fitting == rows || fitting >= kFewRows ? fitting : 0;
}

void RowBuffer::Add(const std::shared_ptr<arrow::RecordBatch>& batch, int64_t first,
                    std::span<const uint32_t> partition_of_row) {
  const auto count = static_cast<int64_t>(partition_of_row.size());
  waiting_.push_back({batch, first, count});
  partition_of_row_.insert(partition_of_row_.end(), partition_of_row.begin(), partition_of_row.end());
  if (slabs_) waiting_size_ += SlabBuilder::SizeOf(*batch, first, count);
  Seen seen = std::move(waiting_buffers_);
  waiting_bytes_ += NewBytes(*batch, &seen);
  waiting_buffers_ = std::move(seen);
}

// All slabs have memory of one size, which can be used again, but a last one that has few rows.
int64_t RowBuffer::MemorySize() const {
  return SlabBytesNeeded() < slab_bytes_ / 2 ? SlabBytesNeeded() : std::max(SlabBytesNeeded(), slab_bytes_);
}

int64_t RowBuffer::SortBytes() const {
  if (!slabs_) return waiting_bytes_;
  return spare_.empty() || SlabBytesNeeded() > slab_bytes_ ? MemorySize() : 0;
}

int64_t RowBuffer::held_bytes() const {
  const auto numbers = static_cast<int64_t>(4 * (partition_of_row_.capacity() + order_.starts.capacity() +
                                                 order_.positions.capacity() + order_.rows.capacity()));
  return batch_bytes_ + index_bytes_ + numbers + std::min(waiting_bytes_, 2 * slab_bytes_) +
         static_cast<int64_t>(spare_.size()) * slab_bytes_;
}

Result<SlabMemory> RowBuffer::TakeMemory() {
  if (SlabBytesNeeded() <= slab_bytes_ && !spare_.empty()) {
    SlabMemory memory{std::move(spare_.back()), false};
    spare_.pop_back();
    return memory;
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bytes, arrow::AllocateBuffer(MemorySize(), pool_));
  return SlabMemory{std::move(bytes), true};
}

// Without slabs one batch waits at a time.
Result<PartitionedBatch> RowBuffer::SortOne() {
  PartitionedBatch result{waiting_.front().batch, order_.starts, order_.rows, nullptr};
  auto sorted = InOrderOf(result.batch, result.rows, pool_);
  if (sorted.ok()) {
    result.batch = *std::move(sorted);
    result.rows = std::vector<uint32_t>();  // an empty list would keep the memory
  } else if (!sorted.status().IsNotImplemented()) {
    return sorted.status();
  }
  return result;
}

Status RowBuffer::Sort() {
  if (waiting_.empty()) return Status::OK();
  ARROW_RETURN_NOT_OK(order_.Sort(partition_of_row_, partitions_));
  PartitionedBatch sorted;
  if (slabs_) {
    sorted.starts = order_.starts;
    ARROW_ASSIGN_OR_RAISE(const SlabMemory memory, TakeMemory());
    sorted.memory = memory.bytes;
    ARROW_ASSIGN_OR_RAISE(sorted.batch, SlabBuilder::Build(waiting_, order_, memory));
  } else {
    ARROW_ASSIGN_OR_RAISE(sorted, SortOne());
  }
  waiting_.clear();
  partition_of_row_.clear();
  waiting_buffers_.clear();
  waiting_size_ = waiting_bytes_ = 0;
  Keep(std::move(sorted));
  return Status::OK();
}

void RowBuffer::Keep(PartitionedBatch batch) {
  Count(batch);
  batches_.push_back(std::move(batch));
}

void RowBuffer::Count(const PartitionedBatch& batch) {
  Seen seen;
  batch_bytes_ += NewBytes(*batch.batch, &seen);
  buffers_.merge(seen);
  index_bytes_ += static_cast<int64_t>(sizeof(batch) + 4 * (batch.starts.capacity() + batch.rows.capacity()));
  rows_ += batch.batch->num_rows();
}

size_t RowBuffer::OldestOf(int64_t bytes) const {
  if (batches_.empty()) return 0;
  const int64_t each = std::max<int64_t>(batch_bytes_ / static_cast<int64_t>(batches_.size()), 1);
  return std::min(static_cast<size_t>(std::max<int64_t>((bytes + each - 1) / each, 1)), batches_.size());
}

void RowBuffer::RowsOf(int32_t partition, size_t batches, std::vector<ShuffleRows>* rows) const {
  const auto p = static_cast<size_t>(partition);
  for (const PartitionedBatch& batch : std::span(batches_).first(batches)) {
    const uint32_t begin = batch.starts[p], end = batch.starts[p + 1];
    if (begin == end) continue;
    const bool in_order = batch.rows.empty();
    rows->push_back(
        {batch.batch.get(), in_order ? nullptr : batch.rows.data() + begin, end - begin, in_order ? begin : 0});
  }
}

void RowBuffer::Forget(size_t batches) {
  for (PartitionedBatch& batch : std::span(batches_).first(batches)) {
    batch.batch.reset();
    if (batch.memory != nullptr && batch.memory->size() == slab_bytes_ && batch.memory.use_count() == 1) {
      spare_.push_back(std::move(batch.memory));
    }
  }
  batches_.erase(batches_.begin(), batches_.begin() + static_cast<ptrdiff_t>(batches));
  buffers_.clear();
  rows_ = batch_bytes_ = index_bytes_ = 0;
  for (const PartitionedBatch& batch : batches_) Count(batch);
}

void RowBuffer::ReleaseSpare() { spare_.clear(); }

}  // namespace calve::shuffle
