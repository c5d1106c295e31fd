#include "calve/parquet/verify_report.h"

namespace calve {
namespace parquet {

std::string VerifyReport::Where() const {
  if (row_group_ < 0) return "";
  if (column_.empty()) return fmt::format("row group {}: ", row_group_);
  if (page_ < 0) return fmt::format("row group {}, column '{}': ", row_group_, column_);
  return fmt::format("row group {}, column '{}', page {} at byte {}: ", row_group_, column_, page_, offset_);
}

void VerifyReport::MoveTo(int64_t most, ParquetVerification* out) {
  for (ParquetViolation& violation : violations_) {
    if (static_cast<int64_t>(out->violations.size()) >= most) break;
    out->violations.push_back(std::move(violation));
  }
  for (std::string& why : not_checked_) out->not_checked.push_back(std::move(why));
  out->violation_count += count_;
  out->pages += pages;
  out->values += values;
  count_ = pages = values = 0;
  violations_.clear();
  not_checked_.clear();
}

}  // namespace parquet

std::string ToString(const ParquetViolation& violation) {
  std::string where;
  if (violation.row_group >= 0) where += fmt::format("row group {}", violation.row_group);
  if (!violation.column.empty()) where += fmt::format("{}column '{}'", where.empty() ? "" : ", ", violation.column);
  if (violation.page >= 0) where += fmt::format(", page {} at byte {}", violation.page, violation.offset);
  if (!where.empty()) where += ": ";
  return fmt::format("{}{}: said {}, is {}", where, violation.rule, violation.said, violation.is);
}

}  // namespace calve
