#pragma once

#include "calve/parquet/dictionary.h"
#include "calve/parquet/dictionary_decoder.h"
#include "calve/parquet/leaf_layout.h"
#include "calve/parquet/pool_vector.h"
#include "calve/parquet/validity_builder.h"
#include "calve/parquet/value_decoder.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace calve::parquet {

/// Some rows of a leaf column: its array in Arrow's shape (but booleans as bytes, and decimals that are byte arrays as
/// those), and the levels that its ancestors are assembled by.
struct LeafBatch {
  int64_t rows = 0;
  int64_t slots = 0;  ///< of the array
  int64_t null_count = 0;
  std::shared_ptr<arrow::Buffer> validity;  ///< null: no nulls
  std::shared_ptr<arrow::Buffer> values;    ///< slots * width bytes, views or indices; of byte arrays their data
  std::shared_ptr<arrow::Buffer> offsets;   ///< slots + 1 int32, byte arrays only
  std::vector<std::shared_ptr<arrow::Buffer>> view_buffers;             ///< what views point into
  std::shared_ptr<arrow::ArrayData> dictionary;                         ///< what indices point into
  std::shared_ptr<arrow::Buffer> definition_levels, repetition_levels;  ///< a byte each; null: not kept
  int64_t levels_count = 0;
};

/// The values of a data page, being decoded. One of the first three is set.
struct PageValues {
  std::unique_ptr<FixedDecoder> fixed;
  std::unique_ptr<BinaryDecoder> binary;
  std::optional<IndexReader> indices;            ///< of kIndices, when the page is dictionary-encoded
  std::shared_ptr<const Dictionary> dictionary;  ///< what `indices` point into
  std::shared_ptr<arrow::Buffer> memory;         ///< holds the bytes being decoded

  Status Skip(int64_t count);
};

/// Collects the rows of a leaf column until a batch is taken.
class LeafValues {
 public:
  LeafValues(const LeafLayout& layout, arrow::MemoryPool* pool);
  Status Init();

  int64_t rows_begun() const { return rows_begun_; }
  int64_t slots() const { return slots_; }
  int64_t levels_count() const { return definition_.size(); }
  int64_t value_bytes() const;
  /// Whether the values of `page` can be added without copying a dictionary; otherwise a batch had better end here.
  bool Continues(const PageValues& page) const;

  /// Makes room for `slots` values, where they are of one width.
  Status ReserveSlots(int64_t slots);
  /// Makes room for the slots and levels of a batch that is about to begin: about as many as the one before had, or
  /// `entries` where there was none.
  Status ReserveBatch(int64_t entries);
  /// Decodes the values of the slots that were added to validity() since the last call.
  Status AppendSlots(int64_t slots, PageValues* page);
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
  /// What indices point into: nothing yet, a dictionary that may be shared, or values that were collected here.
  enum class Source { kNone, kShared, kOwn };

  Status AppendFixed(int64_t slots, int64_t nulls, FixedDecoder* values);
  Status AppendBinary(int64_t slots, int64_t nulls, BinaryDecoder* values);
  Status AppendViews(int64_t slots, int64_t nulls, const PageValues& page);
  Status AppendIndices(int64_t slots, int64_t nulls, PageValues* page);
  Status OwnValues(PageValues* page, int64_t count, uint32_t* indices);
  Status OwnDictionary(const Dictionary& dictionary);
  int64_t own_count() const;
  Status ShareOwn();
  void SpreadSlots(uint8_t* first, int64_t width, int64_t slots, int64_t nulls);
  Cut CutAfter(int64_t rows) const;
  Status MoveRest(const Cut& cut, LeafValues* rest);
  Result<LeafBatch> Finish(int64_t rows);

  LeafLayout layout_;
  int64_t width_;  ///< of a slot in fixed_
  arrow::MemoryPool* pool_;
  int64_t rows_begun_ = 0, slots_ = 0, nulls_ = 0;
  ValidityBuilder validity_;
  PoolVector<uint8_t> fixed_;  ///< kFixed: values; kIndices: indices
  BinaryValues binary_;        ///< kOffsets: values
  int64_t last_bytes_ = 0;     ///< of binary_ in the batch before: the next will need about as many
  Cut last_;                   ///< the same of slots and levels, where levels are kept
  ViewValues views_;           ///< kViews: values
  PoolVector<uint8_t> definition_, repetition_;

  Source source_ = Source::kNone;
  std::shared_ptr<const Dictionary> dictionary_;    ///< kShared
  std::shared_ptr<arrow::ArrayData> shared_array_;  ///< of dictionary_
  PoolVector<uint8_t> own_fixed_;                   ///< kOwn
  BinaryValues own_binary_;
};

}  // namespace calve::parquet
