#include "calve/pipeline/filter_target.h"

#include "calve/iceberg/schema.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <algorithm>
#include <set>
#include <string>

namespace calve::pipeline {
namespace {

/// A filter knows the types of tables: narrower integers and other forms of text take theirs. Times and timestamps keep
/// the file's unit: what it holds may be outside what a table's unit reaches.
std::shared_ptr<arrow::DataType> FilterType(const arrow::Field& field) {
  const auto id = field.type()->id();
  if (id == arrow::Type::TIMESTAMP || id == arrow::Type::TIME32 || id == arrow::Type::TIME64) return field.type();
  auto as_table = iceberg::FromArrow(arrow::Schema({field.WithName("c")}));
  if (!as_table.ok()) return field.type();
  auto type = iceberg::ToArrow(*as_table->fields[0].type);
  return type.ok() ? *type : field.type();
}

bool IsIn(const std::vector<int>& ids, int id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

/// True when a field with one of `ids` is in the target.
bool Holds(const TargetField& target, const std::vector<int>& ids) {
  if (IsIn(ids, target.id)) return true;
  return std::any_of(target.children.begin(), target.children.end(), [&](const auto& c) { return Holds(c, ids); });
}

}  // namespace

std::shared_ptr<arrow::Field> WithChildren(const TargetField& target) {
  const auto& type = *target.field->type();
  arrow::FieldVector fields;
  for (const auto& child : target.children) fields.push_back(child.field);
  switch (type.id()) {
    case arrow::Type::STRUCT:
      return target.field->WithType(arrow::struct_(fields));
    case arrow::Type::MAP:
      return target.field->WithType(std::make_shared<arrow::MapType>(fields[0], fields[1]));
    default:
      return target.field->WithType(arrow::list(fields[0]));
  }
}

std::vector<TargetField> FilterTargets(const std::vector<TargetField>& targets) {
  std::vector<TargetField> result;
  for (TargetField target : targets) {
    const auto id = arrow::key_value_metadata({{"PARQUET:field_id", std::to_string(target.id)}});
    if (target.field->type()->id() == arrow::Type::STRUCT) {
      target.children = FilterTargets(target.children);
      target.field = WithChildren(target)->WithMetadata(id);
    } else if (target.children.empty()) {
      target.field = target.field->WithType(FilterType(*target.field))->WithMetadata(id);
    } else {
      target.field = target.field->WithMetadata(id);
    }
    result.push_back(std::move(target));
  }
  return result;
}

std::vector<TargetField> MetadataColumnsOf(const expr::NodePtr& filter, const arrow::Schema& schema) {
  std::vector<TargetField> result;
  std::set<std::string> seen;
  for (const expr::ColumnRef& column : expr::ColumnsOf(filter)) {
    auto special = MetadataColumn(column.name);
    if (!special || schema.GetFieldIndex(column.name) >= 0 || !seen.insert(column.name).second) continue;
    result.push_back(std::move(*special));
  }
  return result;
}

std::vector<TargetField> TargetsWith(const std::vector<TargetField>& targets, const std::vector<int>& ids) {
  std::vector<TargetField> result;
  for (const TargetField& target : targets) {
    if (Holds(target, ids)) result.push_back(target);
  }
  return result;
}

TargetField PrunedTo(TargetField target, const std::vector<int>& ids) {
  if (IsIn(ids, target.id) || target.field->type()->id() != arrow::Type::STRUCT) return target;
  target.children = TargetsWith(target.children, ids);
  for (TargetField& child : target.children) child = PrunedTo(std::move(child), ids);
  target.field = WithChildren(target);
  return target;
}

}  // namespace calve::pipeline
