#include "calve/pipeline/append_columns.h"

#include "calve/base/status.h"

#include <arrow/type.h>

namespace calve::pipeline {
namespace {

/// Ids above belong to the specification ("Reserved Field IDs").
constexpr int kHighestColumnId = 2147483447;

bool WasColumn(const iceberg::TableMetadata& metadata, int id, const std::string* name) {
  return std::any_of(metadata.schemas.begin(), metadata.schemas.end(), [&](const iceberg::Schema& schema) {
    const iceberg::Field* field = schema.FindById(id);
    return field != nullptr && (name == nullptr || field->name == *name);
  });
}

bool IdsMatch(const std::vector<SourceField>& fields, bool named, const iceberg::TableMetadata& metadata) {
  return std::all_of(fields.begin(), fields.end(), [&](const SourceField& field) {
    if (field.id > kHighestColumnId) return true;
    if (field.id < 0 || !WasColumn(metadata, field.id, named ? &field.name : nullptr)) return false;
    return IdsMatch(field.children, field.type->id() == arrow::Type::STRUCT, metadata);
  });
}

const TargetField* FindTarget(const std::vector<TargetField>& targets, int id) {
  for (const TargetField& target : targets) {
    if (target.id == id) return &target;
  }
  return nullptr;
}

Status CheckFields(const SourceSchema& source, const std::vector<SourceField>& fields,
                   const std::vector<TargetField>& targets, const iceberg::TableMetadata& metadata,
                   const std::string& prefix) {
  for (const SourceField& field : fields) {
    if (field.id > kHighestColumnId) continue;
    const TargetField* target = field.id >= 0 ? FindTarget(targets, field.id) : nullptr;
    if (target == nullptr) {
      if (field.id >= 0 && !source.matched_by_name && WasColumn(metadata, field.id, nullptr)) continue;
      return Invalid("file {}: column '{}{}' is not in the table", source.name, prefix, field.name);
    }
    if (field.type->id() != arrow::Type::STRUCT) continue;
    ARROW_RETURN_NOT_OK(CheckFields(source, field.children, target->children, metadata, prefix + field.name + "."));
  }
  return Status::OK();
}

}  // namespace

bool HasIdsOfTable(const SourceSchema& source, const iceberg::TableMetadata& metadata) {
  return source.has_ids() && IdsMatch(source.fields, true, metadata);
}

Status CheckNothingIsLost(const SourceSchema& source, const std::vector<TargetField>& targets,
                          const iceberg::TableMetadata& metadata) {
  return CheckFields(source, source.fields, targets, metadata, "");
}

Status IdentifyForAppend(const iceberg::TableMetadata& metadata, const std::vector<TargetField>& targets,
                         SourceSchema* source) {
  if (!HasIdsOfTable(*source, metadata)) source->AssignIdsByName(targets);
  return CheckNothingIsLost(*source, targets, metadata);
}

}  // namespace calve::pipeline
