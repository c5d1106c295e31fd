#include "calve/expr/evaluate.h"

#include "calve/base/status.h"
#include "calve/expr/array_tests.h"
#include "calve/expr/domain.h"
#include "calve/expr/filter_column.h"

#include <arrow/array.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/initialize.h>
#include <arrow/record_batch.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

namespace calve::expr {
namespace {

using arrow::BooleanArray;
using Mask = std::shared_ptr<BooleanArray>;

Status InitializeCompute() {
  static const Status status = arrow::compute::Initialize();
  return status;
}

Result<std::shared_ptr<arrow::Buffer>> FilledBits(int64_t count, bool value, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto bits, arrow::AllocateEmptyBitmap(count, pool));
  arrow::bit_util::SetBitsTo(bits->mutable_data(), 0, count, value);
  return bits;
}

Result<Mask> Constant(int64_t count, bool value, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto bits, FilledBits(count, value, pool));
  return std::make_shared<BooleanArray>(count, bits);
}

/// The column of `batch`, the nulls of the structs around it made its own.
Result<std::shared_ptr<arrow::Array>> ColumnOf(const ColumnRef& column, const arrow::RecordBatch& batch,
                                               arrow::MemoryPool* pool) {
  if (column.path.empty()) return Invalid("filter: column '{}' is not bound", column.name);
  std::shared_ptr<arrow::Array> array;
  for (const int index : column.path) {
    const int count = array == nullptr ? batch.num_columns() : array->type()->num_fields();
    const bool in_struct = array == nullptr || array->type_id() == arrow::Type::STRUCT;
    if (!in_struct || index < 0 || index >= count) {
      return Invalid("filter: the batch has no column '{}' where the filter was bound to it", column.name);
    }
    if (array == nullptr) {
      array = batch.column(index);
    } else {
      ARROW_ASSIGN_OR_RAISE(array, static_cast<const arrow::StructArray&>(*array).GetFlattenedField(index, pool));
    }
  }
  if (column.type != nullptr && !SameDomain(*column.type, *array->type())) {
    return Invalid("filter: column '{}' is bound as {}, the batch has {}", column.name, column.type->ToString(),
                   array->type()->ToString());
  }
  return array;
}

/// The mask of a test that knows no null answer: a null counts as `null_answer`, the others as `bits` tell.
Result<Mask> WithoutNulls(const TestAnswers& answers, int64_t count, bool null_answer, arrow::MemoryPool* pool) {
  if (answers.validity == nullptr) return std::make_shared<BooleanArray>(count, answers.bits);
  ARROW_ASSIGN_OR_RAISE(auto bits, arrow::AllocateEmptyBitmap(count, pool));
  const uint8_t* given = answers.bits->data();
  const uint8_t* validity = answers.validity->data();
  if (null_answer) {
    arrow::internal::BitmapOrNot(given, 0, validity, 0, count, 0, bits->mutable_data());
  } else {
    arrow::internal::BitmapAnd(given, 0, validity, 0, count, 0, bits->mutable_data());
  }
  return std::make_shared<BooleanArray>(count, bits);
}

Result<Mask> EvaluateTest(const Node& test, const arrow::RecordBatch& batch, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto array, ColumnOf(test.column, batch, pool));
  const int64_t count = array->length();
  ARROW_ASSIGN_OR_RAISE(TestAnswers answers, WithContext(TestArray(test.op, test.values, *array, pool),
                                                         fmt::format("filter: column '{}'", test.column.name)));
  switch (test.op) {
    case Op::kIsNull:
    case Op::kNotNull: {
      const bool null_answer = test.op == Op::kIsNull;
      ARROW_ASSIGN_OR_RAISE(answers.bits, FilledBits(count, !null_answer, pool));
      return WithoutNulls(answers, count, null_answer, pool);
    }
    case Op::kIsNaN:
      return WithoutNulls(answers, count, false, pool);
    case Op::kNotNaN:
      return WithoutNulls(answers, count, true, pool);
    default:
      return std::make_shared<BooleanArray>(count, answers.bits, answers.validity);
  }
}

Result<Mask> EvaluateNode(const Node& node, const arrow::RecordBatch& batch, arrow::MemoryPool* pool);

Result<Mask> EvaluateJoined(const Node& node, const arrow::RecordBatch& batch, arrow::MemoryPool* pool) {
  arrow::compute::ExecContext context(pool);
  Mask mask;
  for (const NodePtr& child : node.children) {
    ARROW_ASSIGN_OR_RAISE(Mask next, EvaluateNode(*child, batch, pool));
    if (mask == nullptr) {
      mask = std::move(next);
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto joined, node.op == Op::kAnd ? arrow::compute::KleeneAnd(mask, next, &context)
                                                           : arrow::compute::KleeneOr(mask, next, &context));
    mask = std::static_pointer_cast<BooleanArray>(joined.make_array());
  }
  if (mask != nullptr) return mask;
  return Constant(batch.num_rows(), node.op == Op::kAnd, pool);
}

Result<Mask> EvaluateNode(const Node& node, const arrow::RecordBatch& batch, arrow::MemoryPool* pool) {
  switch (node.op) {
    case Op::kTrue:
      return Constant(batch.num_rows(), true, pool);
    case Op::kFalse:
      return Constant(batch.num_rows(), false, pool);
    case Op::kAnd:
    case Op::kOr:
      return EvaluateJoined(node, batch, pool);
    case Op::kNot:
      return Invalid("filter: NOT in a filter that is not bound");
    default:
      return EvaluateTest(node, batch, pool);
  }
}

}  // namespace

Result<Mask> Evaluate(const NodePtr& node, const arrow::RecordBatch& batch, arrow::MemoryPool* pool) {
  ARROW_RETURN_NOT_OK(InitializeCompute());
  return EvaluateNode(*node, batch, pool);
}

Result<std::shared_ptr<arrow::RecordBatch>> KeepRows(const std::shared_ptr<arrow::RecordBatch>& batch, const Mask& mask,
                                                     arrow::MemoryPool* pool) {
  ARROW_RETURN_NOT_OK(InitializeCompute());
  const int64_t kept = mask->true_count();
  if (kept == batch->num_rows()) return batch;
  if (kept == 0) return batch->Slice(0, 0);
  arrow::compute::ExecContext context(pool);
  arrow::ArrayVector columns;
  for (const auto& column : batch->columns()) {
    ARROW_ASSIGN_OR_RAISE(auto filtered, FilterColumn(column, mask, &context));
    columns.push_back(std::move(filtered));
  }
  return arrow::RecordBatch::Make(batch->schema(), kept, std::move(columns));
}

Result<std::shared_ptr<arrow::RecordBatch>> Filter(const NodePtr& node,
                                                   const std::shared_ptr<arrow::RecordBatch>& batch,
                                                   arrow::MemoryPool* pool) {
  if (node->op == Op::kTrue) return batch;
  ARROW_ASSIGN_OR_RAISE(Mask mask, Evaluate(node, *batch, pool));
  return KeepRows(batch, mask, pool);
}

}  // namespace calve::expr
