#include "calve/pipeline/column_projection.h"

#include "calve/base/status.h"

#include <arrow/type.h>

#include <algorithm>
#include <set>
#include <unordered_map>

// Which columns of a file become which of the table's; column_arrays.cc makes the arrays.

namespace calve::pipeline {

namespace {

bool IsListLike(arrow::Type::type id) {
  return id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST || id == arrow::Type::FIXED_SIZE_LIST ||
         id == arrow::Type::LIST_VIEW || id == arrow::Type::LARGE_LIST_VIEW;
}

bool SameShape(const arrow::DataType& source, const arrow::DataType& target) {
  if (IsListLike(target.id())) return IsListLike(source.id());
  return source.id() == target.id();
}

/// The leaf under `field` that costs the least levels, to learn which of its values are null.
int CheapestLeaf(const SourceField& field, int depth, int* best_depth) {
  if (field.leaf >= 0) {
    *best_depth = depth;
    return field.leaf;
  }
  int best = -1;
  *best_depth = 1 << 20;
  const bool repeats = field.type->id() != arrow::Type::STRUCT;
  for (const SourceField& child : field.children) {
    int child_depth = 0;
    const int leaf = CheapestLeaf(child, depth + (repeats ? 100 : 1), &child_depth);
    if (leaf < 0 || child_depth >= *best_depth) continue;
    best = leaf;
    *best_depth = child_depth;
  }
  return best;
}

void CollectLeaves(const std::vector<SourceField>& fields, std::set<int>* leaves) {
  for (const SourceField& field : fields) {
    if (field.leaf >= 0) leaves->insert(field.leaf);
    CollectLeaves(field.children, leaves);
  }
}

bool IsRead(const SourceField& field, const std::set<int>& leaves) {
  if (field.leaf >= 0) return leaves.contains(field.leaf);
  return std::any_of(field.children.begin(), field.children.end(),
                     [&](const SourceField& child) { return IsRead(child, leaves); });
}

/// The fields of one level by their ids; the second one of an id is kept for the message.
struct WithId {
  const SourceField* first = nullptr;
  const SourceField* second = nullptr;
};
using FieldsById = std::unordered_map<int, WithId>;

FieldsById ById(const std::vector<SourceField>& fields) {
  FieldsById result;
  for (const SourceField& field : fields) {
    if (field.id < 0) continue;
    WithId& same = result[field.id];
    if (same.first == nullptr) {
      same.first = &field;
    } else if (same.second == nullptr) {
      same.second = &field;
    }
  }
  return result;
}

}  // namespace

/// Finds the source of every target and gathers the leaves to read.
struct ColumnProjection::Resolver {
  const SourceSchema& source;
  const FileValues& values;
  const ProjectionRules& rules;
  std::set<int> leaves;

  Result<std::vector<Node>> All(const std::vector<TargetField>& targets, const std::vector<SourceField>& candidates,
                                const std::string& prefix) {
    std::vector<Node> nodes;
    const FieldsById by_id = ById(candidates);
    for (const TargetField& target : targets) {
      ARROW_ASSIGN_OR_RAISE(const SourceField* match, FindById(by_id, target, prefix));
      ARROW_ASSIGN_OR_RAISE(auto node, One(target, match, prefix + target.field->name()));
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  Result<const SourceField*> FindById(const FieldsById& candidates, const TargetField& target,
                                      const std::string& prefix) const {
    const auto found = candidates.find(target.id);
    if (found == candidates.end()) return nullptr;
    const auto [match, other] = found->second;
    if (other != nullptr) {
      return Invalid("file {}: columns '{}{}' and '{}{}' both have field id {}", source.name, prefix, match->name,
                     prefix, other->name, target.id);
    }
    return match;
  }

  Result<Node> One(const TargetField& target, const SourceField* match, std::string path) {
    Node node;
    node.target = target;
    node.target.children.clear();
    node.path = std::move(path);
    ARROW_ASSIGN_OR_RAISE(node.action, ActionOf(target, match, &node));
    if (match == nullptr || node.action == Action::kConstant) return node;
    node.source = match;
    node.source_type = match->type;
    if (match->children.empty()) {
      ARROW_RETURN_NOT_OK(Primitive(&node));
    } else if (match->type->id() == arrow::Type::EXTENSION) {
      ARROW_RETURN_NOT_OK(Whole(&node));
    } else {
      ARROW_RETURN_NOT_OK(Nested(target, &node));
    }
    return node;
  }

  Result<Action> ActionOf(const TargetField& target, const SourceField* match, Node* node) const {
    switch (target.kind) {
      case TargetField::Kind::kFilePath:
        return Action::kFilePath;
      case TargetField::Kind::kRowPosition:
        return Action::kRowPosition;
      case TargetField::Kind::kRowId:
        return Action::kRowId;
      case TargetField::Kind::kLastUpdatedSequenceNumber:
        return Action::kLastUpdatedSequenceNumber;
      case TargetField::Kind::kColumn:
        break;
    }
    if (match != nullptr) return Action::kRead;
    ARROW_ASSIGN_OR_RAISE(node->constant, MissingValue(target, node->path));
    return Action::kConstant;
  }

  Result<Value> MissingValue(const TargetField& target, const std::string& path) const {
    if (auto value = values.identity_partition.find(target.id); value != values.identity_partition.end()) {
      return value->second;
    }
    if (target.missing_value) return *target.missing_value;
    if (target.has_nested_default) {
      return NotImplemented("file {} lacks column '{}': the default of a nested column is not supported", source.name,
                            path);
    }
    if (source.matched_by_name && rules.missing_by_name_is_error) {
      return Invalid("file {} has no field ids, its table has no name mapping, and it has no column '{}'", source.name,
                     path);
    }
    const bool unmapped = rules.unmapped_is_null && source.matched_by_mapping && path == target.field->name();
    if (!target.field->nullable() && !unmapped) {
      return Invalid("file {} lacks the required column '{}', which has no default", source.name, path);
    }
    return Value{};
  }

  Status Primitive(Node* node) {
    const auto& type = *node->target.field->type();
    if (!CanCastExactly(*node->source_type, type, CastsFor(*node->source)) || type.num_fields() > 0) {
      return Mismatch(*node);
    }
    node->source_leaf = node->source->leaf;
    node->is_int96 = node->source->is_int96;
    leaves.insert(node->source->leaf);
    return Status::OK();
  }

  /// A timestamp of 96 bits cannot say whether it has a zone: the table does.
  CastRules CastsFor(const SourceField& field) const { return field.is_int96 ? CastRules::kRead : rules.casts; }

  /// A variant is one value, of several columns.
  Status Whole(Node* node) {
    if (!node->source_type->Equals(*node->target.field->type())) return Mismatch(*node);
    CollectLeaves(node->source->children, &leaves);
    return Status::OK();
  }

  Status Nested(const TargetField& target, Node* node) {
    const SourceField& match = *node->source;
    if (!SameShape(*match.type, *target.field->type())) return Mismatch(*node);
    if (match.type->id() == arrow::Type::STRUCT) {
      ARROW_ASSIGN_OR_RAISE(node->children, All(target.children, match.children, node->path + "."));
    } else {
      for (size_t i = 0; i < target.children.size(); ++i) {
        ARROW_ASSIGN_OR_RAISE(auto child, One(target.children[i], &match.children[i],
                                              node->path + "." + target.children[i].field->name()));
        node->children.push_back(std::move(child));
      }
    }
    int depth = 0;
    if (!IsRead(match, leaves)) leaves.insert(CheapestLeaf(match, 0, &depth));
    return Status::OK();
  }

  Status Mismatch(const Node& node) const {
    return Invalid("file {}: column '{}' is {}, which cannot become {} without loss", source.name, node.path,
                   node.source_type->ToString(), node.target.field->type()->ToString());
  }

  /// Sets where each node's values stand once only `leaves` are read.
  void Place(const std::vector<SourceField>& candidates, std::vector<Node>* nodes) const {
    if (nodes->empty()) return;
    std::vector<int> read_before;
    int read = 0;
    for (const SourceField& candidate : candidates) {
      read_before.push_back(read);
      read += IsRead(candidate, leaves) ? 1 : 0;
    }
    for (Node& node : *nodes) {
      if (node.source == nullptr) continue;
      node.child = read_before[static_cast<size_t>(node.source - candidates.data())];
      Place(node.source->children, &node.children);
      node.source = nullptr;
    }
  }
};

Result<ColumnProjection> ColumnProjection::Make(const SourceSchema& source, const std::vector<TargetField>& targets,
                                                FileValues values, const ProjectionRules& rules) {
  ColumnProjection result;
  result.values_ = std::move(values);
  result.rules_ = rules;
  Resolver resolver{source, result.values_, rules, {}};
  ARROW_ASSIGN_OR_RAISE(result.nodes_, resolver.All(targets, source.fields, ""));
  if (rules.whole_source) CollectLeaves(source.fields, &resolver.leaves);
  resolver.Place(source.fields, &result.nodes_);
  result.leaves_.assign(resolver.leaves.begin(), resolver.leaves.end());
  result.schema_ = SchemaOf(targets);
  return result;
}

bool ColumnProjection::is_null_though_required(size_t i) const {
  const Node& node = nodes_[i];
  return node.action == Action::kConstant && IsNull(node.constant) && !node.target.field->nullable();
}

const ColumnProjection::Node* ColumnProjection::Find(const std::vector<Node>& nodes, int field_id) {
  for (const Node& node : nodes) {
    if (node.target.id == field_id) return &node;
    if (node.target.field->type()->id() != arrow::Type::STRUCT) continue;
    const Node* found = Find(node.children, field_id);
    if (found == nullptr) continue;
    // A constant inside a struct does not hold where the struct is null.
    return found->action == Action::kConstant ? nullptr : found;
  }
  return nullptr;
}

std::optional<ColumnProjection::Origin> ColumnProjection::OriginOf(int field_id) const {
  const Node* node = Find(nodes_, field_id);
  if (node == nullptr) return std::nullopt;
  const auto& type = node->target.field->type();
  if (node->action == Action::kFilePath) return Origin{-1, values_.path, nullptr, type, false};
  if (node->action == Action::kConstant) return Origin{-1, node->constant, nullptr, type, false};
  if (node->action != Action::kRead || node->source_leaf < 0) return std::nullopt;
  return Origin{node->source_leaf, {}, node->source_type, type, node->is_int96};
}

}  // namespace calve::pipeline
