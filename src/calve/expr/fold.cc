#include "calve/expr/literal.h"

#include <utility>

namespace calve::expr {
namespace {

using Where = Place::Where;

/// `test` for a literal that no value equals and that stands right above `place.value`, or beyond all values.
NodePtr TestBesideValues(Op op, const ColumnRef& column, const Place& place) {
  const bool all_greater = place.where == Where::kBelow;
  const bool all_less = place.where == Where::kAbove;
  switch (op) {
    case Op::kNotEqual:
      return Test(Op::kNotNull, column);
    case Op::kLess:
    case Op::kLessEqual:
      if (all_less) return Test(Op::kNotNull, column);
      return all_greater ? False() : Test(Op::kLessEqual, column, {place.value});
    case Op::kGreater:
    case Op::kGreaterEqual:
      if (all_greater) return Test(Op::kNotNull, column);
      return all_less ? False() : Test(Op::kGreater, column, {place.value});
    default:
      return False();
  }
}

/// `test` for NaN, which equals itself and is greater than all else.
NodePtr TestNaN(Op op, const ColumnRef& column) {
  switch (op) {
    case Op::kEqual:
    case Op::kGreaterEqual:
      return Test(Op::kIsNaN, column);
    case Op::kLessEqual:
      return Test(Op::kNotNull, column);
    case Op::kNotEqual:
    case Op::kLess:
      return And(Test(Op::kNotNull, column), Test(Op::kNotNaN, column));
    default:
      return False();
  }
}

}  // namespace

NodePtr TestAt(Op op, const ColumnRef& column, const Place& place) {
  if (place.where == Where::kNaN) return TestNaN(op, column);
  if (place.where == Where::kExact) return Test(op, column, {place.value});
  return TestBesideValues(op, column, place);
}

NodePtr SetTestAt(Op op, const ColumnRef& column, const std::vector<Place>& places) {
  std::vector<Value> values;
  bool has_nan = false;
  for (const Place& place : places) {
    has_nan = has_nan || place.where == Where::kNaN;
    if (place.where == Where::kExact) values.push_back(place.value);
  }
  const bool negated = op == Op::kNotIn;
  NodePtr rest;
  if (values.size() > 1) {
    rest = Test(op, column, std::move(values));
  } else if (values.size() == 1) {
    rest = Test(negated ? Op::kNotEqual : Op::kEqual, column, std::move(values));
  } else {
    rest = negated ? Test(Op::kNotNull, column) : False();
  }
  if (!has_nan) return rest;
  return negated ? And(rest, Test(Op::kNotNaN, column)) : Or(rest, Test(Op::kIsNaN, column));
}

}  // namespace calve::expr
