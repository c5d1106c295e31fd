#include "calve/shuffle/row_order.h"

#include "calve/base/status.h"

#include <algorithm>
#include <utility>

namespace calve::shuffle {

Status RowOrder::Sort(std::span<const uint32_t> partition_of_row, int32_t partitions) {
  const auto count = static_cast<size_t>(partitions);
  starts.assign(count + 1, 0);
  for (const uint32_t partition : partition_of_row) {
    if (partition >= count) return Invalid("a row was assigned to partition {} of {}", partition, partitions);
    ++starts[partition];
  }
  uint32_t start = 0;
  for (uint32_t& next : starts) start += std::exchange(next, start);
  positions.resize(partition_of_row.size());
  rows.resize(partition_of_row.size());
  for (size_t row = 0; row < partition_of_row.size(); ++row) {
    const uint32_t position = starts[partition_of_row[row]]++;
    positions[row] = position;
    rows[position] = static_cast<uint32_t>(row);
  }
  // Each start has moved to the next partition's.
  std::copy_backward(starts.begin(), starts.end() - 1, starts.end());
  starts[0] = 0;
  return Status::OK();
}

}  // namespace calve::shuffle
