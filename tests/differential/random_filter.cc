#include "random_filter.h"

#include <arrow/compute/exec.h>
#include <arrow/scalar.h>
#include <arrow/table.h>
#include <arrow/type_traits.h>

#include <vector>

namespace calve::differential {
namespace {

using arrow::Datum;
using arrow::Result;
using Optional = std::optional<RandomFilter>;
using ColumnPtr = std::shared_ptr<arrow::ChunkedArray>;

Result<ColumnPtr> Call(const std::string& function, const std::vector<Datum>& arguments) {
  ARROW_ASSIGN_OR_RAISE(const Datum result, arrow::compute::CallFunction(function, arguments));
  return result.chunked_array();
}

bool Comparable(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::UINT64:  // literals are signed
      return false;
    case arrow::Type::STRING:
    case arrow::Type::BOOL:
    case arrow::Type::DECIMAL128:
      return true;
    default:
      return arrow::is_integer(type.id());
  }
}

class FilterMaker {
 public:
  FilterMaker(const arrow::Table& table, std::mt19937_64* random) : table_(table), random_(*random) {
    for (int i = 0; i < table.num_columns(); ++i) {
      if (Comparable(*table.field(i)->type())) columns_.push_back(i);
    }
  }

  Result<Optional> Make() {
    if (columns_.empty() || table_.num_rows() == 0) return Optional();
    ARROW_ASSIGN_OR_RAISE(RandomFilter left, Test());
    if (Below(3) != 0) return Optional(std::move(left));
    ARROW_ASSIGN_OR_RAISE(const RandomFilter right, Test());
    const bool both = Below(2) == 0;
    RandomFilter joined;
    joined.text = "(" + left.text + (both ? ") AND (" : ") OR (") + right.text + ")";
    ARROW_ASSIGN_OR_RAISE(joined.mask, Call(both ? "and_kleene" : "or_kleene", {left.mask, right.mask}));
    return Optional(std::move(joined));
  }

 private:
  size_t Below(size_t end) { return static_cast<size_t>(random_() % end); }

  /// A value of the column, null when it is.
  Result<std::shared_ptr<arrow::Scalar>> Value(const arrow::ChunkedArray& column) {
    return column.GetScalar(static_cast<int64_t>(Below(static_cast<size_t>(column.length()))));
  }

  static std::string Literal(const arrow::Scalar& value) {
    return value.type->id() == arrow::Type::STRING ? "'" + value.ToString() + "'" : value.ToString();
  }

  Result<RandomFilter> Test() {
    const int index = columns_[Below(columns_.size())];
    const std::string name = table_.field(index)->name();
    const ColumnPtr column = table_.column(index);
    ARROW_ASSIGN_OR_RAISE(const auto value, Value(*column));
    if (!value->is_valid || Below(8) == 0) return Nullness(name, column);
    if (Below(4) == 0) return In(name, column, value);
    static const std::pair<const char*, const char*> kComparisons[] = {{"=", "equal"},   {"!=", "not_equal"},
                                                                       {"<", "less"},    {"<=", "less_equal"},
                                                                       {">", "greater"}, {">=", "greater_equal"}};
    const auto& [sign, function] = kComparisons[value->type->id() == arrow::Type::BOOL ? Below(2) : Below(6)];
    RandomFilter test;
    test.text = name + " " + sign + " " + Literal(*value);
    ARROW_ASSIGN_OR_RAISE(test.mask, Call(function, {column, value}));
    return test;
  }

  Result<RandomFilter> Nullness(const std::string& name, const ColumnPtr& column) {
    const bool null = Below(2) == 0;
    RandomFilter test;
    test.text = name + (null ? " IS NULL" : " IS NOT NULL");
    ARROW_ASSIGN_OR_RAISE(test.mask, Call(null ? "is_null" : "is_valid", {column}));
    return test;
  }

  Result<RandomFilter> In(const std::string& name, const ColumnPtr& column,
                          const std::shared_ptr<arrow::Scalar>& first) {
    RandomFilter test;
    test.text = name + " IN (" + Literal(*first);
    ARROW_ASSIGN_OR_RAISE(test.mask, Call("equal", {column, first}));
    for (size_t more = Below(4); more > 0; --more) {
      ARROW_ASSIGN_OR_RAISE(const auto value, Value(*column));
      if (!value->is_valid) continue;
      test.text += ", " + Literal(*value);
      ARROW_ASSIGN_OR_RAISE(const ColumnPtr equal, Call("equal", {column, value}));
      ARROW_ASSIGN_OR_RAISE(test.mask, Call("or_kleene", {test.mask, equal}));
    }
    test.text += ")";
    return test;
  }

  const arrow::Table& table_;
  std::mt19937_64& random_;
  std::vector<int> columns_;
};

}  // namespace

Result<Optional> MakeRandomFilter(const arrow::Table& table, std::mt19937_64* random) {
  return FilterMaker(table, random).Make();
}

}  // namespace calve::differential
