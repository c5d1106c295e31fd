#pragma once

#include "calve/expr/node.h"

namespace calve::expr {

/// Where a literal falls among the values of a column's type.
struct Place {
  enum class Where {
    kExact,    ///< on `value`
    kBetween,  ///< above `value`, below the next one
    kBelow,    ///< below all values
    kAbove,    ///< above all values, NaN aside
    kNaN,
  };
  Where where = Where::kExact;
  Value value;
};

/// Finds the place of `literal` in `type`. Invalid says what the type expects; NotImplemented names a type that
/// compares with nothing.
arrow::Result<Place> PlaceOf(const Literal& literal, const arrow::DataType& type);

/// Finds the place in `to` of a `value` that stands for one of `from`. Invalid when the types do not compare.
arrow::Result<Place> PlaceOf(const Value& value, const arrow::DataType& from, const arrow::DataType& to);

/// The literal that means `value` of `type`.
Literal LiteralOf(const Value& value, const arrow::DataType& type);

/// The literal as the grammar writes it.
std::string ToString(const Literal& literal);

/// The bytes that hex digits stand for; nothing when there is another character or an odd number of them.
std::optional<std::string> BytesFromHex(std::string_view digits);

/// The test `column op literal` for a literal at `place`.
NodePtr TestAt(Op op, const ColumnRef& column, const Place& place);

/// `column IN (...)`, or NOT IN, for literals at `places`.
NodePtr SetTestAt(Op op, const ColumnRef& column, const std::vector<Place>& places);

/// The parts of a ColumnRef's name, quotes taken off. Nothing when a quote is not closed.
std::optional<std::vector<std::string>> NameParts(std::string_view name);
/// A part as it stands in a ColumnRef's name.
std::string QuoteNamePart(std::string_view part);

}  // namespace calve::expr
