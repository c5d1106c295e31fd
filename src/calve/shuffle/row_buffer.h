#pragma once

#include "calve/shuffle/row_slab.h"
#include "calve/shuffle_block.h"

#include <arrow/buffer.h>
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
  std::vector<uint32_t> starts;           ///< partitions + 1: where the rows of each partition begin
  std::vector<uint32_t> rows;             ///< by partition; empty: those of the batch are in that order
  std::shared_ptr<arrow::Buffer> memory;  ///< what its columns lie in; null: memory of their own
};

/// Batches whose rows wait to be written, and which rows of them go to which partition.
///
/// Batches come in as they are. When there are enough for a slab their rows are copied in the order of partitions, so
/// that blocks are made of ranges and nothing of the caller's stays alive. Batches with types that slabs do not have
/// are copied one by one, and where Arrow cannot take rows of a type either, they are kept as they are. Memory is
/// counted by the buffers that the batches keep alive: one that several of them share (a dictionary) counts once, and a
/// slice of a buffer counts as the whole.
class RowBuffer {
 public:
  /// `slab_bytes`: of a slab's memory.
  RowBuffer(const arrow::Schema& schema, int32_t partitions, int64_t slab_bytes, arrow::MemoryPool* pool)
      : partitions_(partitions), slab_bytes_(slab_bytes), pool_(pool), slabs_(SlabBuilder::Supports(schema)) {}

  /// How many rows of `batch`, from `first` on, still go to those that wait for Sort; 0: none before that.
  int64_t RoomFor(const arrow::RecordBatch& batch, int64_t first) const;
  /// Adds rows that there is room for; `partition_of_row[i]` is where row first + i goes.
  void Add(const std::shared_ptr<arrow::RecordBatch>& batch, int64_t first, std::span<const uint32_t> partition_of_row);
  /// Whether to Sort without waiting for more: what waits keeps much more alive than it has rows.
  bool KeepsMuchAlive() const { return waiting_bytes_ > 2 * slab_bytes_; }
  /// What held_bytes() grows by, at most, while those are sorted that wait.
  int64_t SortBytes() const;
  /// Puts the rows that wait in order. Invalid when one was added to no partition.
  arrow::Status Sort();

  bool has_sorted() const { return !batches_.empty(); }
  size_t sorted_batches() const { return batches_.size(); }
  /// How many of the batches that were sorted first hold about `bytes`, at least one.
  size_t OldestOf(int64_t bytes) const;
  int64_t sorted_rows() const { return rows_; }
  int64_t batch_bytes() const { return batch_bytes_; }  ///< of what is sorted
  /// All that is held, but what a single batch that waits keeps alive of its caller's.
  int64_t held_bytes() const;

  /// The rows of `partition` in the first `batches` that were sorted, in the order in which they came; valid until they
  /// are forgotten. Appends to `rows`.
  void RowsOf(int32_t partition, size_t batches, std::vector<ShuffleRows>* rows) const;
  /// Forgets the first `batches` that were sorted. Memory of slabs is kept for others until ReleaseSpare.
  void Forget(size_t batches);
  void ReleaseSpare();

 private:
  using Seen = std::unordered_set<const arrow::Buffer*>;

  int64_t NewBytes(const arrow::ArrayData& data, Seen* seen) const;
  int64_t NewBytes(const arrow::RecordBatch& batch, Seen* seen) const;
  int64_t SlabBytesNeeded() const { return waiting_size_ + SlabBuilder::kSlackBytes; }
  int64_t MemorySize() const;
  arrow::Result<SlabMemory> TakeMemory();
  arrow::Result<PartitionedBatch> SortOne();
  void Keep(PartitionedBatch batch);
  void Count(const PartitionedBatch& batch);

  int32_t partitions_;
  int64_t slab_bytes_;
  arrow::MemoryPool* pool_;
  bool slabs_;

  std::vector<BatchSlice> waiting_;
  std::vector<uint32_t> partition_of_row_;  ///< of the rows that wait
  Seen waiting_buffers_;
  int64_t waiting_size_ = 0, waiting_bytes_ = 0;  ///< of their rows; of the buffers they keep alive
  RowOrder order_;

  std::vector<PartitionedBatch> batches_;
  Seen buffers_;
  int64_t rows_ = 0, batch_bytes_ = 0, index_bytes_ = 0;
  std::vector<std::shared_ptr<arrow::Buffer>> spare_;  ///< memory of slabs, slab_bytes_ each
};

}  // namespace calve::shuffle
