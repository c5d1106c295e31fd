#pragma once

#include "calve/expr/calendar.h"
#include "calve/expr/value.h"

#include <arrow/type_fwd.h>

#include <limits>

namespace calve::expr {

/// What the values of an Arrow type are to a filter: which literals they compare with, and how they stand in a Value.
struct Domain {
  enum class Kind {
    kBool,
    kInteger,
    kDecimal,
    kFloat,
    kDouble,
    kText,
    kBinary,
    kFixed,
    kUuid,
    kDate,
    kTime,
    kTimestamp,
    kNull,   ///< holds nothing but nulls
    kOther,  ///< has IS NULL and IS NOT NULL only
  };
  /// The alternative of Value that integers, decimals, dates, times and timestamps take.
  enum class Holder { kInt32, kInt64, kDecimal128 };

  Kind kind = Kind::kOther;
  Holder holder = Holder::kInt64;
  Int128 min = 0, max = 0;  ///< of what stands in the holder
  int scale = 0;            ///< kDecimal
  int64_t unit_nanos = 1;   ///< kDate, kTime, kTimestamp
  bool has_zone = false;    ///< kTimestamp
  bool half = false;        ///< kFloat: 16 bits wide
  int width_bytes = 0;      ///< kFixed, kUuid

  bool is_floating() const { return kind == Kind::kFloat || kind == Kind::kDouble; }
  bool is_bytes() const {
    return kind == Kind::kText || kind == Kind::kBinary || kind == Kind::kFixed || kind == Kind::kUuid;
  }
  /// Integers and decimals, which convert into each other exactly or not at all.
  bool is_exact_number() const { return kind == Kind::kInteger || kind == Kind::kDecimal; }
};

Domain DomainOf(const arrow::DataType& type);

/// True when values of both types stand in a Value alike, so that a filter bound to one fits the other.
bool SameDomain(const arrow::DataType& left, const arrow::DataType& right);

Value HolderValue(const Domain& domain, Int128 number);
/// Nothing when `value` is none of the holders.
std::optional<Int128> HolderNumber(const Value& value);

}  // namespace calve::expr
