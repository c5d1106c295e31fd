#include "calve/pipeline/file_filter_pushdown.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <string>
#include <utility>
#include <vector>

namespace calve::pipeline {
namespace {

using expr::NodePtr;
using expr::Op;

/// Appends the way through structs to a leaf, and gives its field; null when there is none.
const parquet::ArrowNode* FindLeaf(const std::vector<parquet::ArrowNode>& fields, int leaf, std::vector<int>* path) {
  for (size_t i = 0; i < fields.size(); ++i) {
    path->push_back(static_cast<int>(i));
    if (fields[i].leaf_index == leaf) return &fields[i];
    if (fields[i].field->type()->id() == arrow::Type::STRUCT) {
      if (const auto* found = FindLeaf(fields[i].children, leaf, path)) return found;
    }
    path->pop_back();
  }
  return nullptr;
}

/// `node`, whose tests are all of one column, with that column at `path`.
NodePtr AtPath(const NodePtr& node, const std::vector<int>& path) {
  auto copy = std::make_shared<expr::Node>(*node);
  if (node->op >= Op::kEqual) copy->column.path = path;
  for (NodePtr& child : copy->children) child = AtPath(child, path);
  return copy;
}

NodePtr AnswerOfConstant(const NodePtr& test, const Value& constant) {
  const auto lookup = [&](const expr::ColumnRef&) { return BoundsOfConstant(constant, 1); };
  return expr::MightMatch(test, lookup) ? expr::True() : expr::False();
}

NodePtr TestOfFile(const NodePtr& test, const ColumnProjection& projection, const parquet::FileSchema& schema) {
  if (test->column.field_id < 0) return expr::True();
  const auto origin = projection.OriginOf(test->column.field_id);
  if (!origin) return expr::True();
  if (origin->leaf < 0) return AnswerOfConstant(test, origin->constant);
  std::vector<int> path;
  const parquet::ArrowNode* node = FindLeaf(schema.fields, origin->leaf, &path);
  if (node == nullptr) return expr::True();
  const auto id = arrow::key_value_metadata({{"PARQUET:field_id", std::to_string(test->column.field_id)}});
  const auto rebound = expr::Rebind(test, arrow::Schema({node->field->WithMetadata(id)}));
  return rebound.ok() ? AtPath(*rebound, path) : expr::True();
}

}  // namespace

NodePtr FilterOfFile(const NodePtr& filter, const ColumnProjection& projection, const parquet::FileSchema& schema) {
  if (filter->op == Op::kTrue || filter->op == Op::kFalse) return filter;
  if (filter->op != Op::kAnd && filter->op != Op::kOr) return TestOfFile(filter, projection, schema);
  std::vector<NodePtr> children;
  for (const NodePtr& child : filter->children) children.push_back(FilterOfFile(child, projection, schema));
  return filter->op == Op::kAnd ? expr::And(std::move(children)) : expr::Or(std::move(children));
}

std::optional<expr::ColumnBounds> BoundsOfConstant(const Value& constant, int64_t rows) {
  if (IsNaN(constant)) return std::nullopt;
  expr::ColumnBounds bounds;
  bounds.value_count = rows;
  bounds.null_count = IsNull(constant) ? rows : 0;
  bounds.nan_count = 0;
  bounds.lower = bounds.upper = constant;
  return bounds;
}

}  // namespace calve::pipeline
