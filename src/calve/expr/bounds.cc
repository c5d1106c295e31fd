#include "calve/expr/bounds.h"

#include "calve/expr/domain.h"

#include <algorithm>
#include <string_view>

namespace calve::expr {
namespace {

using Order = std::partial_ordering (*)(const Value&, const Value&);

/// Java's older order of UUIDs: two signed 64-bit halves.
std::partial_ordering CompareSignedHalves(const Value& left, const Value& right) {
  constexpr size_t kHalf = 8;
  const auto flipped = [](const Value& value) -> Value {
    const auto* bytes = std::get_if<std::string>(&value);
    if (bytes == nullptr || bytes->size() != 2 * kHalf) return {};
    std::string copy = *bytes;
    copy[0] = static_cast<char>(copy[0] ^ 0x80);
    copy[kHalf] = static_cast<char>(copy[kHalf] ^ 0x80);
    return copy;
  };
  return Compare(flipped(left), flipped(right));
}

/// What is known of the column of one test, made safe to rely on.
class Facts {
 public:
  Facts(const ColumnRef& column, const ColumnBounds& bounds, Order order)
      : bounds_(bounds), order_(order), floating_(column.type == nullptr || DomainOf(*column.type).is_floating()) {
    const bool reversed = order_(bounds.lower, bounds.upper) == std::partial_ordering::greater;
    has_bounds_ = !reversed && !IsNaN(bounds.lower) && !IsNaN(bounds.upper);
  }

  const Value& lower() const { return bounds_.lower; }
  const Value& upper() const { return bounds_.upper; }

  bool no_nulls() const { return bounds_.null_count == 0; }
  bool only_nulls() const { return has_count() && bounds_.null_count == bounds_.value_count; }
  bool no_nans() const { return !floating_ || bounds_.nan_count == 0; }
  bool only_nans() const { return floating_ && has_count() && bounds_.nan_count == bounds_.value_count; }
  bool only_nulls_and_nans() const {
    const int64_t empty = bounds_.null_count.value_or(0) + (floating_ ? bounds_.nan_count.value_or(0) : 0);
    return has_count() && empty == *bounds_.value_count;
  }

  /// These four are false when the bound is not known.
  bool LowerAbove(const Value& value) const { return has_bounds_ && order_(lower(), value) > 0; }
  bool LowerAtOrAbove(const Value& value) const { return has_bounds_ && order_(lower(), value) >= 0; }
  bool UpperBelow(const Value& value) const { return has_bounds_ && order_(upper(), value) < 0; }
  bool UpperAtOrBelow(const Value& value) const { return has_bounds_ && order_(upper(), value) <= 0; }

  bool Outside(const Value& value) const { return LowerAbove(value) || UpperBelow(value); }
  bool AllEqual(const Value& value) const { return LowerAtOrAbove(value) && UpperAtOrBelow(value); }

  bool AllStartWith(const Value& prefix) const {
    return has_bounds_ && StartsWith(lower(), prefix) && StartsWith(upper(), prefix);
  }
  bool NoneStartsWith(const Value& prefix) const {
    return UpperBelow(prefix) || (LowerAbove(prefix) && !StartsWith(lower(), prefix));
  }

 private:
  static bool StartsWith(const Value& value, const Value& prefix) {
    const auto* text = std::get_if<std::string>(&value);
    const auto* start = std::get_if<std::string>(&prefix);
    return text != nullptr && start != nullptr && text->starts_with(*start);
  }

  bool has_count() const { return bounds_.value_count.value_or(-1) >= 0; }

  const ColumnBounds& bounds_;
  Order order_;
  bool floating_;
  bool has_bounds_ = false;
};

/// Whether one of the values that are neither null nor NaN may pass, told by the bounds.
bool NumberMightPass(const Node& test, const Facts& facts) {
  const std::vector<Value>& values = test.values;
  switch (test.op) {
    case Op::kEqual:
      return !facts.Outside(values.front());
    case Op::kNotEqual:
      return !facts.AllEqual(values.front());
    case Op::kLess:
      return !facts.LowerAtOrAbove(values.front());
    case Op::kLessEqual:
      return !facts.LowerAbove(values.front());
    case Op::kGreater:
      return !facts.UpperAtOrBelow(values.front());
    case Op::kGreaterEqual:
      return !facts.UpperBelow(values.front());
    case Op::kIn:
      return std::ranges::any_of(values, [&](const Value& value) { return !facts.Outside(value); });
    case Op::kNotIn:
      return std::ranges::none_of(values, [&](const Value& value) { return facts.AllEqual(value); });
    case Op::kStartsWith:
      return !facts.NoneStartsWith(values.front());
    case Op::kNotStartsWith:
      return !facts.AllStartWith(values.front());
    default:
      return true;
  }
}

/// Whether all values that are neither null nor NaN pass, told by the bounds.
bool NumbersAllPass(const Node& test, const Facts& facts) {
  const std::vector<Value>& values = test.values;
  switch (test.op) {
    case Op::kEqual:
      return facts.AllEqual(values.front());
    case Op::kNotEqual:
      return facts.Outside(values.front());
    case Op::kLess:
      return facts.UpperBelow(values.front());
    case Op::kLessEqual:
      return facts.UpperAtOrBelow(values.front());
    case Op::kGreater:
      return facts.LowerAbove(values.front());
    case Op::kGreaterEqual:
      return facts.LowerAtOrAbove(values.front());
    case Op::kIn:
      return std::ranges::any_of(values, [&](const Value& value) { return facts.AllEqual(value); });
    case Op::kNotIn:
      return std::ranges::all_of(values, [&](const Value& value) { return facts.Outside(value); });
    case Op::kStartsWith:
      return facts.AllStartWith(values.front());
    case Op::kNotStartsWith:
      return facts.NoneStartsWith(values.front());
    default:
      return false;
  }
}

/// Whether a NaN passes: it is above all numbers.
bool NaNPasses(Op op) {
  return op == Op::kNotEqual || op == Op::kGreater || op == Op::kGreaterEqual || op == Op::kNotIn;
}

bool MightPass(const Node& test, const Facts& facts) {
  switch (test.op) {
    case Op::kIsNull:
      return !facts.no_nulls();
    case Op::kNotNull:
      return !facts.only_nulls();
    case Op::kIsNaN:
      return !facts.no_nans() && !facts.only_nulls();
    case Op::kNotNaN:
      return !facts.only_nans();
    default:
      break;
  }
  if (test.values.empty()) return true;
  if (facts.only_nulls()) return false;
  if (NaNPasses(test.op) && !facts.no_nans()) return true;
  return !facts.only_nulls_and_nans() && NumberMightPass(test, facts);
}

bool AllPass(const Node& test, const Facts& facts) {
  switch (test.op) {
    case Op::kIsNull:
      return facts.only_nulls();
    case Op::kNotNull:
      return facts.no_nulls();
    case Op::kIsNaN:
      return facts.only_nans();
    case Op::kNotNaN:
      return facts.no_nans();
    default:
      break;
  }
  if (test.values.empty() || !facts.no_nulls()) return false;
  return (NaNPasses(test.op) || facts.no_nans()) && NumbersAllPass(test, facts);
}

bool IsUuid(const ColumnRef& column) {
  return column.type != nullptr && DomainOf(*column.type).kind == Domain::Kind::kUuid;
}

}  // namespace

std::optional<ColumnBounds> BoundsOfPositions(int64_t first, int64_t rows) {
  if (rows <= 0) return std::nullopt;
  ColumnBounds bounds;
  bounds.value_count = rows;
  bounds.null_count = bounds.nan_count = 0;
  bounds.lower = first;
  bounds.upper = first + rows - 1;
  return bounds;
}

bool MightMatch(const NodePtr& node, const BoundsLookup& lookup) {
  const auto child_might = [&](const NodePtr& child) { return MightMatch(child, lookup); };
  switch (node->op) {
    case Op::kTrue:
      return true;
    case Op::kFalse:
      return false;
    case Op::kAnd:
      return std::ranges::all_of(node->children, child_might);
    case Op::kOr:
      return std::ranges::any_of(node->children, child_might);
    case Op::kNot:
      return true;
    default:
      break;
  }
  const auto bounds = lookup(node->column);
  if (!bounds) return true;
  return MightPass(*node, Facts(node->column, *bounds, Compare)) ||
         (IsUuid(node->column) && MightPass(*node, Facts(node->column, *bounds, CompareSignedHalves)));
}

bool AllMatch(const NodePtr& node, const BoundsLookup& lookup) {
  const auto child_all = [&](const NodePtr& child) { return AllMatch(child, lookup); };
  switch (node->op) {
    case Op::kTrue:
      return true;
    case Op::kFalse:
      return false;
    case Op::kAnd:
      return std::ranges::all_of(node->children, child_all);
    case Op::kOr:
      return std::ranges::any_of(node->children, child_all);
    case Op::kNot:
      return false;
    default:
      break;
  }
  const auto bounds = lookup(node->column);
  if (!bounds) return false;
  return AllPass(*node, Facts(node->column, *bounds, Compare)) &&
         (!IsUuid(node->column) || AllPass(*node, Facts(node->column, *bounds, CompareSignedHalves)));
}

}  // namespace calve::expr
