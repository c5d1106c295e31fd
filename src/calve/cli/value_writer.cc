#include "calve/cli/value_writer.h"

#include "calve/cli/iso_text.h"
#include "calve/cli/json_text.h"
#include "calve/cli/nested_value_writer.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>
#include <fmt/compile.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

// Each type has one way to its text, a function `emit(value, out)`; the rest is which arrays hold such values.

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;
using Style = ValueWriter::Style;
using WriterPtr = std::unique_ptr<ValueWriter>;

// Scalars whose text needs no escaping; `kText` ones stand in quotes in JSON.
template <typename ArrayType, bool kText, typename Emit>
class ScalarWriter : public ValueWriter {
 public:
  ScalarWriter(Style style, Emit emit) : ValueWriter(style), emit_(std::move(emit)) {}

 protected:
  void OnBind(const arrow::Array& array) override { typed_ = static_cast<const ArrayType*>(&array); }
  void AppendValue(int64_t i, std::string* out) const override {
    const bool quote = kText && quoted();
    if (quote) out->push_back('"');
    emit_(typed_->GetView(i), out);
    if (quote) out->push_back('"');
  }

 private:
  const ArrayType* typed_ = nullptr;
  Emit emit_;
};

template <typename ArrayType, bool kText, typename Emit>
WriterPtr MakeScalar(Style style, Emit emit) {
  return std::make_unique<ScalarWriter<ArrayType, kText, Emit>>(style, std::move(emit));
}

template <typename ArrayType>
class StringWriter : public ValueWriter {
 public:
  explicit StringWriter(Style style) : ValueWriter(style) {}

 protected:
  void OnBind(const arrow::Array& array) override { typed_ = static_cast<const ArrayType*>(&array); }
  void AppendValue(int64_t i, std::string* out) const override {
    if (quoted()) {
      AppendJsonString(typed_->GetView(i), out);
    } else {
      out->append(typed_->GetView(i));
    }
  }

 private:
  const ArrayType* typed_ = nullptr;
};

// Floats: the shortest digits that read back as the same value of the same width; NaN and infinities as text.
template <typename ArrayType, typename Float>
class FloatWriter : public ValueWriter {
 public:
  explicit FloatWriter(Style style) : ValueWriter(style) {}

 protected:
  void OnBind(const arrow::Array& array) override { typed_ = static_cast<const ArrayType*>(&array); }
  void AppendValue(int64_t i, std::string* out) const override {
    const Float value = Get(i);
    if (std::isfinite(value)) {
      AppendFinite(value, out);
      return;
    }
    if (quoted()) out->push_back('"');
    out->append(std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
    if (quoted()) out->push_back('"');
  }

 private:
  Float Get(int64_t i) const {
    if constexpr (std::is_same_v<ArrayType, arrow::HalfFloatArray>) {
      return arrow::util::Float16::FromBits(typed_->GetView(i)).ToFloat();
    } else {
      return typed_->GetView(i);
    }
  }
  static void AppendFinite(Float value, std::string* out) {
    char buffer[40];
    char* end = fmt::format_to(buffer, FMT_COMPILE("{}"), value);
    const std::string_view text(buffer, static_cast<size_t>(end - buffer));
    out->append(text);
    if (text.find_first_of(".e") == std::string_view::npos) out->append(".0");
  }

  const ArrayType* typed_ = nullptr;
};

class BoolWriter : public ValueWriter {
 public:
  explicit BoolWriter(Style style) : ValueWriter(style) {}

 protected:
  void OnBind(const arrow::Array& array) override { typed_ = static_cast<const arrow::BooleanArray*>(&array); }
  void AppendValue(int64_t i, std::string* out) const override { out->append(typed_->Value(i) ? "true" : "false"); }

 private:
  const arrow::BooleanArray* typed_ = nullptr;
};

class NullWriter : public ValueWriter {
 public:
  explicit NullWriter(Style style) : ValueWriter(style) {}

 protected:
  void OnBind(const arrow::Array&) override {}
  void AppendValue(int64_t, std::string*) const override {}
};

// ---- How values of one kind become text.

struct EmitInteger {
  template <typename Integer>
  void operator()(Integer value, std::string* out) const {
    char buffer[24];
    const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
    out->append(buffer, result.ptr);
  }
};

void AppendHex(std::string_view bytes, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out->push_back(kDigits[byte >> 4]);
    out->push_back(kDigits[byte & 15]);
  }
}

struct EmitHex {
  void operator()(std::string_view bytes, std::string* out) const { AppendHex(bytes, out); }
};

struct EmitUuid {
  void operator()(std::string_view bytes, std::string* out) const {
    size_t begin = 0;
    for (const size_t length : {4, 2, 2, 2, 6}) {
      if (begin > 0) out->push_back('-');
      AppendHex(bytes.substr(begin, length), out);
      begin += length;
    }
  }
};

// Plain digits with the point where the scale puts it, never an exponent.
void AppendScaled(std::string digits, int scale, std::string* out) {
  if (!digits.empty() && digits.front() == '-') {
    out->push_back('-');
    digits.erase(0, 1);
  }
  if (scale <= 0) {
    out->append(digits);
    if (digits != "0") out->append(static_cast<size_t>(-scale), '0');
    return;
  }
  const auto places = static_cast<size_t>(scale);
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  out->append(digits, 0, digits.size() - places);
  out->push_back('.');
  out->append(digits, digits.size() - places);
}

template <typename Decimal>
struct EmitDecimal {
  int scale;
  void operator()(std::string_view bytes, std::string* out) const {
    AppendScaled(Decimal(reinterpret_cast<const uint8_t*>(bytes.data())).ToIntegerString(), scale, out);
  }
};

struct EmitDate32 {
  void operator()(int32_t days, std::string* out) const { AppendDate(days, out); }
};

struct EmitDate64 {
  void operator()(int64_t millis, std::string* out) const {
    constexpr int64_t kDay = 86400000;
    AppendDate(millis / kDay - (millis % kDay < 0 ? 1 : 0), out);
  }
};

struct EmitTime {
  arrow::TimeUnit::type unit;
  void operator()(int64_t value, std::string* out) const { AppendTime(value, unit, out); }
};

struct EmitTimestamp {
  arrow::TimeUnit::type unit;
  bool zoned;
  void operator()(int64_t value, std::string* out) const { AppendTimestamp(value, unit, zoned, out); }
};

// ---- Which writer a type takes.

Result<WriterPtr> MakeExtension(const arrow::ExtensionType& type, Style style) {
  WriterPtr storage;
  if (type.extension_name() == "arrow.uuid") {
    storage = MakeScalar<arrow::FixedSizeBinaryArray, true>(style, EmitUuid{});
  } else {
    ARROW_ASSIGN_OR_RAISE(storage, ValueWriter::Make(type.storage_type(), style));
  }
  return MakeExtensionWriter(std::move(storage), style);
}

template <typename Type>
WriterPtr MakeNumber(Style style) {
  return MakeScalar<typename arrow::TypeTraits<Type>::ArrayType, false>(style, EmitInteger{});
}

template <typename ArrayType, typename Decimal>
WriterPtr MakeDecimal(const arrow::DataType& type, Style style) {
  const int scale = static_cast<const arrow::DecimalType&>(type).scale();
  return MakeScalar<ArrayType, true>(style, EmitDecimal<Decimal>{scale});
}

}  // namespace

Result<std::unique_ptr<ValueWriter>> ValueWriter::Make(const std::shared_ptr<arrow::DataType>& type, Style style) {
  using arrow::Type;
  switch (type->id()) {
    case Type::NA:
      return std::make_unique<NullWriter>(style);
    case Type::BOOL:
      return std::make_unique<BoolWriter>(style);
    case Type::INT8:
      return MakeNumber<arrow::Int8Type>(style);
    case Type::INT16:
      return MakeNumber<arrow::Int16Type>(style);
    case Type::INT32:
      return MakeNumber<arrow::Int32Type>(style);
    case Type::INT64:
      return MakeNumber<arrow::Int64Type>(style);
    case Type::UINT8:
      return MakeNumber<arrow::UInt8Type>(style);
    case Type::UINT16:
      return MakeNumber<arrow::UInt16Type>(style);
    case Type::UINT32:
      return MakeNumber<arrow::UInt32Type>(style);
    case Type::UINT64:
      return MakeNumber<arrow::UInt64Type>(style);
    case Type::DURATION:
      return MakeNumber<arrow::DurationType>(style);
    case Type::HALF_FLOAT:
      return std::make_unique<FloatWriter<arrow::HalfFloatArray, float>>(style);
    case Type::FLOAT:
      return std::make_unique<FloatWriter<arrow::FloatArray, float>>(style);
    case Type::DOUBLE:
      return std::make_unique<FloatWriter<arrow::DoubleArray, double>>(style);
    case Type::STRING:
      return std::make_unique<StringWriter<arrow::StringArray>>(style);
    case Type::LARGE_STRING:
      return std::make_unique<StringWriter<arrow::LargeStringArray>>(style);
    case Type::STRING_VIEW:
      return std::make_unique<StringWriter<arrow::StringViewArray>>(style);
    case Type::BINARY:
      return MakeScalar<arrow::BinaryArray, true>(style, EmitHex{});
    case Type::LARGE_BINARY:
      return MakeScalar<arrow::LargeBinaryArray, true>(style, EmitHex{});
    case Type::BINARY_VIEW:
      return MakeScalar<arrow::BinaryViewArray, true>(style, EmitHex{});
    case Type::FIXED_SIZE_BINARY:
      return MakeScalar<arrow::FixedSizeBinaryArray, true>(style, EmitHex{});
    case Type::DECIMAL32:
      return MakeDecimal<arrow::Decimal32Array, arrow::Decimal32>(*type, style);
    case Type::DECIMAL64:
      return MakeDecimal<arrow::Decimal64Array, arrow::Decimal64>(*type, style);
    case Type::DECIMAL128:
      return MakeDecimal<arrow::Decimal128Array, arrow::Decimal128>(*type, style);
    case Type::DECIMAL256:
      return MakeDecimal<arrow::Decimal256Array, arrow::Decimal256>(*type, style);
    case Type::DATE32:
      return MakeScalar<arrow::Date32Array, true>(style, EmitDate32{});
    case Type::DATE64:
      return MakeScalar<arrow::Date64Array, true>(style, EmitDate64{});
    case Type::TIME32:
      return MakeScalar<arrow::Time32Array, true>(style, EmitTime{static_cast<const arrow::TimeType&>(*type).unit()});
    case Type::TIME64:
      return MakeScalar<arrow::Time64Array, true>(style, EmitTime{static_cast<const arrow::TimeType&>(*type).unit()});
    case Type::TIMESTAMP: {
      const auto& timestamp = static_cast<const arrow::TimestampType&>(*type);
      return MakeScalar<arrow::TimestampArray, true>(style,
                                                     EmitTimestamp{timestamp.unit(), !timestamp.timezone().empty()});
    }
    case Type::LIST:
    case Type::LARGE_LIST:
    case Type::FIXED_SIZE_LIST:
    case Type::LIST_VIEW:
    case Type::LARGE_LIST_VIEW:
    case Type::MAP:
    case Type::STRUCT:
    case Type::DICTIONARY:
      return MakeNestedWriter(*type, style);
    case Type::EXTENSION:
      return MakeExtension(static_cast<const arrow::ExtensionType&>(*type), style);
    default:
      return Status::NotImplemented(fmt::format("values of type {} as text", type->ToString()));
  }
}

bool IsNumeric(const arrow::DataType& type) {
  return arrow::is_numeric(type.id()) || arrow::is_decimal(type.id()) || type.id() == arrow::Type::DURATION;
}

}  // namespace calve::cli
