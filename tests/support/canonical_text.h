#pragma once

#include <arrow/array.h>
#include <arrow/chunked_array.h>
#include <arrow/extension_type.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace calve::testing {

/// A value as text that is the same for every Arrow type that holds it: large or view or dictionary-encoded strings,
/// any kind of list, dates in days or milliseconds, seconds or milliseconds.
inline std::string CanonicalText(const arrow::Array& array, int64_t i);

inline std::string CanonicalRange(const arrow::Array& array, int64_t start, int64_t length) {
  std::string text = "[";
  for (int64_t i = start; i < start + length; ++i) text += CanonicalText(array, i) + ",";
  return text + "]";
}

template <typename ArrayType>
std::string CanonicalNumber(const arrow::Array& array, int64_t i) {
  return std::to_string(static_cast<const ArrayType&>(array).Value(i));
}

template <typename ArrayType>
std::string CanonicalFloat(const arrow::Array& array, int64_t i) {
  const auto value = static_cast<const ArrayType&>(array).Value(i);
  if (std::isnan(value)) return "nan";
  char text[64];
  std::snprintf(text, sizeof(text), "%a", static_cast<double>(value));
  return text;
}

template <typename ArrayType>
std::string CanonicalBytes(const arrow::Array& array, int64_t i) {
  return "'" + std::string(static_cast<const ArrayType&>(array).GetView(i)) + "'";
}

template <typename ArrayType>
std::string CanonicalList(const arrow::Array& array, int64_t i) {
  const auto& list = static_cast<const ArrayType&>(array);
  return CanonicalRange(*list.values(), list.value_offset(i), list.value_length(i));
}

inline std::string CanonicalText(const arrow::Array& array, int64_t i) {
  using arrow::Type;
  if (array.IsNull(i)) return "null";
  switch (array.type_id()) {
    case Type::NA:
      return "null";
    case Type::BOOL:
      return static_cast<const arrow::BooleanArray&>(array).Value(i) ? "true" : "false";
    case Type::INT8:
      return CanonicalNumber<arrow::Int8Array>(array, i);
    case Type::INT16:
      return CanonicalNumber<arrow::Int16Array>(array, i);
    case Type::INT32:
      return CanonicalNumber<arrow::Int32Array>(array, i);
    case Type::INT64:
      return CanonicalNumber<arrow::Int64Array>(array, i);
    case Type::UINT8:
      return CanonicalNumber<arrow::UInt8Array>(array, i);
    case Type::UINT16:
      return CanonicalNumber<arrow::UInt16Array>(array, i);
    case Type::UINT32:
      return CanonicalNumber<arrow::UInt32Array>(array, i);
    case Type::UINT64:
      return CanonicalNumber<arrow::UInt64Array>(array, i);
    case Type::HALF_FLOAT:
      return "half " + std::to_string(static_cast<const arrow::HalfFloatArray&>(array).Value(i));
    case Type::FLOAT:
      return CanonicalFloat<arrow::FloatArray>(array, i);
    case Type::DOUBLE:
      return CanonicalFloat<arrow::DoubleArray>(array, i);
    case Type::DECIMAL32:
      return static_cast<const arrow::Decimal32Array&>(array).FormatValue(i);
    case Type::DECIMAL64:
      return static_cast<const arrow::Decimal64Array&>(array).FormatValue(i);
    case Type::DECIMAL128:
      return static_cast<const arrow::Decimal128Array&>(array).FormatValue(i);
    case Type::DECIMAL256:
      return static_cast<const arrow::Decimal256Array&>(array).FormatValue(i);
    case Type::DATE32:
      return "day " + CanonicalNumber<arrow::Date32Array>(array, i);
    case Type::DATE64:
      return "day " + std::to_string(static_cast<const arrow::Date64Array&>(array).Value(i) / 86400000);
    case Type::TIME32:
    case Type::TIME64:
    case Type::TIMESTAMP: {
      const arrow::TimeUnit::type unit = array.type_id() == Type::TIMESTAMP
                                             ? static_cast<const arrow::TimestampType&>(*array.type()).unit()
                                             : static_cast<const arrow::TimeType&>(*array.type()).unit();
      const int64_t value = array.type_id() == Type::TIME32 ? array.data()->GetValues<int32_t>(1)[i]
                                                            : array.data()->GetValues<int64_t>(1)[i];
      if (unit == arrow::TimeUnit::SECOND) return std::to_string(value * 1000) + "ms";
      return std::to_string(value) + (unit == arrow::TimeUnit::MILLI   ? "ms"
                                      : unit == arrow::TimeUnit::MICRO ? "us"
                                                                       : "ns");
    }
    case Type::STRING:
      return CanonicalBytes<arrow::StringArray>(array, i);
    case Type::BINARY:
      return CanonicalBytes<arrow::BinaryArray>(array, i);
    case Type::LARGE_STRING:
      return CanonicalBytes<arrow::LargeStringArray>(array, i);
    case Type::LARGE_BINARY:
      return CanonicalBytes<arrow::LargeBinaryArray>(array, i);
    case Type::STRING_VIEW:
      return CanonicalBytes<arrow::StringViewArray>(array, i);
    case Type::BINARY_VIEW:
      return CanonicalBytes<arrow::BinaryViewArray>(array, i);
    case Type::FIXED_SIZE_BINARY:
      return CanonicalBytes<arrow::FixedSizeBinaryArray>(array, i);
    case Type::LIST:
    case Type::MAP:
      return CanonicalList<arrow::ListArray>(array, i);
    case Type::LARGE_LIST:
      return CanonicalList<arrow::LargeListArray>(array, i);
    case Type::FIXED_SIZE_LIST:
      return CanonicalList<arrow::FixedSizeListArray>(array, i);
    case Type::LIST_VIEW:
      return CanonicalList<arrow::ListViewArray>(array, i);
    case Type::LARGE_LIST_VIEW:
      return CanonicalList<arrow::LargeListViewArray>(array, i);
    case Type::DURATION:
      return CanonicalNumber<arrow::DurationArray>(array, i) + " of a duration";
    case Type::STRUCT: {
      const auto& parent = static_cast<const arrow::StructArray&>(array);
      std::string text = "(";
      for (int f = 0; f < parent.num_fields(); ++f) text += CanonicalText(*parent.field(f), i) + ",";
      return text + ")";
    }
    case Type::DICTIONARY: {
      const auto& encoded = static_cast<const arrow::DictionaryArray&>(array);
      return CanonicalText(*encoded.dictionary(), encoded.GetValueIndex(i));
    }
    case Type::EXTENSION:
      return CanonicalText(*static_cast<const arrow::ExtensionArray&>(array).storage(), i);
    default:
      return "? " + array.type()->ToString();
  }
}

/// All rows of one column.
inline std::vector<std::string> CanonicalColumn(const arrow::ChunkedArray& column) {
  std::vector<std::string> rows;
  for (const auto& chunk : column.chunks()) {
    for (int64_t i = 0; i < chunk->length(); ++i) rows.push_back(CanonicalText(*chunk, i));
  }
  return rows;
}

}  // namespace calve::testing
