#pragma once

#include "calve/parquet/pool_vector.h"
#include "calve/parquet/validity_builder.h"
#include "calve/parquet/value_decoder.h"

#include <cstdint>
#include <memory>

namespace calve::parquet {

/// How the values and levels of a leaf column are held.
struct LeafLayout {
  bool binary = false;            ///< BYTE_ARRAY
  int64_t width = 0;              ///< bytes of a value otherwise
  bool keeps_definition = false;  ///< some ancestor is optional or repeated
  bool keeps_repetition = false;  ///< some ancestor is repeated
  int max_definition_level = 0;
  int exists_level = 0;  ///< entries of a lower definition level are no slot
};

/// Some rows of a leaf column: its array in Arrow's shape (but values as Parquet has them: booleans as bytes, decimals
/// as bytes), and the levels that its ancestors are assembled by.
struct LeafBatch {
  int64_t rows = 0;
  int64_t slots = 0;  ///< of the array
  int64_t null_count = 0;
  std::shared_ptr<arrow::Buffer> validity;  ///< null: no nulls
  std::shared_ptr<arrow::Buffer> values;    ///< slots * width bytes; of byte arrays their data
  std::shared_ptr<arrow::Buffer> offsets;   ///< slots + 1 int32, byte arrays only
  std::shared_ptr<arrow::Buffer> definition_levels, repetition_levels;  ///< a byte each; null: not kept
  int64_t levels_count = 0;
};

/// Collects the rows of a leaf column until a batch is taken.
class LeafValues {
 public:
  LeafValues(const LeafLayout& layout, arrow::MemoryPool* pool);
  Status Init();

  int64_t rows_begun() const { return rows_begun_; }
  int64_t slots() const { return slots_; }
  int64_t levels_count() const { return definition_.size(); }
  int64_t value_bytes() const { return layout_.binary ? binary_.data.size() : fixed_.size(); }

  /// Makes room for `slots` values of fixed width.
  Status ReserveFixed(int64_t slots) { return fixed_.Reserve(slots * layout_.width); }
  /// Decodes the values of the slots that were added to validity() since the last call. One of the decoders is null.
  Status AppendSlots(int64_t slots, FixedDecoder* fixed, BinaryDecoder* binary);
  /// Records levels, and rows that begin with them. `repetition` is null when it is not kept.
  Status AppendLevels(const uint8_t* definition, const uint8_t* repetition, int64_t count);
  void BeginRows(int64_t count) { rows_begun_ += count; }
  ValidityBuilder& validity() { return validity_; }

  /// The first `rows` rows; those after them stay.
  Result<LeafBatch> Take(int64_t rows);

 private:
  struct Cut {
    int64_t levels = 0, slots = 0;
  };
  Cut CutAfter(int64_t rows) const;
  Status MoveRest(const Cut& cut, LeafValues* rest);
  Result<LeafBatch> Finish(int64_t rows);

  LeafLayout layout_;
  arrow::MemoryPool* pool_;
  int64_t rows_begun_ = 0, slots_ = 0;
  ValidityBuilder validity_;
  PoolVector<uint8_t> fixed_;
  BinaryValues binary_;
  PoolVector<uint8_t> definition_, repetition_;
};

}  // namespace calve::parquet
