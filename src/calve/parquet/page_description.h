#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace calve::parquet {

/// The number of slots at each level: [max_level + 1].
using LevelHistogram = std::vector<int64_t>;

/// What a data page holds, for page indexes and size statistics. Where it lies follows from the pages before it.
struct PageDescription {
  int64_t row_count = 0;
  int64_t slot_count = 0;   ///< nulls and empty lists included: num_values of the header
  int64_t value_count = 0;  ///< slots at the largest definition level
  int64_t nan_count = 0;
  int64_t byte_array_bytes = 0;  ///< BYTE_ARRAY: the sum of the values' lengths
  /// Empty when the largest level is 0; that of definition levels also when it is 1, where the counts above say as
  /// much.
  LevelHistogram definition_histogram, repetition_histogram;
  /// PLAIN without a length before it, by the column's order, NaNs left out. Exact, or cut (`SetPageBounds`). None
  /// without such values, without an order, or when they are too long for an index.
  std::optional<std::string> min, max;

  int64_t null_count() const { return slot_count - value_count; }
};

}  // namespace calve::parquet
