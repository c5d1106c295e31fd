#pragma once

#include "calve/shuffle_block.h"

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

namespace calve::shuffle {

/// Batches whose rows wait to be written, and which rows of them go to which partition.
///
/// Memory is counted by the buffers that the batches keep alive: one that several of them share counts once, and a
/// slice of a buffer counts as the whole. A batch that keeps much more alive than it uses is copied.
class RowBuffer {
 public:
  RowBuffer(int32_t partitions, arrow::MemoryPool* pool) : partitions_(partitions), pool_(pool) {}

  bool empty() const { return batches_.empty(); }
  int64_t rows() const { return rows_; }
  int64_t batch_bytes() const { return batch_bytes_; }
  /// All that is held.
  int64_t held_bytes() const { return batch_bytes_ + index_bytes_; }

  /// What to keep of `batch`: itself, or a copy without what it does not use.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> WorthKeeping(
      const std::shared_ptr<arrow::RecordBatch>& batch) const;
  /// What held_bytes() grows by when it is added.
  int64_t CostOf(const arrow::RecordBatch& batch) const;

  /// Adds it; `partition_of_row[i]` is where row i goes. Invalid when that is no partition.
  arrow::Status Add(std::shared_ptr<arrow::RecordBatch> batch, std::span<const uint32_t> partition_of_row);
  /// The rows of `partition`, in the order in which they came; valid until Clear. Appends to `rows`.
  void RowsOf(int32_t partition, std::vector<ShuffleRows>* rows) const;
  void Clear();

 private:
  struct Entry {
    std::shared_ptr<arrow::RecordBatch> batch;
    std::vector<uint32_t> rows;    ///< by partition
    std::vector<uint32_t> starts;  ///< partitions + 1, in `rows`
  };
  using Seen = std::unordered_set<const arrow::Buffer*>;

  int64_t NewBytes(const arrow::ArrayData& data, Seen* seen) const;
  int64_t NewBytes(const arrow::RecordBatch& batch, Seen* seen) const;
  int64_t IndexBytes(int64_t rows) const;

  int32_t partitions_;
  arrow::MemoryPool* pool_;
  std::vector<Entry> batches_;
  Seen buffers_;
  int64_t rows_ = 0, batch_bytes_ = 0, index_bytes_ = 0;
};

}  // namespace calve::shuffle
