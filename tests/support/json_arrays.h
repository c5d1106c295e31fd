#pragma once

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace calve::testing {

/// An array from JSON text: "[1, null, 3]".
inline std::shared_ptr<arrow::Array> Array(const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
  auto array = arrow::json::ArrayFromJSONString(type, json);
  EXPECT_TRUE(array.ok()) << array.status().ToString();
  return array.ValueOr(nullptr);
}

/// A batch from JSON text: rows as arrays or objects.
inline std::shared_ptr<arrow::RecordBatch> Batch(const std::shared_ptr<arrow::Schema>& schema,
                                                 const std::string& json) {
  auto rows = Array(arrow::struct_(schema->fields()), json);
  if (rows == nullptr) return nullptr;
  return arrow::RecordBatch::Make(schema, rows->length(), static_cast<const arrow::StructArray&>(*rows).fields());
}

/// A field with a field id.
inline std::shared_ptr<arrow::Field> IdField(const std::string& name, const std::shared_ptr<arrow::DataType>& type,
                                             int id, bool nullable = true) {
  return arrow::field(name, type, nullable, arrow::key_value_metadata({{"PARQUET:field_id", std::to_string(id)}}));
}

inline void ExpectArray(const arrow::Array& actual, const std::shared_ptr<arrow::DataType>& type,
                        const std::string& json) {
  auto expected = Array(type, json);
  ASSERT_NE(expected, nullptr);
  ASSERT_TRUE(actual.ValidateFull().ok()) << actual.ValidateFull().ToString();
  EXPECT_TRUE(actual.type()->Equals(*type)) << actual.type()->ToString();
  EXPECT_TRUE(actual.Equals(*expected)) << actual.ToString() << "\nexpected " << expected->ToString();
}

}  // namespace calve::testing
