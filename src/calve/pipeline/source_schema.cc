#include "calve/pipeline/source_schema.h"

#include "calve/parquet/output_form.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <charconv>
#include <string_view>
#include <unordered_map>

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
  const auto& field = parquet::OutputOf(node);
  SourceField result{.name = field->name(),
                     .id = FieldIdOf(*field),
                     .type = field->type(),
                     .leaf = node.leaf_index,
                     .is_repeated = is_repeated};
  if (node.leaf_index >= 0) {
    result.is_int96 = schema.leaves[node.leaf_index].element.type == parquet::PhysicalType::kInt96;
  }
  const bool repeats = is_repeated || IsRepeatedType(*field->type());
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

/// The targets of one level by their names.
class TargetsByName {
 public:
  TargetsByName(const std::vector<TargetField>& targets, SameNames same_names) : same_names_(same_names) {
    for (const TargetField& target : targets) named_[target.field->name()].targets.push_back(&target);
  }

  /// The target of the next field called `name`; null when there is none.
  const TargetField* Next(const std::string& name) {
    const auto found = named_.find(name);
    if (found == named_.end()) return nullptr;
    Named& named = found->second;
    if (same_names_ == SameNames::kShareId) return named.targets.back();
    return named.taken < named.targets.size() ? named.targets[named.taken++] : nullptr;
  }

 private:
  struct Named {
    std::vector<const TargetField*> targets;
    size_t taken = 0;
  };

  const SameNames same_names_;
  std::unordered_map<std::string_view, Named> named_;
};

void MatchNames(const std::vector<TargetField>& targets, SameNames same_names, std::vector<SourceField>* fields);

void Match(const TargetField* target, SameNames same_names, SourceField* field) {
  if (target == nullptr) return;
  field->id = target->id;
  if (!IsRepeatedType(*field->type)) return MatchNames(target->children, same_names, &field->children);
  for (size_t i = 0; i < std::min(target->children.size(), field->children.size()); ++i) {
    Match(&target->children[i], same_names, &field->children[i]);
  }
}

void MatchNames(const std::vector<TargetField>& targets, SameNames same_names, std::vector<SourceField>* fields) {
  if (fields->empty()) return;
  TargetsByName by_name(targets, same_names);
  for (SourceField& field : *fields) Match(by_name.Next(field.name), same_names, &field);
}

}  // namespace

ParquetReadOptions TableFileOptions() {
  ParquetReadOptions options;
  options.use_arrow_schema = false;
  options.whole_variants = true;
  return options;
}

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

void SourceSchema::AssignIdsByName(const std::vector<TargetField>& targets, SameNames same_names) {
  ClearIds(&fields);
  MatchNames(targets, same_names, &fields);
  matched_by_name = true;
}

}  // namespace calve::pipeline
