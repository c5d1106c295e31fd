#pragma once

#include "calve/parquet_reader.h"

#include <cstdint>
#include <span>
#include <vector>

namespace calve::parquet {

/// A set of rows as sorted ranges that neither touch nor overlap; what they count from (a file, a row group) is told
/// where they stand.
class RowRanges {
 public:
  RowRanges() = default;  ///< no row
  /// The rows [begin, end).
  static RowRanges Of(int64_t begin, int64_t end);
  /// Invalid when a range is negative or ends before it begins, or one begins before the last has ended. Empty ranges
  /// are dropped, those that touch joined.
  static arrow::Result<RowRanges> Make(const std::vector<RowRange>& ranges);
  /// The rows of the pages with `kept[i]`. Page i has the rows [first_rows[i], first_rows[i + 1]), the last one those
  /// up to `num_rows`.
  static RowRanges OfPages(std::span<const int64_t> first_rows, int64_t num_rows, const std::vector<bool>& kept);

  /// Adds rows behind all others.
  void Append(RowRange range);

  const std::vector<RowRange>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  int64_t count() const { return count_; }
  int64_t begin() const { return empty() ? 0 : ranges_.front().begin; }
  int64_t end() const { return empty() ? 0 : ranges_.back().end; }
  /// True when a row of [begin, end) is in the set.
  bool Overlaps(int64_t begin, int64_t end) const;

  /// The `count` rows from the `offset`-th on; fewer where the set ends.
  RowRanges Slice(int64_t offset, int64_t count) const;
  /// The same rows counted from elsewhere: `by` is added to each.
  RowRanges Shifted(int64_t by) const;
  /// The rows whose bit is set: bit i of `bits` (LSB first, bit 0 at `bit_offset`) is of the i-th row.
  RowRanges Masked(const uint8_t* bits, int64_t bit_offset) const;

  bool operator==(const RowRanges& other) const { return ranges_ == other.ranges_; }

 private:
  std::vector<RowRange> ranges_;
  int64_t count_ = 0;
};

RowRanges Intersect(const RowRanges& left, const RowRanges& right);
RowRanges Union(const RowRanges& left, const RowRanges& right);

}  // namespace calve::parquet
