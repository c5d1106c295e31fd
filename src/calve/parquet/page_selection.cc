#include "calve/parquet/page_selection.h"

#include "calve/parquet/chunk_bounds.h"

#include "calve/base/status.h"
#include "calve/expr/bounds.h"

namespace calve::parquet {
namespace {

using expr::Op;

/// Combines, by AND and OR, the rows that `select(test)`, a Result<RowRanges>, gives for each test.
template <typename Select>
Result<RowRanges> SelectByTests(const expr::NodePtr& node, int64_t num_rows, Select&& select) {
  if (node->op == Op::kFalse) return RowRanges();
  if (node->op == Op::kTrue || node->op == Op::kNot) return RowRanges::Of(0, num_rows);
  if (node->op != Op::kAnd && node->op != Op::kOr) return select(node);
  const bool is_and = node->op == Op::kAnd;
  RowRanges rows = is_and ? RowRanges::Of(0, num_rows) : RowRanges();
  for (const expr::NodePtr& child : node->children) {
    if (is_and && rows.empty()) break;
    ARROW_ASSIGN_OR_RAISE(const RowRanges of_child, SelectByTests(child, num_rows, select));
    rows = is_and ? Intersect(rows, of_child) : Union(rows, of_child);
  }
  return rows;
}

RowRanges SelectByTest(const expr::NodePtr& test, const PageIndex& index, int64_t num_rows, PhysicalType physical,
                       const arrow::DataType& type, bool type_defined_order) {
  const auto first_rows = index.offsets.first_rows();
  std::vector<bool> kept(first_rows.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    const int64_t end = i + 1 < kept.size() ? first_rows[i + 1] : num_rows;
    kept[i] = expr::MightMatch(test, [&](const expr::ColumnRef&) -> std::optional<expr::ColumnBounds> {
      return BoundsOfPage(*index.columns, i, end - first_rows[i], physical, type, type_defined_order, type);
    });
  }
  return RowRanges::OfPages(first_rows, num_rows, kept);
}

}  // namespace

Result<const PageIndexes::Known*> PageIndexes::Load(int leaf, bool with_columns) {
  const auto found = known_.find(leaf);
  if (found != known_.end() && (found->second.with_columns || !with_columns)) return &found->second;
  Known known;
  known.with_columns = with_columns;
  ARROW_ASSIGN_OR_RAISE(const ColumnChunk chunk, file_.footer->Chunk(row_group_, leaf));
  if (chunk.metadata && chunk.offset_index_offset) {
    ARROW_ASSIGN_OR_RAISE(
        const ChunkPlan plan,
        PlanChunk(*file_.footer, file_.footer->schema().leaves[static_cast<size_t>(leaf)], leaf, row_group_));
    ARROW_ASSIGN_OR_RAISE(known.index,
                          ReadPageIndex(file_.file.get(), chunk, plan, file_.footer->row_group(row_group_).num_rows,
                                        file_.footer->begin(), with_columns));
  }
  return &known_.insert_or_assign(leaf, std::move(known)).first->second;
}

Result<const OffsetIndex*> PageIndexes::OffsetsOf(int leaf) {
  ARROW_ASSIGN_OR_RAISE(const Known* known, Load(leaf, false));
  return known->index ? &known->index->offsets : nullptr;
}

Result<const PageIndex*> PageIndexes::IndexOf(int leaf) {
  ARROW_ASSIGN_OR_RAISE(const Known* known, Load(leaf, true));
  return known->index && known->index->columns ? &*known->index : nullptr;
}

Result<RowRanges> SelectRowsByPages(const Predicate& predicate, const OpenFile& file, int row_group,
                                    PageIndexes* indexes) {
  const int64_t num_rows = file.footer->row_group(row_group).num_rows;
  return SelectByTests(predicate.node(), num_rows, [&](const expr::NodePtr& test) -> Result<RowRanges> {
    const PredicateColumn& column = predicate.ColumnOf(*test);
    if (column.leaf < 0) return RowRanges::Of(0, num_rows);
    ARROW_ASSIGN_OR_RAISE(const PageIndex* index, indexes->IndexOf(column.leaf));
    if (index == nullptr) return RowRanges::Of(0, num_rows);
    const LeafColumn& leaf = file.footer->schema().leaves[static_cast<size_t>(column.leaf)];
    return SelectByTest(test, *index, num_rows, *leaf.element.type, *column.type,
                        file.footer->index().type_defined_order(column.leaf));
  });
}

PagesWithRows PagesOf(const OffsetIndex& index, int64_t num_rows, const RowRanges& wanted) {
  PagesWithRows result;
  const auto& locations = index.page_locations;
  result.pages.first_offset = locations.front().offset;
  for (size_t i = 0; i < locations.size(); ++i) {
    const int64_t begin = locations[i].first_row_index;
    const int64_t end = i + 1 < locations.size() ? locations[i + 1].first_row_index : num_rows;
    if (!wanted.Overlaps(begin, end)) continue;
    result.pages.pages.push_back(
        {locations[i].offset, locations[i].compressed_page_size, end - begin, static_cast<int64_t>(i)});
    result.rows.Append({begin, end});
  }
  return result;
}

}  // namespace calve::parquet
