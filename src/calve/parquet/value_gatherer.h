#pragma once

#include "calve/parquet/levels_writer.h"
#include "calve/parquet/pool_vector.h"
#include "calve/parquet/schema_writer.h"

#include <arrow/array/data.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace calve::parquet {

/// Gathers the values of a leaf as Parquet's physical type has them, nulls left out.
///
/// T: uint8_t (BOOLEAN, 0 or 1), int32_t, int64_t, float, double, std::string_view (BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY;
/// into the array where its bytes are already those of the file).
template <typename T>
class ValueGatherer {
 public:
  ValueGatherer(const WrittenLeaf* leaf, arrow::MemoryPool* pool)
      : leaf_(leaf),
        values_(pool),
        bytes_(pool),
        entries_(pool),
        entry_bytes_(pool),
        entry_positions_(pool),
        positions_(pool) {}

  /// Takes the leaf's array, which must outlive the calls of Gather. An array with the same dictionary as the one
  /// before does not convert it again.
  Status Bind(const arrow::ArrayData& array);
  /// Lets go of the array; then only slots without values may be gathered.
  void Unbind() { array_ = nullptr; }
  /// The values, in the array itself where they lie there as the file has them. Valid until the next call. Invalid
  /// when one does not fit the physical type.
  Result<std::span<const T>> Gather(const ValueSlots& slots);

  /// Of a dictionary's array: the values that are not null, each once a slot of the dictionary.
  bool has_entries() const { return array_ != nullptr && array_->dictionary != nullptr; }
  std::span<const T> entries() const { return entries_.span(); }
  /// Counts the dictionaries that were converted.
  int64_t entries_generation() const { return entries_generation_; }
  /// Which of the entries each value is.
  Result<std::span<const uint32_t>> GatherPositions(const ValueSlots& slots);

 private:
  bool IsStoredAsWritten() const;
  template <typename Index>
  Status GatherPositionsAs(const ValueSlots& slots);

  const WrittenLeaf* leaf_;
  const arrow::ArrayData* array_ = nullptr;
  PoolVector<T> values_;
  ByteBuffer bytes_;  ///< converted bytes that `values_` point to
  /// The dictionary's values, and where each of its slots has its own (-1: null).
  std::shared_ptr<arrow::ArrayData> dictionary_;
  PoolVector<T> entries_;
  ByteBuffer entry_bytes_;
  PoolVector<int64_t> entry_positions_;
  PoolVector<uint32_t> positions_;
  int64_t entries_generation_ = 0;
};

}  // namespace calve::parquet
