#include "calve/pipeline/batch_filter.h"

#include "calve/base/status.h"
#include "calve/expr/evaluate.h"
#include "calve/pipeline/filter_target.h"

#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

namespace calve::pipeline {

Result<BatchFilter> BatchFilter::Make(const Expression& filter, const arrow::Schema& schema) {
  BatchFilter result;
  if (filter.always_true()) return result;
  const auto testable = FilterTargets(TargetsOf(schema));
  ARROW_ASSIGN_OR_RAISE(const auto bound, expr::Bind(filter.root(), *SchemaOf(testable)));
  const auto ids = expr::FieldIdsOf(bound);
  arrow::FieldVector fields;
  for (int i = 0; i < schema.num_fields(); ++i) {
    const auto tested = TargetsWith({testable[static_cast<size_t>(i)]}, ids);
    if (tested.empty()) continue;
    result.columns_.push_back(i);
    fields.push_back(tested[0].field);
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
  for (size_t i = 0; i < columns_.size(); ++i) {
    std::shared_ptr<arrow::Array> column = batch.column(columns_[i]);
    const auto& type = schema_->field(static_cast<int>(i))->type();
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
