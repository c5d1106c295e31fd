#pragma once

#include "calve/expr/node.h"
#include "calve/expression.h"

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include <string>

#ifndef ASSERT_OK_AND_ASSIGN
#define CALVE_TESTING_JOIN_(a, b) a##b
#define CALVE_TESTING_JOIN(a, b) CALVE_TESTING_JOIN_(a, b)
#define CALVE_TESTING_ASSIGN(result, target, expression)  \
  auto result = (expression);                             \
  ASSERT_TRUE(result.ok()) << result.status().ToString(); \
  target = std::move(result).ValueOrDie();
/// Declares or sets `target` from a Result; ends the test when there is an error.
#define ASSERT_OK_AND_ASSIGN(target, expression) \
  CALVE_TESTING_ASSIGN(CALVE_TESTING_JOIN(result_, __COUNTER__), target, expression)
#endif

namespace calve::testing {

inline std::shared_ptr<arrow::Array> ArrayOf(const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

inline std::shared_ptr<arrow::Field> FieldWithId(const std::string& name, std::shared_ptr<arrow::DataType> type,
                                                 int id) {
  auto metadata = arrow::key_value_metadata({"PARQUET:field_id"}, {std::to_string(id)});
  return arrow::field(name, std::move(type), true, metadata);
}

/// A batch of one column `name` with field id 1.
inline std::shared_ptr<arrow::RecordBatch> BatchOf(const std::string& name,
                                                   const std::shared_ptr<arrow::Array>& array) {
  return arrow::RecordBatch::Make(arrow::schema({FieldWithId(name, array->type(), 1)}), array->length(), {array});
}

inline arrow::Result<expr::NodePtr> BoundFilter(const std::string& text, const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(Expression expression, Expression::Parse(text));
  return expr::Bind(expression.root(), schema);
}

/// `text` bound to a schema of one column "a" of `type`, as text again; or the error.
inline std::string BoundText(const std::string& text, const std::shared_ptr<arrow::DataType>& type) {
  const auto bound = BoundFilter(text, *arrow::schema({FieldWithId("a", type, 1)}));
  return bound.ok() ? expr::ToString(*bound) : bound.status().ToString();
}

/// "10n": one character a row.
inline std::string MaskText(const arrow::BooleanArray& mask) {
  std::string text;
  for (int64_t i = 0; i < mask.length(); ++i) text += mask.IsNull(i) ? 'n' : mask.Value(i) ? '1' : '0';
  return text;
}

}  // namespace calve::testing
