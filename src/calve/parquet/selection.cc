#include "calve/parquet/selection.h"

#include "calve/parquet/output_form.h"

#include "calve/base/status.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <string_view>

namespace calve::parquet {
namespace {

void AddLeaves(const ArrowNode& node, std::vector<int>* out) {
  if (node.leaf_index >= 0) out->push_back(node.leaf_index);
  for (const ArrowNode& child : node.children) AddLeaves(child, out);
}

std::vector<int> LeavesUnder(const ArrowNode& node) {
  std::vector<int> leaves;
  AddLeaves(node, &leaves);
  std::sort(leaves.begin(), leaves.end());
  return leaves;
}

/// The name by which a path reaches child `i` of `parent`.
std::string_view ChildName(const ArrowNode& parent, size_t i) {
  switch (parent.field->type()->id()) {
    case arrow::Type::LIST:
      return "element";
    case arrow::Type::MAP:
      return i == 0 ? "key" : "value";
    default:
      return parent.children[i].field->name();
  }
}

void Find(const ArrowNode& node, std::string_view own_name, std::string_view path,
          std::vector<const ArrowNode*>* found) {
  if (path.substr(0, own_name.size()) != own_name) return;
  path.remove_prefix(own_name.size());
  if (path.empty()) return found->push_back(&node);
  if (path[0] != '.') return;
  path.remove_prefix(1);
  for (size_t i = 0; i < node.children.size(); ++i) Find(node.children[i], ChildName(node, i), path, found);
}

void AddNames(const ArrowNode& node, const std::string& prefix, std::string_view own_name,
              std::vector<std::string>* out) {
  const std::string name = fmt::format("{}{}", prefix, own_name);
  if (node.leaf_index >= 0) out->push_back(name);
  for (size_t i = 0; i < node.children.size(); ++i) AddNames(node.children[i], name + ".", ChildName(node, i), out);
}

std::string ColumnList(const FileSchema& schema) {
  constexpr size_t kShown = 50;
  std::vector<std::string> names;
  for (const ArrowNode& field : schema.fields) AddNames(field, "", field.field->name(), &names);
  const size_t more = names.size() > kShown ? names.size() - kShown : 0;
  if (more > 0) names.resize(kShown);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

bool HasFieldId(const ArrowNode& node, const std::string& id) {
  const auto& metadata = node.field->metadata();
  if (metadata == nullptr) return false;
  const int index = metadata->FindKey("PARQUET:field_id");
  return index >= 0 && metadata->value(index) == id;
}

void FindId(const ArrowNode& node, const std::string& id, std::vector<int>* out) {
  if (HasFieldId(node, id)) return AddLeaves(node, out);
  for (const ArrowNode& child : node.children) FindId(child, id, out);
}

bool AnyWanted(const ArrowNode& node, const std::vector<bool>& wanted) {
  if (node.leaf_index >= 0) return wanted[node.leaf_index];
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const ArrowNode& child) { return AnyWanted(child, wanted); });
}

void WantAll(const ArrowNode& node, std::vector<bool>* wanted) {
  if (node.leaf_index >= 0) (*wanted)[node.leaf_index] = true;
  for (const ArrowNode& child : node.children) WantAll(child, wanted);
}

void KeepWhole(const ArrowNode& node, std::vector<bool>* wanted) {
  if (IsPutTogether(node) && AnyWanted(node, *wanted)) WantAll(node, wanted);
  for (const ArrowNode& child : node.children) KeepWhole(child, wanted);
  if (node.field->type()->id() != arrow::Type::MAP || !AnyWanted(node, *wanted)) return;
  WantAll(node.children[0], wanted);
  if (!AnyWanted(node.children[1], *wanted)) WantAll(node.children[1], wanted);
}

/// The node without what is not wanted; `local[leaf]` is a leaf's number among the wanted ones.
ArrowNode Pruned(const ArrowNode& node, const std::vector<bool>& wanted, const std::vector<int>& local) {
  ArrowNode result = node;
  if (node.leaf_index >= 0) {
    result.leaf_index = local[node.leaf_index];
    return result;
  }
  result.children.clear();
  for (const ArrowNode& child : node.children) {
    if (AnyWanted(child, wanted)) result.children.push_back(Pruned(child, wanted, local));
  }
  UpdateTypes(&result);
  return result;
}

/// Copies the wanted leaves; returns their numbers by those they had.
std::vector<int> TakeLeaves(const FileSchema& schema, const std::vector<bool>& wanted, Selection* selection) {
  std::vector<int> local(wanted.size(), -1);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    local[i] = static_cast<int>(selection->leaves.size());
    selection->leaves.push_back(static_cast<int>(i));
    selection->schema.leaves.push_back(schema.leaves[i]);
  }
  return local;
}

}  // namespace

Result<std::vector<int>> LeavesOfName(const FileSchema& schema, const std::string& name) {
  std::vector<const ArrowNode*> found;
  for (const ArrowNode& field : schema.fields) Find(field, field.field->name(), name, &found);
  if (found.size() > 1) return Invalid("column '{}' is ambiguous: {} fields have that name", name, found.size());
  if (found.empty()) return Invalid("no column '{}'; there are: {}", name, ColumnList(schema));
  return LeavesUnder(*found[0]);
}

std::vector<int> LeavesOfFieldId(const FileSchema& schema, int field_id) {
  std::vector<int> leaves;
  for (const ArrowNode& field : schema.fields) FindId(field, std::to_string(field_id), &leaves);
  std::sort(leaves.begin(), leaves.end());
  return leaves;
}

Status CheckLeaves(const std::vector<int>& leaves, int num_columns) {
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i] < 0 || leaves[i] >= num_columns) {
      return Invalid("column index {} out of range (the file has {} columns)", leaves[i], num_columns);
    }
    if (i > 0 && leaves[i] <= leaves[i - 1]) return Invalid("the column indices to read are not sorted");
  }
  return Status::OK();
}

Result<Selection> Select(const FileSchema& schema, const std::vector<int>& leaves) {
  ARROW_RETURN_NOT_OK(CheckLeaves(leaves, static_cast<int>(schema.leaves.size())));
  std::vector<bool> wanted(schema.leaves.size(), false);
  for (const int leaf : leaves) wanted[leaf] = true;
  for (const ArrowNode& field : schema.fields) KeepWhole(field, &wanted);
  Selection selection;
  const std::vector<int> local = TakeLeaves(schema, wanted, &selection);
  arrow::FieldVector fields;
  for (const ArrowNode& field : schema.fields) {
    if (!AnyWanted(field, wanted)) continue;
    selection.schema.fields.push_back(Pruned(field, wanted, local));
    fields.push_back(OutputOf(selection.schema.fields.back()));
  }
  selection.schema.arrow_schema = arrow::schema(std::move(fields), schema.arrow_schema->metadata());
  return selection;
}

}  // namespace calve::parquet
