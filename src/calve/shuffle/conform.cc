#include "calve/shuffle/conform.h"

#include "calve/base/status.h"

#include <arrow/array/array_dict.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/type.h>

namespace calve::shuffle {

namespace {

using ArrayResult = Result<std::shared_ptr<arrow::Array>>;

/// The same values under the schema's own type object, whose nested fields may have other metadata.
std::shared_ptr<arrow::Array> WithType(const arrow::Array& array, const std::shared_ptr<arrow::DataType>& type) {
  if (array.type() == type) return arrow::MakeArray(array.data());
  auto data = array.data()->Copy();
  data->type = type;
  return arrow::MakeArray(std::move(data));
}

ArrayResult ValuesOf(const arrow::DictionaryArray& array, arrow::MemoryPool* pool) {
  arrow::compute::ExecContext context(pool);
  return arrow::compute::Take(*array.dictionary(), *array.indices(), arrow::compute::TakeOptions::NoBoundsCheck(),
                              &context);
}

/// As a dictionary; where the schema's index type is not the one that encoding makes, its indices are cast.
ArrayResult Encoded(const std::shared_ptr<arrow::Array>& values, const std::shared_ptr<arrow::DataType>& type,
                    arrow::MemoryPool* pool) {
  arrow::compute::ExecContext context(pool);
  ARROW_ASSIGN_OR_RAISE(const auto datum, arrow::compute::DictionaryEncode(
                                              values, arrow::compute::DictionaryEncodeOptions::Defaults(), &context));
  const auto encoded = datum.make_array();
  const auto& dictionary = static_cast<const arrow::DictionaryArray&>(*encoded);
  const auto& index_type = static_cast<const arrow::DictionaryType&>(*type).index_type();
  ARROW_ASSIGN_OR_RAISE(const auto indices, arrow::compute::Cast(*dictionary.indices(), index_type,
                                                                 arrow::compute::CastOptions::Safe(), &context));
  return arrow::DictionaryArray::FromArrays(type, indices, dictionary.dictionary());
}

ArrayResult ConformColumn(const std::shared_ptr<arrow::Array>& array, const std::shared_ptr<arrow::DataType>& type,
                          arrow::MemoryPool* pool) {
  if (array->type()->Equals(*type)) return WithType(*array, type);
  if (array->type_id() == arrow::Type::DICTIONARY) {
    const auto& dictionary = static_cast<const arrow::DictionaryArray&>(*array);
    if (dictionary.dictionary()->type()->Equals(*type)) return ValuesOf(dictionary, pool);
  }
  if (type->id() == arrow::Type::DICTIONARY) {
    const auto& dictionary = static_cast<const arrow::DictionaryType&>(*type);
    if (array->type()->Equals(*dictionary.value_type())) return Encoded(array, type, pool);
  }
  return Invalid("is of type {} in a block, of type {} in the schema", array->type()->ToString(), type->ToString());
}

}  // namespace

Result<std::shared_ptr<arrow::RecordBatch>> ConformBatch(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                         const std::shared_ptr<arrow::Schema>& schema,
                                                         arrow::MemoryPool* pool) {
  if (batch->num_columns() != schema->num_fields()) {
    return Invalid("a block has {} columns, the schema has {}", batch->num_columns(), schema->num_fields());
  }
  arrow::ArrayVector columns;
  for (int i = 0; i < batch->num_columns(); ++i) {
    auto column = ConformColumn(batch->column(i), schema->field(i)->type(), pool);
    if (!column.ok()) return WithContext(column.status(), fmt::format("column '{}'", schema->field(i)->name()));
    columns.push_back(*std::move(column));
  }
  return arrow::RecordBatch::Make(schema, batch->num_rows(), std::move(columns));
}

}  // namespace calve::shuffle
