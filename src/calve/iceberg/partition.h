#pragma once

#include "calve/expr/node.h"
#include "calve/iceberg/schema.h"

namespace calve::iceberg {

struct TableMetadata;

enum class TransformKind { kIdentity, kBucket, kTruncate, kYear, kMonth, kDay, kHour, kVoid, kUnknown };

/// A partition transform ("Partition Transforms").
struct Transform {
  TransformKind kind = TransformKind::kIdentity;
  int parameter = 0;  ///< buckets of kBucket, width of kTruncate
  std::string text;   ///< as the metadata spells it
};

/// An unknown name gives kUnknown, not an error; a bucket or truncate without a positive parameter is Invalid.
Result<Transform> ParseTransform(std::string_view text);

/// The type of the transform's results; Invalid when the transform does not take `source`.
Result<TypePtr> ResultType(const Transform& transform, const Type& source);

/// The transform of one value; null stays null. Dates and timestamps before 1970 are floored. NotImplemented for an
/// unknown transform; Invalid when it does not take `source`, or `value` is none of its values.
Result<Value> Apply(const Transform& transform, const Type& source, const Value& value);

/// The transform of every element of `array`, as values. `array` is of the Arrow type of `source`; dictionary-encoded,
/// large and view forms of it will do.
Result<std::vector<Value>> ApplyToArray(const Transform& transform, const Type& source, const arrow::Array& array);

struct PartitionField {
  int source_id = 0;
  int field_id = 0;
  std::string name;
  Transform transform;
  /// All sources of a transform of several columns, which is then kUnknown; otherwise empty.
  std::vector<int> source_ids;
};

/// A partition spec ("Partition Specs").
struct PartitionSpec {
  int spec_id = 0;
  std::vector<PartitionField> fields;

  bool unpartitioned() const;  ///< no field, or only void ones
};

/// The spec from its JSON object (Appendix C), or from the array of its fields alone, as manifests carry it. Missing
/// field ids are counted from 1000.
Result<PartitionSpec> PartitionSpecFromJson(const nlohmann::json& json);
nlohmann::json ToJson(const PartitionSpec& spec);

/// The type of each partition value of `spec` in field order. A source column that was dropped from `schema` makes
/// its field unknown (kUnknown type) unless the transform fixes the type.
Result<std::vector<TypePtr>> PartitionTypes(const PartitionSpec& spec, const Schema& schema);
/// The same by the table's current schema; a source column that was dropped from it is taken from the newest schema
/// that has it.
Result<std::vector<TypePtr>> PartitionTypes(const PartitionSpec& spec, const TableMetadata& metadata);

/// "cat=a/d_day=2024-01-31": names and values percent-encoded as Java's URLEncoder does.
Result<std::string> PartitionPath(const PartitionSpec& spec, const std::vector<TypePtr>& types,
                                  const std::vector<Value>& values);

/// The inclusive projection of a bound row filter onto the partition values of `spec`: true for every partition that
/// may hold a matching row ("Scan Planning"). The result is bound to columns whose field_id is the partition field's id
/// and whose path is {index in spec}. Old writers' off-by-one for negative year, month, day and hour values is allowed
/// for.
Result<expr::NodePtr> ProjectInclusive(const expr::NodePtr& filter, const PartitionSpec& spec, const Schema& schema);

}  // namespace calve::iceberg
