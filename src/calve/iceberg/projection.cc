// Inclusive projection ("Scan Planning"). With t the transform, p the partition value, and t never decreasing:
//
//   x <  v   ->  p <= t(v - 1)         x =  v      ->  p =  t(v)
//   x <= v   ->  p <= t(v)             x IN (v..)  ->  p IN (t(v)..)
//   x >  v   ->  p >= t(v + 1)         others      ->  p IS NOT NULL
//   x >= v   ->  p >= t(v)
//
// Bucket does not keep the order: of these only = and IN hold. NULL tests hold for all transforms but void, since null
// and only null becomes null. Old Java writers rounded years, months, days and hours before 1970 up instead of down, so
// upper limits and equal values below zero take the next value in, too.

#include "calve/base/status.h"
#include "calve/expr/literal.h"
#include "calve/iceberg/partition.h"

#include <algorithm>
#include <limits>

namespace calve::iceberg {
namespace {

using expr::Node;
using expr::NodePtr;
using expr::Op;

bool IsTemporal(TransformKind kind) {
  return kind == TransformKind::kYear || kind == TransformKind::kMonth || kind == TransformKind::kDay ||
         kind == TransformKind::kHour;
}

/// The value before or after, nothing where there is none (the type's end, or text).
std::optional<Value> Neighbour(const Value& value, int step) {
  const auto beside = [step](auto number) -> std::optional<Value> {
    using Limits = std::numeric_limits<decltype(number)>;
    if (number == (step < 0 ? Limits::min() : Limits::max())) return std::nullopt;
    return static_cast<decltype(number)>(number + step);
  };
  if (const auto* number = std::get_if<int32_t>(&value)) return beside(*number);
  if (const auto* number = std::get_if<int64_t>(&value)) return beside(*number);
  if (const auto* number = std::get_if<arrow::Decimal128>(&value)) return *number + arrow::Decimal128(step);
  return std::nullopt;
}

void RemoveRepeated(std::vector<Value>* values) {
  std::ranges::sort(*values, [](const Value& left, const Value& right) { return Compare(left, right) < 0; });
  const auto repeated = std::ranges::unique(*values, SameValue);
  values->erase(repeated.begin(), repeated.end());
}

size_t CharactersIn(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Projects tests of one source column onto one partition field.
class FieldProjection {
 public:
  FieldProjection(const PartitionField& field, const Type& source, expr::ColumnRef column)
      : field_(field), source_(source), column_(std::move(column)) {}

  NodePtr Project(const Node& test) const {
    switch (test.op) {
      case Op::kIsNull:
      case Op::kNotNull:
        return expr::Test(test.op, column_);
      case Op::kIsNaN:
      case Op::kNotNaN:
        return field_.transform.kind == TransformKind::kIdentity ? expr::Test(test.op, column_) : expr::True();
      default:
        break;
    }
    switch (field_.transform.kind) {
      case TransformKind::kIdentity:
        return expr::Test(test.op, column_, test.values);
      case TransformKind::kBucket:
        return ProjectEquality(test);
      case TransformKind::kTruncate:
        return source_.id == TypeId::kString || source_.id == TypeId::kBinary ? ProjectPrefix(test)
                                                                              : ProjectOrdered(test);
      default:
        return ProjectTemporal(test);
    }
  }

 private:
  NodePtr NotNull() const { return expr::Test(Op::kNotNull, column_); }

  std::optional<Value> Transformed(const Value& value) const {
    auto transformed = Apply(field_.transform, source_, value);
    return transformed.ok() ? std::optional(*transformed) : std::nullopt;
  }

  NodePtr ProjectEquality(const Node& test) const {
    if (test.op != Op::kEqual && test.op != Op::kIn) return NotNull();
    std::vector<Value> values;
    for (const Value& value : test.values) {
      const auto transformed = Transformed(value);
      if (!transformed) return NotNull();
      values.push_back(*transformed);
      if (const auto old = OldRounding(*transformed)) values.push_back(*old);
    }
    RemoveRepeated(&values);
    return values.size() == 1 ? expr::Test(Op::kEqual, column_, std::move(values))
                              : expr::Test(Op::kIn, column_, std::move(values));
  }

  NodePtr ProjectOrdered(const Node& test) const {
    switch (test.op) {
      case Op::kLess:
      case Op::kLessEqual:
        return AtMost(test);
      case Op::kGreater:
      case Op::kGreaterEqual:
        return AtLeast(test);
      default:
        return ProjectEquality(test);
    }
  }

  NodePtr ProjectTemporal(const Node& test) const {
    const bool is_identity = field_.transform.kind == TransformKind::kDay && source_.id == TypeId::kDate;
    return is_identity ? expr::Test(test.op, column_, test.values) : ProjectOrdered(test);
  }

  NodePtr AtMost(const Node& test) const {
    const auto limit = test.op == Op::kLess ? Neighbour(test.values.front(), -1) : test.values.front();
    if (!limit) return expr::False();
    const auto transformed = Transformed(*limit);
    if (!transformed || HasWrapped(*transformed, *limit)) return NotNull();
    NodePtr at_most = expr::Test(Op::kLessEqual, column_, {OldRounding(*transformed).value_or(*transformed)});
    return IsWhole() ? expr::Or(at_most, Wrapped()) : at_most;
  }

  NodePtr AtLeast(const Node& test) const {
    const auto limit = test.op == Op::kGreater ? Neighbour(test.values.front(), 1) : test.values.front();
    if (!limit) return expr::False();
    const auto transformed = Transformed(*limit);
    if (!transformed || HasWrapped(*transformed, *limit)) return NotNull();
    return expr::Test(Op::kGreaterEqual, column_, {*transformed});
  }

  /// Text and bytes cut to `width`: a test is exact where its operand is not cut.
  NodePtr ProjectPrefix(const Node& test) const {
    const auto* operand = test.values.empty() ? nullptr : std::get_if<std::string>(&test.values.front());
    if (operand == nullptr) return NotNull();
    const auto cut = Transformed(*operand);
    if (!cut) return NotNull();
    switch (test.op) {
      case Op::kLess:
        return expr::Test(SameValue(*cut, *operand) ? Op::kLess : Op::kLessEqual, column_, {*cut});
      case Op::kLessEqual:
        return expr::Test(Op::kLessEqual, column_, {*cut});
      case Op::kGreater:
      case Op::kGreaterEqual:
        return expr::Test(Op::kGreaterEqual, column_, {*cut});
      case Op::kStartsWith:
        return expr::Test(LengthOf(*operand) <= width() ? Op::kStartsWith : Op::kEqual, column_, {*cut});
      case Op::kNotStartsWith:
        return LengthOf(*operand) <= width() ? expr::Test(Op::kNotStartsWith, column_, {*operand}) : NotNull();
      case Op::kNotEqual:
      case Op::kNotIn:
        return NoneOfTheShort(test);
      default:
        return ProjectEquality(test);
    }
  }

  /// A value shorter than the width is the partition of itself only.
  NodePtr NoneOfTheShort(const Node& test) const {
    std::vector<Value> values;
    for (const Value& value : test.values) {
      const auto* text = std::get_if<std::string>(&value);
      if (text != nullptr && LengthOf(*text) < width()) values.push_back(value);
    }
    if (values.empty()) return NotNull();
    return expr::Test(values.size() == 1 ? Op::kNotEqual : Op::kNotIn, column_, std::move(values));
  }

  size_t width() const { return static_cast<size_t>(field_.transform.parameter); }
  size_t LengthOf(std::string_view bytes) const {
    return source_.id == TypeId::kString ? CharactersIn(bytes) : bytes.size();
  }

  /// The value that old writers gave to part of what belongs to `value`, if another.
  std::optional<Value> OldRounding(const Value& value) const {
    const auto* number = std::get_if<int32_t>(&value);
    if (!IsTemporal(field_.transform.kind) || number == nullptr || *number >= 0) return std::nullopt;
    return *number + 1;
  }

  // Truncating a number right above the smallest of its type wraps to the other end.
  bool IsWhole() const {
    return field_.transform.kind == TransformKind::kTruncate &&
           (source_.id == TypeId::kInt || source_.id == TypeId::kLong);
  }
  bool HasWrapped(const Value& transformed, const Value& value) const {
    return IsWhole() && Compare(transformed, value) > 0;
  }
  /// The partitions of numbers that wrapped: beyond the one of the largest number.
  NodePtr Wrapped() const {
    const Value largest = source_.id == TypeId::kInt ? Value(std::numeric_limits<int32_t>::max())
                                                     : Value(std::numeric_limits<int64_t>::max());
    const auto last = Transformed(largest);
    return last ? expr::Test(Op::kGreater, column_, {*last}) : expr::True();
  }

  const PartitionField& field_;
  const Type& source_;
  expr::ColumnRef column_;
};

Result<expr::ColumnRef> PartitionColumn(const PartitionField& field, int index, const Type& source) {
  ARROW_ASSIGN_OR_RAISE(TypePtr type, ResultType(field.transform, source));
  expr::ColumnRef column;
  column.name = expr::QuoteNamePart(field.name);
  column.field_id = field.field_id;
  column.path = {index};
  ARROW_ASSIGN_OR_RAISE(column.type, ToArrow(*type));
  return column;
}

NodePtr ProjectTest(const Node& test, const PartitionSpec& spec, const Schema& schema) {
  std::vector<NodePtr> projected;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    const PartitionField& field = spec.fields[i];
    const TransformKind kind = field.transform.kind;
    if (field.source_id != test.column.field_id || !field.source_ids.empty()) continue;
    if (kind == TransformKind::kVoid || kind == TransformKind::kUnknown) continue;
    const Field* source = schema.FindById(field.source_id);
    if (source == nullptr) continue;
    const auto column = PartitionColumn(field, static_cast<int>(i), *source->type);
    if (!column.ok()) continue;
    projected.push_back(FieldProjection(field, *source->type, *column).Project(test));
  }
  return expr::And(std::move(projected));
}

}  // namespace

Result<NodePtr> ProjectInclusive(const NodePtr& filter, const PartitionSpec& spec, const Schema& schema) {
  if (filter->op == Op::kTrue || filter->op == Op::kFalse) return filter;
  if (filter->op == Op::kNot) return Invalid("a filter with NOT is not bound");
  if (filter->op != Op::kAnd && filter->op != Op::kOr) {
    const bool takes_values = filter->op != Op::kIsNull && filter->op != Op::kNotNull && filter->op != Op::kIsNaN &&
                              filter->op != Op::kNotNaN;
    if (takes_values && filter->values.empty()) {
      return Invalid("the test of column '{}' is not bound", filter->column.name);
    }
    return ProjectTest(*filter, spec, schema);
  }
  std::vector<NodePtr> children;
  for (const NodePtr& child : filter->children) {
    ARROW_ASSIGN_OR_RAISE(NodePtr projected, ProjectInclusive(child, spec, schema));
    children.push_back(std::move(projected));
  }
  return filter->op == Op::kAnd ? expr::And(std::move(children)) : expr::Or(std::move(children));
}

}  // namespace calve::iceberg
