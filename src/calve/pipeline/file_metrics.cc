#include "calve/pipeline/file_metrics.h"

#include "calve/base/status.h"
#include "calve/parquet/chunk_bounds.h"

#include <arrow/type.h>
#include <arrow/type_traits.h>

namespace calve::pipeline {
namespace {

using iceberg::LeafMetrics;

void CollectLeaves(const std::vector<SourceField>& fields, std::vector<const SourceField*>* leaves) {
  for (const SourceField& field : fields) {
    if (field.leaf >= 0) leaves->push_back(&field);
    CollectLeaves(field.children, leaves);
  }
}

/// Adds a count that is known to a sum that is known.
void Accumulate(std::optional<int64_t> count, bool first, std::optional<int64_t>* sum) {
  if (first) {
    *sum = count;
  } else {
    *sum = *sum && count ? std::optional(**sum + *count) : std::nullopt;
  }
}

/// The metrics of one leaf over the row groups, added one at a time.
class LeafAccumulator {
 public:
  LeafAccumulator(const SourceField& source, std::shared_ptr<arrow::DataType> type, bool type_defined_order)
      : source_(source), type_(std::move(type)), type_defined_order_(type_defined_order) {
    metrics_.field_id = source.id;
    metrics_.inside_repeated = source.is_repeated;
    metrics_.value_count = 0;
  }

  void Add(const parquet::ColumnMetadata& chunk) {
    const auto bounds = BoundsOfChunk(chunk, *source_.type, type_defined_order_, *type_);
    metrics_.column_size_bytes += chunk.total_compressed_size;
    *metrics_.value_count += chunk.num_values;
    Accumulate(bounds.null_count, first_, &metrics_.null_count);
    Accumulate(bounds.nan_count, first_, &metrics_.nan_count);
    first_ = false;
    if (chunk.num_values > 0 && bounds.null_count == chunk.num_values) return;
    if (chunk.num_values == 0) return;
    Widen(bounds.lower, true, &metrics_.lower);
    Widen(bounds.upper, false, &metrics_.upper);
    if (chunk.statistics && chunk.statistics->is_min_value_exact == false) metrics_.lower_exact = false;
    if (chunk.statistics && chunk.statistics->is_max_value_exact == false) metrics_.upper_exact = false;
  }

  LeafMetrics Finish() {
    if (lower_unknown_) metrics_.lower = Value();
    if (upper_unknown_) metrics_.upper = Value();
    return std::move(metrics_);
  }

 private:
  void Widen(const Value& bound, bool is_lower, Value* so_far) {
    if (IsNull(bound)) {
      (is_lower ? lower_unknown_ : upper_unknown_) = true;
    } else if (IsNull(*so_far) ||
               Compare(bound, *so_far) == (is_lower ? std::partial_ordering::less : std::partial_ordering::greater)) {
      *so_far = bound;
    }
  }

  const SourceField& source_;
  std::shared_ptr<arrow::DataType> type_;
  bool type_defined_order_;
  bool first_ = true, lower_unknown_ = false, upper_unknown_ = false;
  LeafMetrics metrics_;
};

}  // namespace

Result<std::vector<LeafMetrics>> MetricsOfSummary(const ParquetFileSummary& summary,
                                                  const std::shared_ptr<arrow::Schema>& schema) {
  ARROW_ASSIGN_OR_RAISE(auto elements, parquet::ElementsFromArrow(*schema));
  ARROW_ASSIGN_OR_RAISE(auto file_schema, parquet::FileSchema::Make(elements));
  const SourceSchema source = SourceSchema::OfFile(file_schema, "");
  std::vector<const SourceField*> leaves;
  CollectLeaves(source.fields, &leaves);
  std::vector<LeafMetrics> result;
  for (const ParquetColumnSummary& column : summary.columns) {
    if (column.leaf_index < 0 || static_cast<size_t>(column.leaf_index) >= leaves.size()) {
      return Invalid("summary names column {} of {}", column.leaf_index, leaves.size());
    }
    const SourceField& leaf = *leaves[column.leaf_index];
    const auto physical = *file_schema.leaves[column.leaf_index].element.type;
    LeafMetrics metrics;
    metrics.field_id = column.field_id;
    metrics.column_size_bytes = column.compressed_bytes;
    metrics.value_count = column.value_count;
    metrics.null_count = column.null_count;
    if (arrow::is_floating(leaf.type->id())) metrics.nan_count = column.nan_count;
    metrics.inside_repeated = column.inside_repeated;
    if (column.min) metrics.lower = DecodeBound(physical, *leaf.type, *column.min, *leaf.type, true);
    if (column.max) metrics.upper = DecodeBound(physical, *leaf.type, *column.max, *leaf.type, false);
    result.push_back(std::move(metrics));
  }
  return result;
}

Result<std::vector<LeafMetrics>> MetricsOfFooter(const parquet::FileMetadata& footer, const SourceSchema& source,
                                                 const iceberg::Schema& table_schema) {
  std::vector<const SourceField*> leaves;
  CollectLeaves(source.fields, &leaves);
  std::vector<LeafMetrics> result;
  for (const SourceField* leaf : leaves) {
    const iceberg::Field* field = leaf->id >= 0 ? table_schema.FindById(leaf->id) : nullptr;
    if (field == nullptr || !field->type->is_primitive()) continue;
    ARROW_ASSIGN_OR_RAISE(auto type, iceberg::ToArrow(*field->type));
    const auto index = static_cast<size_t>(leaf->leaf);
    const bool ordered = index < footer.type_defined_order.size() && footer.type_defined_order[index];
    LeafAccumulator accumulator(*leaf, std::move(type), ordered);
    for (const auto& group : footer.row_groups) {
      if (index >= group.columns.size() || !group.columns[index].metadata) {
        return Invalid("file {}: a row group lacks column '{}'", source.name, leaf->name);
      }
      accumulator.Add(*group.columns[index].metadata);
    }
    result.push_back(accumulator.Finish());
  }
  return result;
}

std::vector<int64_t> SplitOffsets(const parquet::FileMetadata& footer) {
  std::vector<int64_t> result;
  for (const auto& group : footer.row_groups) {
    if (group.columns.empty() || !group.columns[0].metadata) continue;
    const auto& first = *group.columns[0].metadata;
    const int64_t dictionary = first.dictionary_page_offset.value_or(0);
    result.push_back(dictionary > 0 && dictionary < first.data_page_offset ? dictionary : first.data_page_offset);
  }
  return result;
}

}  // namespace calve::pipeline
