#include "calve/parquet/row_cursor.h"

#include <algorithm>

namespace calve::parquet {

Result<int64_t> RowCursor::Fill(const RowRanges& wanted, int64_t count) {
  int64_t passed = 0;  // rows of `wanted` in the ranges before
  for (const RowRange& range : wanted.ranges()) {
    if (held_ >= count) break;
    const int64_t end = passed + range.count();
    if (held_ < end) {
      ARROW_RETURN_NOT_OK(GoTo(range.begin + held_ - passed));
      const int64_t asked = std::min(end, count);
      ARROW_ASSIGN_OR_RAISE(const int64_t filled, column_->Fill(asked));
      next_row_ += filled - held_;
      held_ = filled;
      if (filled < asked) break;
    }
    passed = end;
  }
  return std::min(held_, count);
}

Result<int64_t> RowCursor::FillNext(int64_t count) {
  ARROW_ASSIGN_OR_RAISE(const int64_t filled, column_->Fill(count));
  next_row_ += filled - held_;
  held_ = filled;
  return filled;
}

Result<LeafBatch> RowCursor::Take(int64_t count) {
  held_ -= count;
  return column_->Take(count);
}

Status RowCursor::GoTo(int64_t row) {
  const int64_t skipped = PresentBetween(next_row_, row);
  next_row_ = row;
  return skipped > 0 ? column_->Skip(skipped) : Status::OK();
}

int64_t RowCursor::PresentBetween(int64_t begin, int64_t end) {
  if (!present_) return end - begin;
  const auto& ranges = present_->ranges();
  int64_t rows = 0;
  for (; range_ < ranges.size() && ranges[range_].begin < end; ++range_) {
    rows += std::min(end, ranges[range_].end) - std::max(begin, ranges[range_].begin);
    if (ranges[range_].end > end) break;
  }
  return rows;
}

}  // namespace calve::parquet
