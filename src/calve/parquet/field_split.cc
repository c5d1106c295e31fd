#include "calve/parquet/field_split.h"

#include <arrow/record_batch.h>

#include <algorithm>

namespace calve::parquet {
namespace {

void AddLeaves(const ArrowNode& node, std::vector<int>* out) {
  if (node.leaf_index >= 0) out->push_back(node.leaf_index);
  for (const ArrowNode& child : node.children) AddLeaves(child, out);
}

/// The leaves under a field of the selection, as the file counts them.
std::vector<int> LeavesUnder(const Selection& selection, const ArrowNode& node) {
  std::vector<int> leaves;
  AddLeaves(node, &leaves);
  for (int& leaf : leaves) leaf = selection.leaves[static_cast<size_t>(leaf)];
  std::sort(leaves.begin(), leaves.end());
  return leaves;
}

int IndexOf(const Selection& selection, const std::vector<int>& leaves) {
  const auto& fields = selection.schema.fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (LeavesUnder(selection, fields[i]) == leaves) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

Result<FieldSplit> FieldSplit::Make(const Footer& footer, const std::vector<int>& leaves,
                                    const std::vector<int>& tested_leaves) {
  FieldSplit split;
  ARROW_ASSIGN_OR_RAISE(split.output, footer.SelectLeaves(leaves));
  ARROW_ASSIGN_OR_RAISE(split.tested, footer.SelectLeaves(tested_leaves));
  std::vector<int> rest;
  for (const ArrowNode& field : split.output.schema.fields) {
    const auto under = LeavesUnder(split.output, field);
    if (IndexOf(split.tested, under) < 0) rest.insert(rest.end(), under.begin(), under.end());
  }
  std::sort(rest.begin(), rest.end());
  ARROW_ASSIGN_OR_RAISE(split.rest, footer.SelectLeaves(rest));
  for (const ArrowNode& field : split.output.schema.fields) {
    const auto under = LeavesUnder(split.output, field);
    const int tested = IndexOf(split.tested, under);
    split.sources.push_back(tested >= 0 ? tested : ~IndexOf(split.rest, under));
  }
  return split;
}

bool FieldSplit::uses_tested() const {
  return std::ranges::any_of(sources, [](int source) { return source >= 0; });
}

std::shared_ptr<arrow::RecordBatch> FieldSplit::Join(int64_t rows, const arrow::RecordBatch* from_tested,
                                                     const arrow::RecordBatch* from_rest) const {
  std::vector<std::shared_ptr<arrow::ArrayData>> columns;
  for (const int source : sources) {
    columns.push_back(source >= 0 ? from_tested->column_data(source) : from_rest->column_data(~source));
  }
  return arrow::RecordBatch::Make(output.schema.arrow_schema, rows, std::move(columns));
}

}  // namespace calve::parquet
