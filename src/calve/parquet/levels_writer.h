#pragma once

#include "calve/parquet/page_description.h"
#include "calve/parquet/pool_vector.h"
#include "calve/parquet/schema_writer.h"

#include <arrow/array/data.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace calve::parquet {

/// Slots [start, start + length) of an array, counted from the array's offset.
struct SlotRange {
  int64_t start, length;
};

/// What some rows are for one leaf: their levels, and where the leaf's values lie.
struct LeafSlots {
  explicit LeafSlots(arrow::MemoryPool* pool) : definition_levels(pool), repetition_levels(pool), ranges(pool) {}

  int64_t row_count = 0, slot_count = 0;
  int64_t value_count = 0;  ///< slots with a value: neither null nor empty
  /// Set for a leaf that is a top-level field: its slots are the rows, and no levels are made. Definition levels are
  /// the bits of `validity` from `validity_offset` on, or all 1 when it is null and all 0 when `all_null`.
  bool flat = false, all_null = false;
  const uint8_t* validity = nullptr;
  int64_t validity_offset = 0;
  /// One a slot, otherwise.
  PoolVector<int16_t> definition_levels, repetition_levels;
  /// The number of slots at each definition and repetition level; empty when the largest is 0.
  LevelHistogram definition_histogram, repetition_histogram;
  /// The leaf array's slots that are reached: every value is in one of them, and their nulls are slots too.
  PoolVector<SlotRange> ranges;
};

/// Turns rows of Arrow arrays into the levels of one leaf ("Nested Encoding", Dremel).
class LevelsWriter {
 public:
  LevelsWriter(const WrittenLeaf* leaf, arrow::MemoryPool* pool) : leaf_(leaf), pool_(pool) {}

  /// Takes the array of the leaf's top-level field. It stays the caller's and must outlive the calls of Build.
  Status Bind(const arrow::ArrayData& field);
  /// Lets go of the arrays.
  void Unbind();
  /// The leaf's own array, of the leaf's value type or a dictionary of it. Its validity bitmap says which slots are
  /// null, those that a dictionary makes null too.
  const arrow::ArrayData& leaf_array() const { return *leaf_array_; }

  /// Describes rows [row, row + count). Invalid when a required node is null.
  Status Build(int64_t row, int64_t count, LeafSlots* slots);

 private:
  Status BuildLevels(int64_t row, int64_t count, LeafSlots* slots);
  void CountLevels(LeafSlots* slots) const;
  Status BindLeaf(const arrow::ArrayData& array);
  Status BuildFlat(int64_t row, int64_t count, LeafSlots* slots);
  Status Visit(size_t depth, SlotRange range, int16_t first_repetition, LeafSlots* slots);
  Status VisitPresent(size_t depth, SlotRange range, int16_t first_repetition, LeafSlots* slots);
  template <typename Offset>
  Status VisitLists(size_t depth, SlotRange range, int16_t first_repetition, LeafSlots* slots);
  Status VisitFixedSizeLists(size_t depth, SlotRange range, int16_t first_repetition, LeafSlots* slots);
  Status AppendRange(SlotRange range, LeafSlots* slots);
  Status AppendLevels(const PathStep& step, int level, int64_t count, int16_t first_repetition, LeafSlots* slots);

  const WrittenLeaf* leaf_;
  arrow::MemoryPool* pool_;
  std::vector<const arrow::ArrayData*> arrays_;  ///< one a step of the leaf's path
  std::shared_ptr<arrow::ArrayData> leaf_array_;
};

}  // namespace calve::parquet
