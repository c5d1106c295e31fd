#include "calve/base/status.h"
#include "calve/iceberg/partition.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>

namespace calve::iceberg {
namespace {

template <typename ArrayType, typename Read>
std::vector<Value> ReadValues(const arrow::Array& array, Read&& read) {
  const auto& typed = static_cast<const ArrayType&>(array);
  std::vector<Value> values(static_cast<size_t>(array.length()));
  for (int64_t i = 0; i < array.length(); ++i) {
    if (typed.IsValid(i)) values[static_cast<size_t>(i)] = read(typed, i);
  }
  return values;
}

template <typename ArrayType>
std::vector<Value> ReadNumbers(const arrow::Array& array) {
  return ReadValues<ArrayType>(array, [](const ArrayType& typed, int64_t i) -> Value { return typed.Value(i); });
}

template <typename ArrayType>
std::vector<Value> ReadBytes(const arrow::Array& array) {
  return ReadValues<ArrayType>(
      array, [](const ArrayType& typed, int64_t i) -> Value { return std::string(typed.GetView(i)); });
}

Result<std::vector<Value>> ValuesOf(const arrow::Array& array) {
  switch (array.type_id()) {
    case arrow::Type::NA:
      return std::vector<Value>(static_cast<size_t>(array.length()));
    case arrow::Type::BOOL:
      return ReadNumbers<arrow::BooleanArray>(array);
    case arrow::Type::INT32:
      return ReadNumbers<arrow::Int32Array>(array);
    case arrow::Type::DATE32:
      return ReadNumbers<arrow::Date32Array>(array);
    case arrow::Type::INT64:
      return ReadNumbers<arrow::Int64Array>(array);
    case arrow::Type::TIME64:
      return ReadNumbers<arrow::Time64Array>(array);
    case arrow::Type::TIMESTAMP:
      return ReadNumbers<arrow::TimestampArray>(array);
    case arrow::Type::FLOAT:
      return ReadNumbers<arrow::FloatArray>(array);
    case arrow::Type::DOUBLE:
      return ReadNumbers<arrow::DoubleArray>(array);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return ReadBytes<arrow::BinaryArray>(array);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return ReadBytes<arrow::LargeBinaryArray>(array);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return ReadBytes<arrow::BinaryViewArray>(array);
    case arrow::Type::FIXED_SIZE_BINARY:
      return ReadBytes<arrow::FixedSizeBinaryArray>(array);
    case arrow::Type::DECIMAL128:
      return ReadValues<arrow::Decimal128Array>(array, [](const arrow::Decimal128Array& typed, int64_t i) -> Value {
        return arrow::Decimal128(typed.GetValue(i));
      });
    default:
      return NotImplemented("partition values of Arrow type {}", array.type()->ToString());
  }
}

/// Transforms the entries of a dictionary once each.
Result<std::vector<Value>> ApplyToDictionary(const Transform& transform, const Type& source,
                                             const arrow::DictionaryArray& array) {
  ARROW_ASSIGN_OR_RAISE(auto entries, ApplyToArray(transform, source, *array.dictionary()));
  std::vector<Value> values(static_cast<size_t>(array.length()));
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsValid(i)) values[static_cast<size_t>(i)] = entries[static_cast<size_t>(array.GetValueIndex(i))];
  }
  return values;
}

}  // namespace

Result<std::vector<Value>> ApplyToArray(const Transform& transform, const Type& source, const arrow::Array& array) {
  ARROW_RETURN_NOT_OK(ResultType(transform, source).status());
  if (transform.kind == TransformKind::kVoid) return std::vector<Value>(static_cast<size_t>(array.length()));
  if (array.type_id() == arrow::Type::EXTENSION) {
    return ApplyToArray(transform, source, *static_cast<const arrow::ExtensionArray&>(array).storage());
  }
  if (array.type_id() == arrow::Type::DICTIONARY) {
    return ApplyToDictionary(transform, source, static_cast<const arrow::DictionaryArray&>(array));
  }
  ARROW_ASSIGN_OR_RAISE(auto values, ValuesOf(array));
  for (Value& value : values) {
    ARROW_ASSIGN_OR_RAISE(value, Apply(transform, source, value));
  }
  return values;
}

}  // namespace calve::iceberg
