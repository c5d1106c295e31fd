#include "calve/pipeline/batch_filter.h"

#include "calve/base/status.h"
#include "calve/expr/evaluate.h"
#include "calve/pipeline/filter_target.h"

#include <arrow/array/data.h>
#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

namespace calve::pipeline {
namespace {

/// `data`, a column as `whole` says, with those children of structs alone that `kept` has.
std::shared_ptr<arrow::ArrayData> KeptOf(const std::shared_ptr<arrow::ArrayData>& data, const TargetField& whole,
                                         const TargetField& kept) {
  if (data->type->id() != arrow::Type::STRUCT) return data;
  auto result = data->Copy();
  result->child_data.clear();
  arrow::FieldVector fields;
  for (size_t i = 0; i < whole.children.size(); ++i) {
    const size_t next = result->child_data.size();
    if (next == kept.children.size() || whole.children[i].id != kept.children[next].id) continue;
    result->child_data.push_back(KeptOf(data->child_data[i], whole.children[i], kept.children[next]));
    fields.push_back(data->type->field(static_cast<int>(i))->WithType(result->child_data.back()->type));
  }
  result->type = arrow::struct_(std::move(fields));
  return result;
}

}  // namespace

Result<BatchFilter> BatchFilter::Make(const Expression& filter, const arrow::Schema& schema) {
  BatchFilter result;
  if (filter.always_true()) return result;
  const auto testable = FilterTargets(TargetsOf(schema));
  ARROW_ASSIGN_OR_RAISE(const auto bound, expr::Bind(filter.root(), *SchemaOf(testable)));
  const auto ids = expr::FieldIdsOf(bound);
  arrow::FieldVector fields;
  for (int i = 0; i < schema.num_fields(); ++i) {
    const TargetField& whole = testable[static_cast<size_t>(i)];
    if (TargetsWith({whole}, ids).empty()) continue;
    result.columns_.push_back({i, whole, PrunedTo(whole, ids)});
    fields.push_back(result.columns_.back().kept.field);
  }
  result.schema_ = arrow::schema(std::move(fields));
  ARROW_ASSIGN_OR_RAISE(result.node_, expr::Bind(filter.root(), *result.schema_));
  return result;
}

Result<std::shared_ptr<arrow::RecordBatch>> BatchFilter::Keep(const arrow::RecordBatch& batch,
                                                              const std::shared_ptr<arrow::RecordBatch>& output,
                                                              arrow::MemoryPool* pool) const {
  if (!tests()) return output;
  arrow::compute::ExecContext context(pool);
  arrow::ArrayVector columns;
  for (const Tested& some : columns_) {
    auto column = arrow::MakeArray(KeptOf(batch.column_data(some.column), some.whole, some.kept));
    const auto& type = some.kept.field->type();
    if (!column->type()->Equals(*type)) {
      ARROW_ASSIGN_OR_RAISE(column, arrow::compute::Cast(*column, type, arrow::compute::CastOptions::Safe(), &context));
    }
    columns.push_back(std::move(column));
  }
  const auto tested = arrow::RecordBatch::Make(schema_, batch.num_rows(), std::move(columns));
  ARROW_ASSIGN_OR_RAISE(const auto mask, expr::Evaluate(node_, *tested, pool));
  return expr::KeepRows(output, mask, pool);
}

}  // namespace calve::pipeline
