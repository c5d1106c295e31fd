#pragma once

#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace calve::avro {

using arrow::Result;
using arrow::Status;

enum class Kind {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kFixed,
  kEnum,
  kRecord,
  kArray,
  kMap,
  kUnion,
};

std::string_view ToString(Kind kind);

struct Field;
class Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

/// An Avro schema (Avro specification 1.11, "Schema Declaration") with the attributes that Iceberg adds ("Field IDs").
/// Immutable once made. A type that contains itself cannot be expressed.
class Schema {
 public:
  Kind kind = Kind::kNull;
  std::string name;                     ///< full name of a record, fixed or enum
  std::string logical_type;             ///< "decimal", "date", "map", ...
  std::optional<bool> adjust_to_utc;    ///< of timestamps
  int precision = 0, scale = 0;         ///< of decimals
  size_t size_bytes = 0;                ///< of a fixed
  std::vector<std::string> symbols;     ///< of an enum
  std::vector<Field> fields;            ///< of a record
  std::vector<SchemaPtr> branches;      ///< of a union
  SchemaPtr element;                    ///< an array's items, a map's values
  std::optional<int> element_id;        ///< of an array
  std::optional<int> key_id, value_id;  ///< of a map

  /// The fewest bytes that a value takes; a lower bound where it is enormous.
  size_t min_size_bytes() const { return min_size_bytes_; }
  /// The number of values inside one value, itself included, where arrays and maps are empty.
  size_t values_count() const { return values_count_; }
  /// A union of null and one other branch: that branch; otherwise null.
  const Schema* optional_branch() const;

 private:
  friend SchemaPtr Seal(Schema schema);
  size_t min_size_bytes_ = 0;
  size_t values_count_ = 1;
};

struct Field {
  std::string name;
  SchemaPtr type;
  std::optional<int> id;  ///< "field-id"
  std::string doc;
  /// The name in the Iceberg schema when Avro does not allow it ("iceberg-field-name").
  std::string iceberg_name;
};

/// Makes `schema` immutable, its sizes computed. Its children are sealed already.
SchemaPtr Seal(Schema schema);

SchemaPtr Primitive(Kind kind, std::string logical_type = "");
SchemaPtr Optional(SchemaPtr branch);  ///< union of null and `branch`, null first
SchemaPtr Record(std::string name, std::vector<Field> fields);
SchemaPtr Array(SchemaPtr element, std::optional<int> element_id);
SchemaPtr Fixed(std::string name, size_t size_bytes, std::string logical_type = "");

/// Parses schema JSON. Invalid says what is wrong; NotImplemented names a type that contains itself. Nesting is
/// limited.
Result<SchemaPtr> ParseSchema(std::string_view json);

/// Schema JSON. Fields that may be null have a null default; a named type is spelled out once and then named.
std::string ToJsonText(const Schema& schema);

}  // namespace calve::avro
