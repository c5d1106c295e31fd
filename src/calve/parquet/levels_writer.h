#pragma once

#include "calve/parquet/bit_plane.h"
#include "calve/parquet/page_description.h"
#include "calve/parquet/pool_vector.h"
#include "calve/parquet/schema_writer.h"
#include "calve/parquet/value_slots.h"

#include <arrow/array/data.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace calve::parquet {

/// What some rows are for one leaf: their levels, and where the leaf's values lie.
struct LeafSlots {
  explicit LeafSlots(arrow::MemoryPool* pool) : ranges(pool), value_bits(pool) {}

  int64_t row_count = 0, slot_count = 0;
  /// Set for a leaf that is a top-level field: its slots are the rows, and no levels are made. Definition levels are
  /// the bits of `validity` from `validity_offset` on, or all 1 when it is null and all 0 when `all_null`.
  bool flat = false;
  /// All rows are null in the top-level field: slots are rows, whose levels are 0. Set for a flat leaf, and where the
  /// whole array is null.
  bool all_null = false;
  const uint8_t* validity = nullptr;
  int64_t validity_offset = 0;
  /// Otherwise bit planes, one a level above 0: bit i of plane k is set when the level of slot i is above k.
  std::span<const BitPlane> definition_planes, repetition_planes;
  /// The number of slots at each definition and repetition level; as in PageDescription.
  LevelHistogram definition_histogram, repetition_histogram;
  ValueSlots values;

  // What `values` refers to.
  PoolVector<SlotRange> ranges;
  BitPlane value_bits;
};

/// Turns rows of Arrow arrays into the levels of one leaf ("Nested Encoding", Dremel).
class LevelsWriter {
 public:
  LevelsWriter(const WrittenLeaf* leaf, arrow::MemoryPool* pool);

  /// Takes the array of the leaf's top-level field, after Unwrap(), unless it has it already. It stays the caller's and
  /// must outlive the calls of Build, until Unbind.
  Status Bind(const arrow::ArrayData& field);
  /// Lets go of the arrays.
  void Unbind();
  /// The leaf's own array, of the leaf's value type or a dictionary of it. Its validity bitmap says which slots are
  /// null, those that a dictionary makes null too.
  const arrow::ArrayData& leaf_array() const { return *leaf_array_; }
  /// True when all rows of the array are null.
  bool all_null() const { return all_null_; }

  /// Describes rows [row, row + count), until the next call. Invalid when a required node is null.
  Status Build(int64_t row, int64_t count, LeafSlots* slots);

 private:
  Status BindLeaf(const arrow::ArrayData& array);
  void BuildNulls(LeafSlots* slots) const;
  Status BuildFlat(int64_t row, int64_t count, LeafSlots* slots);
  Status BuildNested(int64_t row, int64_t count, LeafSlots* slots);
  Status AddPresence(const PathStep& step, const arrow::ArrayData& array, LeafSlots* slots);
  Status AddOptional(const uint8_t* validity, const arrow::ArrayData& array, LeafSlots* slots);
  Status PlaceValidity(const uint8_t* validity, const arrow::ArrayData& array, const LeafSlots& slots, BitPlane* out);
  Status Repeat(const PathStep& step, const arrow::ArrayData& array, LeafSlots* slots);
  template <typename Elements>
  Status PlaceElements(const Elements& elements, LeafSlots* slots);
  template <typename Elements>
  void PlaceFewElements(const Elements& elements, const LeafSlots& slots);
  Status MarkFirsts();
  Status SpreadPlanes(LeafSlots* slots);
  Status FinishValues(LeafSlots* slots);
  void CountLevels(LeafSlots* slots) const;
  BitPlane* reached() { return levels_ == 0 ? nullptr : &definition_[levels_ - 1]; }

  const WrittenLeaf* leaf_;
  arrow::MemoryPool* pool_;
  std::vector<const arrow::ArrayData*> arrays_;  ///< one a step of the leaf's path
  std::shared_ptr<arrow::ArrayData> leaf_array_;
  const arrow::ArrayData* bound_ = nullptr;
  bool all_null_ = false;

  // The rows that are being described, down to a node of the path. A slot that has ended above the node stays, with 0
  // in the planes that follow.
  std::vector<BitPlane> definition_, repetition_;
  size_t levels_ = 0;  ///< definition planes that are made
  size_t lists_ = 0;   ///< repetition planes that are made
  size_t placed_ = 0;  ///< the plane, counted from 1, that says which slots the node's array has; 0: all
  BitPlane bits_, firsts_, filled_;
  PoolVector<int64_t> first_slots_;  ///< where the first element of each slot goes
  PoolVector<SlotRange> child_ranges_;
  int64_t new_slot_count_ = 0;
};

}  // namespace calve::parquet
