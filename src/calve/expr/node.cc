#include "calve/expr/node.h"

#include <algorithm>
#include <set>
#include <utility>

namespace calve::expr {
namespace {

NodePtr Leaf(Op op) {
  auto node = std::make_shared<Node>();
  node->op = op;
  return node;
}

/// Joins `nodes`, without those equal to `neutral`; `absorbing` decides alone.
NodePtr Join(Op op, Op neutral, Op absorbing, std::vector<NodePtr> nodes) {
  auto joined = std::make_shared<Node>();
  joined->op = op;
  for (NodePtr& node : nodes) {
    if (node->op == absorbing) return node;
    if (node->op == neutral) continue;
    if (node->op == op) {
      joined->children.insert(joined->children.end(), node->children.begin(), node->children.end());
    } else {
      joined->children.push_back(std::move(node));
    }
  }
  if (joined->children.empty()) return Leaf(neutral);
  if (joined->children.size() == 1) return joined->children.front();
  return joined;
}

void CollectColumns(const Node& node, std::vector<ColumnRef>* columns,
                    std::set<std::pair<std::string, std::vector<int>>>* seen) {
  for (const NodePtr& child : node.children) CollectColumns(*child, columns, seen);
  const bool is_test = node.op >= Op::kEqual;
  if (is_test && seen->emplace(node.column.name, node.column.path).second) columns->push_back(node.column);
}

}  // namespace

NodePtr True() {
  static const NodePtr node = Leaf(Op::kTrue);
  return node;
}

NodePtr False() {
  static const NodePtr node = Leaf(Op::kFalse);
  return node;
}

NodePtr And(std::vector<NodePtr> nodes) { return Join(Op::kAnd, Op::kTrue, Op::kFalse, std::move(nodes)); }
NodePtr Or(std::vector<NodePtr> nodes) { return Join(Op::kOr, Op::kFalse, Op::kTrue, std::move(nodes)); }

NodePtr And(NodePtr left, NodePtr right) { return And(std::vector<NodePtr>{std::move(left), std::move(right)}); }

NodePtr Or(NodePtr left, NodePtr right) { return Or(std::vector<NodePtr>{std::move(left), std::move(right)}); }

NodePtr Not(NodePtr node) {
  if (node->op == Op::kTrue) return False();
  if (node->op == Op::kFalse) return True();
  auto negated = std::make_shared<Node>();
  negated->op = Op::kNot;
  negated->children.push_back(std::move(node));
  return negated;
}

NodePtr Test(Op op, ColumnRef column, std::vector<Value> values) {
  auto test = std::make_shared<Node>();
  test->op = op;
  test->column = std::move(column);
  test->values = std::move(values);
  return test;
}

std::vector<ColumnRef> ColumnsOf(const NodePtr& node) {
  std::vector<ColumnRef> columns;
  std::set<std::pair<std::string, std::vector<int>>> seen;
  CollectColumns(*node, &columns, &seen);
  return columns;
}

std::vector<int> FieldIdsOf(const NodePtr& node) {
  std::set<int> ids;
  for (const ColumnRef& column : ColumnsOf(node)) {
    if (column.field_id >= 0) ids.insert(column.field_id);
  }
  return {ids.begin(), ids.end()};
}

}  // namespace calve::expr
