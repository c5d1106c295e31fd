#pragma once

#include "calve/expr/value.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>
#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace calve::iceberg {

using arrow::Result;
using arrow::Status;

/// The types of the Iceberg specification ("Schemas and Data Types").
enum class TypeId {
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kTimestampTz,
  kTimestampNs,
  kTimestampTzNs,
  kString,
  kUuid,
  kFixed,
  kBinary,
  kUnknown,
  kVariant,
  kGeometry,
  kGeography,
  kStruct,
  kList,
  kMap,
};

struct Field;
class Type;
using TypePtr = std::shared_ptr<const Type>;

/// A type. Immutable once made. Nested types hold their fields: a struct any number, a list its `element`, a map its
/// `key` and `value`.
class Type {
 public:
  TypeId id;
  int precision = 0;       ///< decimal
  int scale = 0;           ///< decimal
  int length = 0;          ///< fixed
  std::string parameters;  ///< geometry and geography: what stands between the brackets, e.g. "OGC:CRS84"
  std::vector<Field> fields;

  bool is_nested() const { return id == TypeId::kStruct || id == TypeId::kList || id == TypeId::kMap; }
  bool is_primitive() const { return !is_nested() && id != TypeId::kVariant; }
  /// As in metadata JSON for primitives ("decimal(9, 2)", "fixed[5]"); "struct<...>" and the like for nested ones.
  std::string ToString() const;
};

TypePtr Primitive(TypeId id);
TypePtr Decimal(int precision, int scale);
TypePtr Fixed(int length);
TypePtr Struct(std::vector<Field> fields);
TypePtr List(Field element);
TypePtr Map(Field key, Field value);

/// Parses a primitive type's name as metadata JSON spells it; NotImplemented names a type that is not known.
Result<TypePtr> ParsePrimitive(std::string_view text);

/// A column, struct field, list element, or map key or value.
struct Field {
  int id = 0;
  std::string name;
  bool required = false;
  TypePtr type;
  std::string doc;
  /// Defaults, kept as the JSON single-value serialization (Appendix D); null when there is none. Only primitive ones
  /// are applied.
  std::shared_ptr<const nlohmann::json> initial_default;
  std::shared_ptr<const nlohmann::json> write_default;
};

bool operator==(const Field& left, const Field& right);
bool SameType(const Type& left, const Type& right);  ///< ids, names, requiredness and types equal

/// True when the specification allows a column of type `from` to become `to` ("Schema Evolution"; format v3 adds more):
/// int -> long, float -> double, decimal(P, S) -> decimal(P' >= P, S), date -> timestamp or timestamp_ns (v3),
/// unknown -> anything (v3), and any type to itself.
bool CanPromote(const Type& from, const Type& to);

/// Reserved field ids ("Reserved Field IDs").
inline constexpr int kRowIdFieldId = 2147483540;
inline constexpr int kLastUpdatedSequenceNumberFieldId = 2147483539;
inline constexpr int kFilePathFieldId = 2147483646;
inline constexpr int kRowPositionFieldId = 2147483645;

}  // namespace calve::iceberg
