#pragma once

#include <arrow/type_fwd.h>
#include <arrow/util/decimal.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace calve {

/// One value of a primitive type; the type itself is known from where the value stands.
///
/// | Arrow type | alternative |
/// | --- | --- |
/// | bool | bool |
/// | int32, date32 | int32_t |
/// | int64, time64[us], timestamp[us or ns] | int64_t |
/// | float, double | float, double |
/// | utf8, binary, fixed_size_binary, uuid (16 bytes) | std::string |
/// | decimal128(p, s) | arrow::Decimal128, unscaled |
///
/// Null is std::monostate. Partition values, bounds and literals all take this form.
using Value = std::variant<std::monostate, bool, int32_t, int64_t, float, double, std::string, arrow::Decimal128>;

inline bool IsNull(const Value& value) { return std::holds_alternative<std::monostate>(value); }

/// True for a float or double NaN.
bool IsNaN(const Value& value);

/// Orders two non-null values of the same alternative: numbers by value (-0.0 equals 0.0), strings by unsigned bytes.
/// Unordered when either is NaN. Different alternatives, or a null: unordered.
std::partial_ordering Compare(const Value& left, const Value& right);

/// Equal alternatives and values; NaN equals NaN, null equals null, -0.0 differs from 0.0. For keys of maps.
bool SameValue(const Value& left, const Value& right);
size_t HashValue(const Value& value);

}  // namespace calve
