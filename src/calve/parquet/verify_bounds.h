#pragma once

#include "calve/parquet/metadata.h"
#include "calve/parquet/page_description.h"
#include "calve/parquet/value_order.h"
#include "calve/parquet/verify_report.h"

#include <string>
#include <string_view>

namespace calve::parquet {

/// Compares the bounds of a Statistics or of a page of a column index with what is there. `rule` comes before the names
/// of the rules ("statistics"). `facts`: complete.
///
/// A lower bound must not be above a value, an upper bound not below; one that is said to be exact must be a value. A
/// bound must be a value of the type: of its width, no NaN, UTF-8 where the values are.
class BoundsVerifier {
 public:
  BoundsVerifier(std::string rule, const ValueOrder& order, const PageDescription& facts, VerifyReport* report)
      : rule_(std::move(rule)), order_(order), facts_(facts), report_(report) {}

  void CheckMin(std::string_view bound, bool exact, const char* name = "min_value") const;
  void CheckMax(std::string_view bound, bool exact, const char* name = "max_value") const;
  /// Counts and bounds. Bounds under min_value and max_value count only when `type_defined_order`, the deprecated ones
  /// unless the file defines another order.
  void CheckStatistics(const Statistics& statistics, bool type_defined_order, bool other_order) const;

 private:
  /// Whether a bound is one at all.
  bool CheckForm(std::string_view bound, const char* name) const;
  std::string Rule(const char* name) const { return rule_ + "." + name; }

  const std::string rule_;
  const ValueOrder& order_;
  const PageDescription& facts_;
  VerifyReport* report_;
};

}  // namespace calve::parquet
