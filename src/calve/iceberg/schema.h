#pragma once

#include "calve/iceberg/type.h"

#include <map>

namespace calve::iceberg {

/// A table schema ("Schemas and Data Types"; JSON in Appendix C).
class Schema {
 public:
  int schema_id = 0;
  std::vector<Field> fields;
  std::vector<int> identifier_field_ids;

  /// The field with `id` at any depth, or null.
  const Field* FindById(int id) const;
  /// The field with dotted `name` ("a.b", "list.element", "map.key"), exactly spelled, or null.
  const Field* FindByName(std::string_view name) const;
  /// The dotted name of the field with `id`, or "".
  std::string NameOf(int id) const;
  /// The largest field id in use.
  int HighestFieldId() const;
};

bool SameSchema(const Schema& left, const Schema& right);  ///< all but schema_id

Result<Schema> SchemaFromJson(const nlohmann::json& json);
nlohmann::json ToJson(const Schema& schema);
nlohmann::json ToJson(const Type& type);

/// The Arrow form. Every field carries its id under the metadata key "PARQUET:field_id".
///
/// boolean, int32, int64, float, double, decimal128, date32, time64[us], timestamp[us], timestamp[us, UTC], [ns] for
/// the _ns types, utf8, arrow.uuid (extension), fixed_size_binary, binary, null (unknown), struct, list (child named
/// "element"), map. Geometry and geography are binary (WKB). Variant is NotImplemented, by name.
Result<std::shared_ptr<arrow::Schema>> ToArrow(const Schema& schema);
Result<std::shared_ptr<arrow::Field>> ToArrow(const Field& field);
Result<std::shared_ptr<arrow::DataType>> ToArrow(const Type& type);

/// An Iceberg schema for Arrow fields, new ids given in the order of the specification (all columns of a level before
/// their children). Types that Iceberg lacks (unsigned 64-bit, say) are Invalid and name the column; those with a wider
/// Iceberg type (int8, int16, uint8, uint16 -> int; uint32 -> long; large_ and view types) take it.
Result<Schema> FromArrow(const arrow::Schema& schema, int first_id = 1);

/// A value of primitive `type` from its JSON single-value serialization (Appendix D).
Result<Value> ValueFromJson(const Type& type, const nlohmann::json& json);
/// A value from and to its binary single-value serialization (Appendix D: bounds in manifests).
Result<Value> ValueFromBytes(const Type& type, std::string_view bytes);
Result<std::string> ValueToBytes(const Type& type, const Value& value);
/// For people and for partition paths: dates as 2024-01-31, timestamps ISO 8601, binary as base64, null as "null".
std::string ValueToText(const Type& type, const Value& value);

/// The table's `schema.name-mapping.default`: field ids for files that have none ("Column Projection").
struct NameMapping {
  struct Entry {
    std::optional<int> field_id;
    std::vector<std::string> names;
    std::vector<Entry> fields;
  };
  std::vector<Entry> entries;
};

/// Parses the property's JSON text. Invalid when it is not an array of mappings.
Result<NameMapping> NameMappingFromJson(std::string_view text);
NameMapping MappingOf(const Schema& schema);
std::string ToJsonText(const NameMapping& mapping);

/// `file_schema` with field ids set from `mapping`, at every level; fields that the mapping does not name lose theirs.
/// List elements map by "element", map keys and values by "key" and "value", whatever the file calls them.
std::shared_ptr<arrow::Schema> ApplyNameMapping(const NameMapping& mapping, const arrow::Schema& file_schema);

}  // namespace calve::iceberg
