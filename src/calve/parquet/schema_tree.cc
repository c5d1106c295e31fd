#include "calve/parquet/schema_tree.h"

#include "calve/parquet/schema_limits.h"

#include "calve/base/status.h"

// The elements are the tree in preorder; a group is followed by the subtrees of its num_children fields. Levels
// ("Nested Encoding"): an optional field adds one definition level, a repeated one adds a definition and a repetition
// level.

namespace calve::parquet {
namespace {

class TreeBuilder {
 public:
  explicit TreeBuilder(const std::vector<SchemaElement>& elements) : elements_(elements) {}

  Result<SchemaNode> Build() {
    if (elements_.empty()) return Invalid("the schema has no root");
    SchemaNode root;
    root.element = elements_[0];
    if (root.element.type) return Invalid("the root of the schema is no group");
    next_ = 1;
    ARROW_RETURN_NOT_OK(AddChildren(&root, 0));
    if (next_ != elements_.size()) {
      return Invalid("the schema lists {} elements, its tree has {}", elements_.size(), next_);
    }
    return root;
  }

 private:
  Status AddChildren(SchemaNode* parent, int depth) {
    const int32_t count = parent->element.num_children;
    if (count < 0 || static_cast<size_t>(count) > elements_.size() - next_) {
      return Invalid("schema group '{}' has {} fields, {} elements are left", parent->element.name, count,
                     elements_.size() - next_);
    }
    if (depth == kMaxSchemaDepth) return Invalid("the schema is nested deeper than {} levels", kMaxSchemaDepth);
    parent->children.reserve(count);
    for (int32_t i = 0; i < count; ++i) {
      if (next_ == elements_.size()) return Invalid("the schema ends inside group '{}'", parent->element.name);
      parent->children.emplace_back();
      ARROW_RETURN_NOT_OK(Fill(&parent->children.back(), *parent, depth + 1));
    }
    return Status::OK();
  }

  Status Fill(SchemaNode* node, const SchemaNode& parent, int depth) {
    node->element = elements_[next_++];
    const Repetition repetition = node->element.repetition.value_or(Repetition::kRequired);
    node->max_definition_level = parent.max_definition_level + (repetition == Repetition::kRequired ? 0 : 1);
    node->max_repetition_level = parent.max_repetition_level + (repetition == Repetition::kRepeated ? 1 : 0);
    if (node->element.type) {
      if (node->element.num_children != 0)
        return Invalid("schema element '{}' has both a type and fields", node->element.name);
      node->leaf_index = leaves_++;
      return Status::OK();
    }
    if (node->element.num_children == 0) return Invalid("schema group '{}' has no fields", node->element.name);
    return AddChildren(node, depth);
  }

  const std::vector<SchemaElement>& elements_;
  size_t next_ = 0;
  int leaves_ = 0;
};

}  // namespace

Result<SchemaNode> MakeSchemaTree(const std::vector<SchemaElement>& elements) { return TreeBuilder(elements).Build(); }

}  // namespace calve::parquet
