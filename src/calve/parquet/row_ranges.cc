#include "calve/parquet/row_ranges.h"

#include "calve/base/status.h"

#include <arrow/util/bit_run_reader.h>

#include <algorithm>

namespace calve::parquet {
namespace {

using Iterator = std::vector<RowRange>::const_iterator;

/// The first range that ends behind `row`.
Iterator FirstEndingAfter(const std::vector<RowRange>& ranges, int64_t row) {
  return std::upper_bound(ranges.begin(), ranges.end(), row,
                          [](int64_t value, const RowRange& range) { return value < range.end; });
}

}  // namespace

RowRanges RowRanges::Of(int64_t begin, int64_t end) {
  RowRanges result;
  result.Append({begin, end});
  return result;
}

arrow::Result<RowRanges> RowRanges::Make(const std::vector<RowRange>& ranges) {
  RowRanges result;
  int64_t last = 0;
  for (const RowRange& range : ranges) {
    if (range.begin < last || range.end < range.begin) {
      return Invalid("row range [{}, {}) is out of order, behind row {}", range.begin, range.end, last);
    }
    result.Append(range);
    last = range.end;
  }
  return result;
}

RowRanges RowRanges::OfPages(std::span<const int64_t> first_rows, int64_t num_rows, const std::vector<bool>& kept) {
  RowRanges result;
  for (size_t i = 0; i < first_rows.size(); ++i) {
    const int64_t end = i + 1 < first_rows.size() ? first_rows[i + 1] : num_rows;
    if (kept[i]) result.Append({first_rows[i], end});
  }
  return result;
}

void RowRanges::Append(RowRange range) {
  if (range.begin >= range.end) return;
  count_ += range.count();
  if (!ranges_.empty() && ranges_.back().end == range.begin) {
    ranges_.back().end = range.end;
  } else {
    ranges_.push_back(range);
  }
}

bool RowRanges::Overlaps(int64_t begin, int64_t end) const {
  const auto range = FirstEndingAfter(ranges_, begin);
  return range != ranges_.end() && range->begin < end && begin < end;
}

RowRanges RowRanges::Slice(int64_t offset, int64_t count) const {
  RowRanges result;
  for (const RowRange& range : ranges_) {
    if (count <= 0) break;
    const int64_t skipped = std::min(offset, range.count());
    const int64_t taken = std::min(count, range.count() - skipped);
    result.Append({range.begin + skipped, range.begin + skipped + taken});
    offset -= skipped;
    count -= taken;
  }
  return result;
}

RowRanges RowRanges::Shifted(int64_t by) const {
  RowRanges result = *this;
  for (RowRange& range : result.ranges_) {
    range.begin += by;
    range.end += by;
  }
  return result;
}

RowRanges RowRanges::Masked(const uint8_t* bits, int64_t bit_offset) const {
  RowRanges result;
  for (const RowRange& range : ranges_) {
    arrow::internal::SetBitRunReader runs(bits, bit_offset, range.count());
    for (auto run = runs.NextRun(); run.length > 0; run = runs.NextRun()) {
      result.Append({range.begin + run.position, range.begin + run.position + run.length});
    }
    bit_offset += range.count();
  }
  return result;
}

RowRanges Intersect(const RowRanges& left, const RowRanges& right) {
  RowRanges result;
  auto a = left.ranges().begin(), b = right.ranges().begin();
  while (a != left.ranges().end() && b != right.ranges().end()) {
    result.Append({std::max(a->begin, b->begin), std::min(a->end, b->end)});
    a->end < b->end ? ++a : ++b;
  }
  return result;
}

RowRanges Union(const RowRanges& left, const RowRanges& right) {
  std::vector<RowRange> all = left.ranges();
  all.insert(all.end(), right.ranges().begin(), right.ranges().end());
  std::sort(all.begin(), all.end(), [](const RowRange& a, const RowRange& b) { return a.begin < b.begin; });
  RowRanges result;
  for (RowRange range : all) {
    range.begin = std::max(range.begin, result.end());
    result.Append(range);
  }
  return result;
}

}  // namespace calve::parquet
