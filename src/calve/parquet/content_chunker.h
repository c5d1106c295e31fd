#pragma once

#include "calve/parquet/levels_writer.h"
#include "calve/parquet_writer.h"

#include <cstdint>
#include <span>

namespace calve::parquet {

/// Finds places between rows that depend on the levels and values just before them and on nothing else, so that the
/// same rows are cut alike wherever they stand.
///
/// A hash rolls over the last 64 slots (each doubles it and adds what the slot mixes to). A slot ends a chunk when the
/// hash is below what its bytes are worth, so that places lie (min + max) / 2 bytes apart on average whatever the width
/// of the values; none before `min_bytes`, and one at `max_bytes` at the latest.
class ContentChunker {
 public:
  explicit ContentChunker(const ParquetContentChunking& options);

  /// Begins anew.
  void Reset() {
    hash_ = 0;
    bytes_ = 0;
    at_end_ = false;
  }
  /// Rolls over the slots of some rows with their values, and returns how many of the rows come before a place; all
  /// when there is none. The slots of the rows from there on have not been rolled over. T as in ValueGatherer.
  template <typename T>
  int64_t RowsBeforeCut(const LeafSlots& slots, int max_definition_level, std::span<const T> values);

  /// What a value is to the hash.
  struct Weight {
    uint64_t mixed;
    int64_t bytes;
  };
  template <typename T>
  static Weight WeightOf(const T& value);
  /// The same for the values that stand at `positions` of those that `weights` are of.
  int64_t RowsBeforeCut(const LeafSlots& slots, int max_definition_level, std::span<const Weight> weights,
                        std::span<const uint32_t> positions);

 private:
  template <typename NextWeight>
  int64_t RollRows(const LeafSlots& slots, int max_definition_level, NextWeight&& next_weight);
  /// Takes in rows that are null, up to `count`, and ends with one that a place is behind. Returns how many.
  int64_t RollNulls(int64_t count);
  /// Takes a slot in.
  void Roll(uint64_t mixed, int64_t bytes);

  const int64_t min_bytes_, max_bytes_;
  double odds_before_, odds_after_;  ///< of a place, for each byte; before and after the middle, out of 2^32
  uint64_t hash_ = 0;
  int64_t bytes_ = 0;    ///< since the last place
  bool at_end_ = false;  ///< a place was found, at the end of the row that the last slot belongs to
};

}  // namespace calve::parquet
