#pragma once

#include <arrow/result.h>

#include <cstdint>
#include <span>
#include <vector>

namespace calve::shuffle {

/// Where rows go when they are put in the order of their partitions, those of one in the order in which they came.
struct RowOrder {
  std::vector<uint32_t> starts;     ///< partitions + 1: where the rows of each partition begin
  std::vector<uint32_t> positions;  ///< of each row
  std::vector<uint32_t> rows;       ///< at each position

  /// A counting sort. Invalid when a row goes to no partition.
  arrow::Status Sort(std::span<const uint32_t> partition_of_row, int32_t partitions);
};

}  // namespace calve::shuffle
