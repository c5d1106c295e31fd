#include "calve/iceberg/partition_summary.h"

#include <cmath>

namespace calve::iceberg {
namespace {

bool IsNegativeZero(const Value& value) {
  if (const auto* number = std::get_if<float>(&value)) return *number == 0 && std::signbit(*number);
  if (const auto* number = std::get_if<double>(&value)) return *number == 0 && std::signbit(*number);
  return false;
}

/// The order of bounds: -0.0 comes before +0.0.
bool Less(const Value& left, const Value& right) {
  auto order = Compare(left, right);
  if (order == std::partial_ordering::equivalent) return IsNegativeZero(left) && !IsNegativeZero(right);
  return order == std::partial_ordering::less;
}

}  // namespace

void PartitionSummaries::Add(const std::vector<Value>& partition) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    const auto& value = partition[i];
    auto& field = fields_[i];
    if (IsNull(value)) {
      field.contains_null = true;
    } else if (IsNaN(value)) {
      field.contains_nan = true;
    } else {
      if (IsNull(field.lower) || Less(value, field.lower)) field.lower = value;
      if (IsNull(field.upper) || Less(field.upper, value)) field.upper = value;
    }
  }
}

Result<std::vector<FieldSummary>> PartitionSummaries::Finish() const {
  std::vector<FieldSummary> summaries;
  for (size_t i = 0; i < fields_.size(); ++i) {
    FieldSummary summary;
    summary.contains_null = fields_[i].contains_null;
    summary.contains_nan = fields_[i].contains_nan;
    if (!IsNull(fields_[i].lower)) {
      ARROW_ASSIGN_OR_RAISE(summary.lower_bound, ValueToBytes(*types_[i], fields_[i].lower));
      ARROW_ASSIGN_OR_RAISE(summary.upper_bound, ValueToBytes(*types_[i], fields_[i].upper));
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace calve::iceberg
