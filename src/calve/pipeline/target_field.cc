#include "calve/pipeline/target_field.h"

#include "calve/base/status.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <nlohmann/json.hpp>

namespace calve::pipeline {
namespace {

using iceberg::Field;

Result<TargetField> TargetOf(const Field& field, DefaultKind defaults) {
  TargetField result;
  result.id = field.id;
  ARROW_ASSIGN_OR_RAISE(result.field, iceberg::ToArrow(field));
  const auto& value = defaults == DefaultKind::kInitial ? field.initial_default : field.write_default;
  if (value && !value->is_null()) {
    if (field.type->is_primitive()) {
      ARROW_ASSIGN_OR_RAISE(result.missing_value, WithContext(iceberg::ValueFromJson(*field.type, *value),
                                                              fmt::format("default of column '{}'", field.name)));
    } else {
      result.has_nested_default = true;
    }
  }
  ARROW_ASSIGN_OR_RAISE(result.children, TargetsOf(field.type->fields, defaults));
  return result;
}

TargetField TargetOf(const std::shared_ptr<arrow::Field>& field, int* next_id) {
  TargetField result;
  result.id = (*next_id)++;
  result.field = field;
  const auto& type = *field->type();
  const auto& children = type.id() == arrow::Type::MAP ? type.field(0)->type()->fields() : type.fields();
  for (const auto& child : children) result.children.push_back(TargetOf(child, next_id));
  return result;
}

bool Contains(const std::vector<int>& ids, int id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

std::optional<Field> Select(const Field& field, const std::vector<int>& ids) {
  if (Contains(ids, field.id)) return field;
  if (!field.type->is_nested()) return std::nullopt;
  std::vector<Field> kept = SelectFields(field.type->fields, ids);
  if (kept.empty()) return std::nullopt;
  Field result = field;
  switch (field.type->id) {
    case iceberg::TypeId::kStruct:
      result.type = iceberg::Struct(std::move(kept));
      break;
    case iceberg::TypeId::kList:
      result.type = iceberg::List(std::move(kept[0]));
      break;
    default: {
      const Field& value = field.type->fields[1];
      result.type = iceberg::Map(field.type->fields[0], kept.back().id == value.id ? kept.back() : value);
    }
  }
  return result;
}

}  // namespace

Result<std::vector<TargetField>> TargetsOf(const std::vector<Field>& fields, DefaultKind defaults) {
  std::vector<TargetField> result;
  for (const Field& field : fields) {
    ARROW_ASSIGN_OR_RAISE(auto target, TargetOf(field, defaults));
    result.push_back(std::move(target));
  }
  return result;
}

std::vector<TargetField> TargetsOf(const arrow::Schema& schema) {
  std::vector<TargetField> result;
  int next_id = 1;
  for (const auto& field : schema.fields()) result.push_back(TargetOf(field, &next_id));
  return result;
}

std::optional<TargetField> MetadataColumn(const std::string& name) {
  using Kind = TargetField::Kind;
  struct Entry {
    const char* name;
    Kind kind;
    int id;
    std::shared_ptr<arrow::DataType> type;
  };
  const Entry entries[] = {
      {"_row_id", Kind::kRowId, iceberg::kRowIdFieldId, arrow::int64()},
      {"_last_updated_sequence_number", Kind::kLastUpdatedSequenceNumber, iceberg::kLastUpdatedSequenceNumberFieldId,
       arrow::int64()},
      {"_file", Kind::kFilePath, iceberg::kFilePathFieldId, arrow::utf8()},
      {"_pos", Kind::kRowPosition, iceberg::kRowPositionFieldId, arrow::int64()},
  };
  for (const Entry& entry : entries) {
    if (name != entry.name) continue;
    const bool nullable = entry.kind == Kind::kRowId || entry.kind == Kind::kLastUpdatedSequenceNumber;
    TargetField result;
    result.kind = entry.kind;
    result.id = entry.id;
    result.field = arrow::field(name, entry.type, nullable,
                                arrow::key_value_metadata({{"PARQUET:field_id", std::to_string(entry.id)}}));
    return result;
  }
  return std::nullopt;
}

std::shared_ptr<arrow::Schema> SchemaOf(const std::vector<TargetField>& targets) {
  arrow::FieldVector fields;
  for (const TargetField& target : targets) fields.push_back(target.field);
  return arrow::schema(std::move(fields));
}

std::vector<Field> SelectFields(const std::vector<Field>& fields, const std::vector<int>& ids) {
  std::vector<Field> result;
  for (const Field& field : fields) {
    if (auto kept = Select(field, ids)) result.push_back(std::move(*kept));
  }
  return result;
}

}  // namespace calve::pipeline
