#include "calve/parquet/predicate.h"

#include "calve/parquet/leaf_type.h"

#include "calve/base/status.h"
#include "calve/expr/domain.h"

#include <algorithm>

namespace calve::parquet {
namespace {

void AddLeaves(const ArrowNode& node, std::vector<int>* out) {
  if (node.leaf_index >= 0) out->push_back(node.leaf_index);
  for (const ArrowNode& child : node.children) AddLeaves(child, out);
}

bool IsBound(const expr::Node& node) {
  if (node.op >= expr::Op::kEqual) return node.column.type != nullptr;
  return std::ranges::all_of(node.children, [](const expr::NodePtr& child) { return IsBound(*child); });
}

/// The field that a bound column's path leads to; null when it leads nowhere.
const ArrowNode* Follow(const std::vector<ArrowNode>& fields, const std::vector<int>& path) {
  const std::vector<ArrowNode>* level = &fields;
  const ArrowNode* node = nullptr;
  for (int index : path) {
    if (index < 0 || static_cast<size_t>(index) >= level->size()) return nullptr;
    node = &(*level)[static_cast<size_t>(index)];
    level = &node->children;
  }
  return node;
}

/// Whether values of the leaf, by its annotation alone, stand in a Value as those of `type` do.
bool ReadsAs(const LeafColumn& leaf, const arrow::DataType& type) {
  if (*leaf.element.type == PhysicalType::kInt96) return false;  // of whatever unit is asked for
  std::string unsupported;
  const auto own = LeafType(leaf.element, {}, &unsupported);
  return own.ok() && unsupported.empty() && expr::SameDomain(**own, type);
}

Result<PredicateColumn> ColumnAt(const expr::ColumnRef& ref, const FileSchema& schema) {
  const ArrowNode* node = Follow(schema.fields, ref.path);
  if (node == nullptr || ref.type == nullptr) {
    return Invalid("filter: column '{}' is not bound to the file's schema", ref.name);
  }
  PredicateColumn column;
  column.path = ref.path;
  column.type = node->field->type();
  AddLeaves(*node, &column.leaves);
  std::sort(column.leaves.begin(), column.leaves.end());
  const int leaf = node->leaf_index;
  if (leaf >= 0 && schema.leaves[static_cast<size_t>(leaf)].max_repetition_level == 0 &&
      ReadsAs(schema.leaves[static_cast<size_t>(leaf)], *ref.type)) {
    column.leaf = leaf;
  }
  return column;
}

bool HasAny(const ArrowNode& node, const std::vector<int>& leaves) {
  if (node.leaf_index >= 0) return std::binary_search(leaves.begin(), leaves.end(), node.leaf_index);
  return std::ranges::any_of(node.children, [&](const ArrowNode& child) { return HasAny(child, leaves); });
}

/// The path to the same field where only the fields with some of `leaves` are.
std::vector<int> PrunedPath(const FileSchema& schema, const std::vector<int>& path, const std::vector<int>& leaves) {
  std::vector<int> result;
  const std::vector<ArrowNode>* level = &schema.fields;
  for (int index : path) {
    const auto begin = level->begin(), at = begin + index;
    result.push_back(static_cast<int>(std::count_if(begin, at, [&](const ArrowNode& n) { return HasAny(n, leaves); })));
    level = &at->children;
  }
  return result;
}

expr::NodePtr WithPaths(const expr::NodePtr& node, const FileSchema& schema, const std::vector<int>& leaves) {
  auto copy = std::make_shared<expr::Node>(*node);
  if (node->op >= expr::Op::kEqual) copy->column.path = PrunedPath(schema, node->column.path, leaves);
  for (expr::NodePtr& child : copy->children) child = WithPaths(child, schema, leaves);
  return copy;
}

}  // namespace

Result<Predicate> Predicate::Make(const Expression& filter, const FileSchema& schema) {
  Predicate predicate;
  predicate.node_ = filter.root();
  if (!IsBound(*predicate.node_)) {
    ARROW_ASSIGN_OR_RAISE(predicate.node_, expr::Bind(filter.root(), *schema.arrow_schema));
  }
  for (const expr::ColumnRef& ref : expr::ColumnsOf(predicate.node_)) {
    ARROW_ASSIGN_OR_RAISE(PredicateColumn column, ColumnAt(ref, schema));
    predicate.leaves_.insert(predicate.leaves_.end(), column.leaves.begin(), column.leaves.end());
    predicate.columns_.push_back(std::move(column));
  }
  std::sort(predicate.leaves_.begin(), predicate.leaves_.end());
  predicate.leaves_.erase(std::unique(predicate.leaves_.begin(), predicate.leaves_.end()), predicate.leaves_.end());
  if (predicate.leaves_.empty()) {
    // Without a test it is the same for all rows.
    ARROW_ASSIGN_OR_RAISE(const bool passes, MightMatchTests(predicate.node_, [](const auto&) -> Result<bool> {
                            return Invalid("filter: a test without a column");
                          }));
    predicate.node_ = passes ? expr::True() : expr::False();
  }
  return predicate;
}

const PredicateColumn& Predicate::ColumnOf(const expr::Node& test) const {
  return *std::ranges::find(columns_, test.column.path, &PredicateColumn::path);
}

expr::NodePtr Predicate::NodeFor(const FileSchema& schema, const Selection& selection) const {
  return WithPaths(node_, schema, selection.leaves);
}

}  // namespace calve::parquet
