#pragma once

#include "calve/ipc/column_rows.h"
#include "calve/shuffle/row_order.h"

#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace calve::shuffle {

/// Consecutive rows of a batch.
struct BatchSlice {
  std::shared_ptr<arrow::RecordBatch> batch;
  int64_t first = 0, count = 0;
};

/// What a slab lies in.
struct SlabMemory {
  std::shared_ptr<arrow::Buffer> bytes;
  /// The system has perhaps no pages behind it yet; they are then asked for column by column.
  bool is_fresh = false;
};

/// Copies rows of several batches into one piece of memory, in the order of their partitions, column after column.
///
/// Each value is copied once: those of fixed width to where they belong, in the order in which they come (a partition's
/// next place is then in the caches); texts in the order of the partitions.
class SlabBuilder {
 public:
  /// Whether columns of `type` can be put in order so: those of fixed width, texts, and structs of such.
  static bool Supports(const arrow::DataType& type);
  static bool Supports(const arrow::Schema& schema);
  /// At most so many bytes of memory are needed for the rows.
  static int64_t SizeOf(const arrow::RecordBatch& batch, int64_t first, int64_t count);
  /// Whether rows of both go into one slab: they do unless they have different dictionaries.
  static bool FitTogether(const arrow::RecordBatch& left, const arrow::RecordBatch& right);

  /// The rows of `slices`, one after another, as `order` says. `memory` has at least the sum of their SizeOf and
  /// kSlackBytes, and is kept by the batch.
  static arrow::Result<std::shared_ptr<arrow::RecordBatch>> Build(std::span<const BatchSlice> slices,
                                                                  const RowOrder& order, SlabMemory memory);
  /// Bytes at the end of the memory that are written over.
  static constexpr int64_t kSlackBytes = 128;

 private:
  SlabBuilder(const RowOrder& order, SlabMemory memory)
      : order_(order), memory_(std::move(memory)), rows_(static_cast<int64_t>(order.rows.size())) {}

  arrow::Result<std::shared_ptr<arrow::ArrayData>> Column(const std::shared_ptr<arrow::DataType>& type,
                                                          ipc::Sources sources);
  arrow::Status AddValues(const arrow::DataType& storage, ipc::Sources sources, arrow::ArrayData* out);
  arrow::Status AddChildren(ipc::Sources sources, arrow::ArrayData* out);
  template <typename Offset>
  arrow::Status AddText(ipc::Sources sources, arrow::ArrayData* out);
  arrow::Result<std::shared_ptr<arrow::Buffer>> Bits(ipc::Sources sources, size_t buffer, int64_t* set);
  arrow::Result<std::shared_ptr<arrow::Buffer>> Take(int64_t size);

  const RowOrder& order_;
  SlabMemory memory_;
  int64_t rows_, used_ = 0;
  std::vector<uint8_t> bits_;
};

}  // namespace calve::shuffle
