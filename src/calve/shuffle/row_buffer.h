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

/// A batch and where its rows go.
struct PartitionedBatch {
  std::shared_ptr<arrow::RecordBatch> batch;
  std::vector<uint32_t> starts;  ///< partitions + 1: where the rows of each partition begin
  std::vector<uint32_t> rows;    ///< by partition; empty: those of the batch are in that order
};

/// Batches whose rows wait to be written, and which rows of them go to which partition.
///
/// Batches are copied in the order of partitions while they are in the caches, so that blocks are made of ranges and
/// nothing of the caller's stays alive; types that Arrow cannot take rows of are kept as they are. Memory is counted by
/// the buffers that the batches keep alive: one that several of them share (a dictionary) counts once, and a slice of a
/// buffer counts as the whole.
class RowBuffer {
 public:
  RowBuffer(int32_t partitions, arrow::MemoryPool* pool) : partitions_(partitions), pool_(pool) {}

  bool empty() const { return batches_.empty(); }
  int64_t rows() const { return rows_; }
  int64_t batch_bytes() const { return batch_bytes_; }
  /// All that is held.
  int64_t held_bytes() const { return batch_bytes_ + index_bytes_; }

  /// `partition_of_row[i]` is where row i goes. Invalid when that is no partition.
  arrow::Result<PartitionedBatch> Prepare(std::shared_ptr<arrow::RecordBatch> batch,
                                          std::span<const uint32_t> partition_of_row) const;
  /// What held_bytes() grows by when it is added.
  int64_t CostOf(const PartitionedBatch& batch) const;
  void Add(PartitionedBatch batch);
  /// The rows of `partition`, in the order in which they came; valid until Clear. Appends to `rows`.
  void RowsOf(int32_t partition, std::vector<ShuffleRows>* rows) const;
  void Clear();

 private:
  using Seen = std::unordered_set<const arrow::Buffer*>;

  int64_t NewBytes(const arrow::ArrayData& data, Seen* seen) const;
  int64_t NewBytes(const arrow::RecordBatch& batch, Seen* seen) const;
  static int64_t IndexBytes(const PartitionedBatch& batch);

  int32_t partitions_;
  arrow::MemoryPool* pool_;
  std::vector<PartitionedBatch> batches_;
  Seen buffers_;
  int64_t rows_ = 0, batch_bytes_ = 0, index_bytes_ = 0;
};

}  // namespace calve::shuffle
