#include "calve/parquet/verify_bounds.h"

#include "calve/parquet/utf8.h"

namespace calve::parquet {

bool BoundsVerifier::CheckForm(std::string_view bound, const char* name) const {
  if (order_.width() > 0 && bound.size() != order_.width()) {
    report_->Add(Rule(name), fmt::format("a bound of {} bytes", bound.size()),
                 fmt::format("a type of {} bytes", order_.width()));
    return false;
  }
  if (order_.IsNan(bound)) {
    report_->Add(Rule(name), "NaN", "bounds leave NaNs out");
    return false;
  }
  if (order_.is_text() && !IsUtf8(bound)) report_->Add(Rule(name), order_.Text(bound), "text: bounds are UTF-8 too");
  return true;
}

void BoundsVerifier::CheckMin(std::string_view bound, bool exact, const char* name) const {
  if (!order_.is_defined() || !CheckForm(bound, name) || !facts_.min) return;
  const int comparison = order_.Compare(bound, *facts_.min);
  if (comparison > 0) report_->Add(Rule(name), order_.Text(bound), order_.Text(*facts_.min));
  if (comparison < 0 && exact) {
    report_->Add(Rule("is_min_value_exact"), fmt::format("exactly {}", order_.Text(bound)), order_.Text(*facts_.min));
  }
}

void BoundsVerifier::CheckMax(std::string_view bound, bool exact, const char* name) const {
  if (!order_.is_defined() || !CheckForm(bound, name) || !facts_.max) return;
  const int comparison = order_.Compare(bound, *facts_.max);
  if (comparison < 0) report_->Add(Rule(name), order_.Text(bound), order_.Text(*facts_.max));
  if (comparison > 0 && exact) {
    report_->Add(Rule("is_max_value_exact"), fmt::format("exactly {}", order_.Text(bound)), order_.Text(*facts_.max));
  }
}

void BoundsVerifier::CheckStatistics(const Statistics& statistics, bool type_defined_order, bool other_order) const {
  if (statistics.null_count) report_->Compare(Rule("null_count"), *statistics.null_count, facts_.null_count());
  if (statistics.nan_count && order_.has_nans()) {
    report_->Compare(Rule("nan_count"), *statistics.nan_count, facts_.nan_count);
  }
  if (statistics.distinct_count &&
      (*statistics.distinct_count < 0 || *statistics.distinct_count > facts_.value_count)) {
    report_->Add(Rule("distinct_count"), *statistics.distinct_count, fmt::format("{} values", facts_.value_count));
  }
  if (type_defined_order) {
    if (statistics.min_value) CheckMin(*statistics.min_value, statistics.is_min_value_exact.value_or(false));
    if (statistics.max_value) CheckMax(*statistics.max_value, statistics.is_max_value_exact.value_or(false));
  }
  // The deprecated members were compared signed, whatever the type.
  if (order_.is_signed() && !other_order) {
    if (statistics.min) CheckMin(*statistics.min, false, "min");
    if (statistics.max) CheckMax(*statistics.max, false, "max");
  }
}

}  // namespace calve::parquet
