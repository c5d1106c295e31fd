// "ColumnOrder" of parquet.thrift:
//
//   BOOLEAN                  false < true
//   INT32, INT64             signed; unsigned for the unsigned integers
//   FLOAT, DOUBLE, FLOAT16   as numbers, NaNs apart; -0 and +0 are equal
//   DECIMAL                  signed, big-endian two's complement in byte arrays
//   other byte arrays        unsigned, byte by byte; a prefix comes first
//   INT96, INTERVAL, ...     undefined

#include "calve/parquet/value_order.h"

#include "calve/parquet/utf8.h"
#include "calve/parquet/value_decoder.h"

#include <arrow/util/float16.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace calve::parquet {
namespace {

using Kind = LogicalType::Kind;

template <typename T>
T Load(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof(T), bytes.size()));
  return value;
}

template <typename T>
int CompareNumbers(std::string_view a, std::string_view b) {
  const T x = Load<T>(a), y = Load<T>(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

template <typename T>
bool IsNanOf(std::string_view value) {
  const T number = Load<T>(value);
  return number != number;
}

float LoadHalf(std::string_view value) { return arrow::util::Float16::FromBits(Load<uint16_t>(value)).ToFloat(); }

int CompareHalves(std::string_view a, std::string_view b) {
  const float x = LoadHalf(a), y = LoadHalf(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

bool IsNanHalf(std::string_view value) {
  const float number = LoadHalf(value);
  return number != number;
}

int CompareBytes(std::string_view a, std::string_view b) { return a.compare(b); }

/// Two's complement, the highest byte first, of any two lengths.
int CompareDecimals(std::string_view a, std::string_view b) {
  const auto byte = [](std::string_view value, size_t length, size_t i) {
    const uint8_t sign = !value.empty() && (value[0] & 0x80) != 0 ? 0xff : 0;
    const size_t missing = length - value.size();
    return i < missing ? sign : static_cast<uint8_t>(value[i - missing]);
  };
  const size_t length = std::max({a.size(), b.size(), size_t{1}});
  const int high = static_cast<int8_t>(byte(a, length, 0)) - static_cast<int8_t>(byte(b, length, 0));
  if (high != 0) return high;
  for (size_t i = 1; i < length; ++i) {
    const int difference = byte(a, length, i) - byte(b, length, i);
    if (difference != 0) return difference;
  }
  return 0;
}

template <typename T>
std::string NumberText(std::string_view value) {
  return value.size() == sizeof(T) ? fmt::format("{}", Load<T>(value)) : fmt::format("{} bytes", value.size());
}

std::string HalfText(std::string_view value) { return fmt::format("{}", LoadHalf(value)); }

std::string BytesText(std::string_view value) {
  constexpr size_t kMost = 32;
  const std::string_view shown = value.substr(0, kMost);
  const bool plain = std::all_of(shown.begin(), shown.end(), [](char c) { return c >= ' ' && c < 0x7f; });
  std::string text = plain ? fmt::format("'{}'", shown) : "0x";
  if (!plain) {
    for (const char c : shown) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  }
  return value.size() > kMost ? fmt::format("{}... ({} bytes)", text, value.size()) : text;
}

bool IsDecimal(const SchemaElement& element) {
  return element.logical_type.kind == Kind::kDecimal || element.converted_type == ConvertedType::kDecimal;
}

bool IsUnsigned(const SchemaElement& element) {
  if (element.logical_type.kind == Kind::kInteger) return !element.logical_type.is_signed;
  return element.converted_type >= ConvertedType::kUint8 && element.converted_type <= ConvertedType::kUint64;
}

bool IsText(const SchemaElement& element) {
  const Kind kind = element.logical_type.kind;
  const auto converted = element.converted_type;
  return kind == Kind::kString || kind == Kind::kEnum || kind == Kind::kJson || converted == ConvertedType::kUtf8 ||
         converted == ConvertedType::kEnum || converted == ConvertedType::kJson;
}

}  // namespace

ValueOrder::ValueOrder(const SchemaElement& element)
    : text_(BytesText), width_(static_cast<size_t>(ValueWidth(*element.type, element.type_length))) {
  const bool is_unsigned = IsUnsigned(element);
  is_signed_ = !is_unsigned;
  switch (*element.type) {
    case PhysicalType::kBoolean:
      compare_ = CompareNumbers<uint8_t>;
      text_ = NumberText<uint8_t>;
      break;
    case PhysicalType::kInt32:
      compare_ = is_unsigned ? CompareNumbers<uint32_t> : CompareNumbers<int32_t>;
      text_ = is_unsigned ? NumberText<uint32_t> : NumberText<int32_t>;
      break;
    case PhysicalType::kInt64:
      compare_ = is_unsigned ? CompareNumbers<uint64_t> : CompareNumbers<int64_t>;
      text_ = is_unsigned ? NumberText<uint64_t> : NumberText<int64_t>;
      break;
    case PhysicalType::kFloat:
      compare_ = CompareNumbers<float>;
      is_nan_ = IsNanOf<float>;
      text_ = NumberText<float>;
      break;
    case PhysicalType::kDouble:
      compare_ = CompareNumbers<double>;
      is_nan_ = IsNanOf<double>;
      text_ = NumberText<double>;
      break;
    case PhysicalType::kInt96:
      is_signed_ = false;
      break;
    case PhysicalType::kByteArray:
    case PhysicalType::kFixedLenByteArray:
      SetBinary(element);
      break;
  }
}

void ValueOrder::SetBinary(const SchemaElement& element) {
  is_signed_ = false;
  is_text_ = IsText(element);
  const Kind kind = element.logical_type.kind;
  if (IsDecimal(element)) {
    compare_ = CompareDecimals;
  } else if (kind == Kind::kFloat16) {
    compare_ = CompareHalves;
    is_nan_ = IsNanHalf;
    text_ = HalfText;
  } else if (element.converted_type != ConvertedType::kInterval && kind != Kind::kGeometry &&
             kind != Kind::kGeography && kind != Kind::kVariant && kind != Kind::kUnknown) {
    compare_ = CompareBytes;
  }
}

std::string ValueOrder::Text(std::string_view value) const { return text_(value); }

}  // namespace calve::parquet
