#include "calve/pipeline/batch_filter.h"

#include "calve/base/status.h"
#include "calve/expr/evaluate.h"
#include "calve/pipeline/filter_target.h"

#include <arrow/array/data.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

namespace calve::pipeline {
namespace {

using Data = std::shared_ptr<arrow::ArrayData>;

Data WithType(const Data& data, std::shared_ptr<arrow::DataType> type) {
  auto result = data->Copy();
  result->type = std::move(type);
  return result;
}

bool IsDictionaryOfViews(const arrow::DataType& type) {
  return type.id() == arrow::Type::DICTIONARY &&
         arrow::is_binary_view_like(static_cast<const arrow::DictionaryType&>(type).value_type()->id());
}

/// The values of a dictionary of text views, row by row. Arrow takes no views: they are taken as numbers of their
/// width.
Result<Data> DecodedViews(const Data& data, arrow::compute::ExecContext* context) {
  static constexpr int kViewBytes = sizeof(arrow::BinaryViewType::c_type);
  const auto& dictionary = data->dictionary;
  auto views = WithType(dictionary, arrow::fixed_size_binary(kViewBytes));
  views->buffers.resize(2);
  const auto keys = WithType(data, static_cast<const arrow::DictionaryType&>(*data->type).index_type());
  keys->dictionary = nullptr;
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum taken,
                        arrow::compute::Take(views, keys, arrow::compute::TakeOptions::NoBoundsCheck(), context));
  const auto result = WithType(taken.array(), dictionary->type);
  result->buffers.insert(result->buffers.end(), dictionary->buffers.begin() + 2, dictionary->buffers.end());
  return result;
}

/// `data`, a column as `whole` says, with those children of structs alone that `kept` has, in a form that Arrow casts.
Result<Data> KeptOf(const Data& data, const TargetField& whole, const TargetField& kept,
                    arrow::compute::ExecContext* context) {
  if (IsDictionaryOfViews(*data->type)) return DecodedViews(data, context);
  if (data->type->id() != arrow::Type::STRUCT) return data;
  auto result = data->Copy();
  result->child_data.clear();
  arrow::FieldVector fields;
  for (size_t i = 0; i < whole.children.size(); ++i) {
    const size_t next = result->child_data.size();
    if (next == kept.children.size() || whole.children[i].id != kept.children[next].id) continue;
    ARROW_ASSIGN_OR_RAISE(auto child, KeptOf(data->child_data[i], whole.children[i], kept.children[next], context));
    result->child_data.push_back(std::move(child));
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
    ARROW_ASSIGN_OR_RAISE(auto data, KeptOf(batch.column_data(some.column), some.whole, some.kept, &context));
    auto column = arrow::MakeArray(std::move(data));
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
