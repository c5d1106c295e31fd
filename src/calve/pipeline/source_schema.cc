#include "calve/pipeline/source_schema.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <charconv>

namespace calve::pipeline {
namespace {

bool IsRepeatedType(const arrow::DataType& type) { return type.id() != arrow::Type::STRUCT && type.num_fields() > 0; }

/// The fields under `type` in the shape of SourceField: a map's key and value stand without their entries struct.
arrow::FieldVector ChildFields(const arrow::DataType& type) {
  if (type.id() == arrow::Type::MAP) return type.field(0)->type()->fields();
  return type.fields();
}

SourceField FromArrow(const arrow::Field& field, bool is_repeated, int* next_leaf) {
  SourceField result{.name = field.name(), .id = FieldIdOf(field), .type = field.type(), .is_repeated = is_repeated};
  const bool repeats = is_repeated || IsRepeatedType(*field.type());
  for (const auto& child : ChildFields(*field.type())) {
    result.children.push_back(FromArrow(*child, repeats, next_leaf));
  }
  if (result.children.empty()) result.leaf = (*next_leaf)++;
  return result;
}

SourceField FromNode(const parquet::FileSchema& schema, const parquet::ArrowNode& node, bool is_repeated) {
  SourceField result{.name = node.field->name(),
                     .id = FieldIdOf(*node.field),
                     .type = node.field->type(),
                     .leaf = node.leaf_index,
                     .is_repeated = is_repeated};
  if (node.leaf_index >= 0) {
    result.is_int96 = schema.leaves[node.leaf_index].element.type == parquet::PhysicalType::kInt96;
  }
  const bool repeats = is_repeated || IsRepeatedType(*node.field->type());
  for (const auto& child : node.children) result.children.push_back(FromNode(schema, child, repeats));
  return result;
}

bool AnyId(const std::vector<SourceField>& fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [](const SourceField& field) { return field.id >= 0 || AnyId(field.children); });
}

void CopyIds(const arrow::FieldVector& from, std::vector<SourceField>* to) {
  for (size_t i = 0; i < to->size(); ++i) {
    SourceField& field = (*to)[i];
    field.id = i < from.size() ? FieldIdOf(*from[i]) : -1;
    CopyIds(i < from.size() ? ChildFields(*from[i]->type()) : arrow::FieldVector{}, &field.children);
  }
}

void ClearIds(std::vector<SourceField>* fields) {
  for (SourceField& field : *fields) {
    field.id = -1;
    ClearIds(&field.children);
  }
}

void MatchNames(const std::vector<TargetField>& targets, bool by_position, std::vector<SourceField>* fields) {
  for (size_t i = 0; i < fields->size(); ++i) {
    SourceField& field = (*fields)[i];
    const TargetField* match = nullptr;
    for (size_t t = 0; t < targets.size(); ++t) {
      if (by_position ? t == i : targets[t].field->name() == field.name) match = &targets[t];
    }
    if (match == nullptr) continue;
    field.id = match->id;
    MatchNames(match->children, IsRepeatedType(*field.type), &field.children);
  }
}

}  // namespace

int FieldIdOf(const arrow::Field& field) {
  if (!field.metadata()) return -1;
  const int index = field.metadata()->FindKey("PARQUET:field_id");
  if (index < 0) return -1;
  const std::string& text = field.metadata()->value(index);
  int id = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc() && end == text.data() + text.size() ? id : -1;
}

SourceSchema SourceSchema::OfFile(const parquet::FileSchema& schema, std::string name) {
  SourceSchema result{.name = std::move(name)};
  for (const auto& node : schema.fields) result.fields.push_back(FromNode(schema, node, false));
  return result;
}

SourceSchema SourceSchema::OfArrow(const arrow::Schema& schema, std::string name) {
  SourceSchema result{.name = std::move(name)};
  int next_leaf = 0;
  for (const auto& field : schema.fields()) result.fields.push_back(FromArrow(*field, false, &next_leaf));
  return result;
}

bool SourceSchema::has_ids() const { return AnyId(fields); }

void SourceSchema::AssignIdsByMapping(const iceberg::NameMapping& mapping, const arrow::Schema& schema) {
  CopyIds(iceberg::ApplyNameMapping(mapping, schema)->fields(), &fields);
  matched_by_mapping = true;
}

void SourceSchema::AssignIdsByName(const std::vector<TargetField>& targets) {
  ClearIds(&fields);
  MatchNames(targets, false, &fields);
  matched_by_name = true;
}

}  // namespace calve::pipeline
