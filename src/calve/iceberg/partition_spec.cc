// Partition specs in JSON (Appendix C):
//
//   spec  = {"spec-id": int, "fields": [field, ...]}
//   field = {"source-id": int, "field-id": int, "name": text, "transform": text}
//           "source-ids": [int, ...] in the place of "source-id" for a transform of several columns

#include "calve/base/status.h"
#include "calve/iceberg/json_members.h"
#include "calve/iceberg/partition.h"
#include "calve/iceberg/table_metadata.h"

#include <algorithm>

namespace calve::iceberg {
namespace {

using nlohmann::json;

constexpr int kFirstFieldId = 1000;

Status ReadSources(const json& object, PartitionField* field) {
  ARROW_ASSIGN_OR_RAISE(auto source_id, OptionalInt(object, "source-id"));
  ARROW_ASSIGN_OR_RAISE(auto source_ids, OptionalInts(object, "source-ids"));
  if (!source_id && source_ids.empty()) return Invalid("missing member 'source-id'");
  field->source_id = source_id ? *source_id : source_ids.front();
  if (source_ids.size() > 1) {
    field->source_ids = std::move(source_ids);
    field->transform.kind = TransformKind::kUnknown;
  }
  return Status::OK();
}

Result<PartitionField> FieldFromJson(const json& object, int default_field_id) {
  ARROW_RETURN_NOT_OK(ExpectObject(object));
  PartitionField field;
  ARROW_ASSIGN_OR_RAISE(field.name, StringMember(object, "name"));
  ARROW_ASSIGN_OR_RAISE(auto field_id, OptionalInt(object, "field-id"));
  field.field_id = field_id.value_or(default_field_id);
  ARROW_ASSIGN_OR_RAISE(std::string transform, StringMember(object, "transform"));
  ARROW_ASSIGN_OR_RAISE(field.transform, ParseTransform(transform));
  ARROW_RETURN_NOT_OK(ReadSources(object, &field));
  return field;
}

json ToJson(const PartitionField& field) {
  json object = {{"field-id", field.field_id}, {"name", field.name}, {"transform", field.transform.text}};
  if (field.source_ids.empty()) {
    object["source-id"] = field.source_id;
  } else {
    object["source-ids"] = field.source_ids;
  }
  return object;
}

/// The type of a field whose source column is gone.
TypePtr TypeWithoutSource(const Transform& transform) {
  switch (transform.kind) {
    case TransformKind::kBucket:
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kHour:
      return Primitive(TypeId::kInt);
    case TransformKind::kDay:
      return Primitive(TypeId::kDate);
    default:
      return Primitive(TypeId::kUnknown);
  }
}

/// The column with this id in the newest schema that has it; null when none has.
const Field* NewestColumn(const TableMetadata& metadata, int id) {
  const Field* newest = nullptr;
  int newest_schema = 0;
  for (const Schema& schema : metadata.schemas) {
    if (newest != nullptr && schema.schema_id < newest_schema) continue;
    const Field* field = schema.FindById(id);
    if (field == nullptr) continue;
    newest = field;
    newest_schema = schema.schema_id;
  }
  return newest;
}

}  // namespace

bool PartitionSpec::unpartitioned() const {
  return std::ranges::all_of(fields,
                             [](const PartitionField& field) { return field.transform.kind == TransformKind::kVoid; });
}

Result<PartitionSpec> PartitionSpecFromJson(const json& json) {
  PartitionSpec spec;
  const nlohmann::json* fields = &json;
  if (!json.is_array()) {
    ARROW_RETURN_NOT_OK(ExpectObject(json));
    ARROW_ASSIGN_OR_RAISE(spec.spec_id, IntMember(json, "spec-id"));
    ARROW_ASSIGN_OR_RAISE(fields, ArrayMember(json, "fields"));
  }
  for (const auto& object : *fields) {
    const int index = static_cast<int>(spec.fields.size());
    ARROW_ASSIGN_OR_RAISE(PartitionField field, WithContext(FieldFromJson(object, kFirstFieldId + index),
                                                            fmt::format("partition field {}", index)));
    spec.fields.push_back(std::move(field));
  }
  return spec;
}

nlohmann::json ToJson(const PartitionSpec& spec) {
  json fields = json::array();
  for (const PartitionField& field : spec.fields) fields.push_back(ToJson(field));
  return {{"spec-id", spec.spec_id}, {"fields", std::move(fields)}};
}

Result<std::vector<TypePtr>> PartitionTypes(const PartitionSpec& spec, const Schema& schema) {
  std::vector<TypePtr> types;
  for (const PartitionField& field : spec.fields) {
    const Field* source = field.source_ids.empty() ? schema.FindById(field.source_id) : nullptr;
    if (source == nullptr) {
      types.push_back(TypeWithoutSource(field.transform));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(TypePtr type, WithContext(ResultType(field.transform, *source->type),
                                                    fmt::format("partition field '{}'", field.name)));
    types.push_back(std::move(type));
  }
  return types;
}

Result<std::vector<TypePtr>> PartitionTypes(const PartitionSpec& spec, const TableMetadata& metadata) {
  const Schema& schema = metadata.schema();
  ARROW_ASSIGN_OR_RAISE(std::vector<TypePtr> types, PartitionTypes(spec, schema));
  for (size_t i = 0; i < types.size(); ++i) {
    const PartitionField& field = spec.fields[i];
    if (types[i]->id != TypeId::kUnknown || !field.source_ids.empty()) continue;
    if (schema.FindById(field.source_id) != nullptr) continue;
    const Field* source = NewestColumn(metadata, field.source_id);
    if (source == nullptr) continue;
    Result<TypePtr> type = ResultType(field.transform, *source->type);
    if (type.ok()) types[i] = std::move(*type);
  }
  return types;
}

}  // namespace calve::iceberg
