// Values as text (ValueToText) and from JSON single values (Appendix D):
//
//   boolean      true | false                     date          "2017-11-16"
//   int, long    integer                          time          "22:31:08.123456"
//   float,       number ("NaN", "Infinity" and    timestamp     "2017-11-16T22:31:08.123456", _ns with 9 digits
//   double       "-Infinity" are accepted)        timestamptz   the same and "+00:00"
//   decimal      "14.20"                          uuid          "f79c3e09-677c-4bbd-a479-3f349cb785e7"
//   string       text                             fixed, binary "000102ff"
#include "calve/expr/calendar.h"
#include "calve/iceberg/json_members.h"
#include "calve/iceberg/schema.h"

#include <arrow/util/base64.h>
#include <arrow/util/decimal.h>

#include <cmath>
#include <limits>

namespace calve::iceberg {
namespace {

constexpr int64_t kNanosPerMicro = 1'000;
constexpr int64_t kSecondsPerDay = 86'400;
constexpr int64_t kNanosPerSecond = 1'000'000'000;

Status WrongValue(const Type& type, const nlohmann::json& json) {
  return Invalid("{} is no value of type {}", Describe(json), type.ToString());
}

std::optional<int64_t> IntegerOf(const nlohmann::json& json) {
  if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return std::nullopt;
  }
  return json.is_number_integer() ? std::optional<int64_t>(json.get<int64_t>()) : std::nullopt;
}

std::optional<double> NumberOf(const nlohmann::json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (json == "Infinity") return std::numeric_limits<double>::infinity();
  if (json == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<float> FloatOf(const nlohmann::json& json) {
  auto number = NumberOf(json);
  if (!number) return std::nullopt;
  if (std::isfinite(*number) && std::abs(*number) > std::numeric_limits<float>::max()) return std::nullopt;
  return static_cast<float>(*number);
}

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::optional<std::string> BytesOfHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    auto high = HexDigit(text[i]);
    auto low = HexDigit(text[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes.push_back(static_cast<char>(*high * 16 + *low));
  }
  return bytes;
}

std::optional<std::string> BytesOfUuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  std::string hex;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash != (text[i] == '-')) return std::nullopt;
    if (!dash) hex.push_back(text[i]);
  }
  return BytesOfHex(hex);
}

std::optional<std::string> BytesOfFixed(std::string_view text, int length) {
  auto bytes = BytesOfHex(text);
  if (bytes && bytes->size() != static_cast<size_t>(length)) return std::nullopt;
  return bytes;
}

std::optional<arrow::Decimal128> DecimalOf(std::string_view text, const Type& type) {
  arrow::Decimal128 value;
  int32_t precision = 0, scale = 0;
  if (!arrow::Decimal128::FromString(text, &value, &precision, &scale).ok()) return std::nullopt;
  if (scale != type.scale) {
    auto rescaled = value.Rescale(scale, type.scale);
    if (!rescaled.ok()) return std::nullopt;
    value = *rescaled;
  }
  if (!value.FitsInPrecision(type.precision)) return std::nullopt;
  return value;
}

std::optional<int32_t> DateOf(std::string_view text) {
  auto moment = expr::ParseMoment(text);
  if (!moment || !moment->days || moment->nanos_of_day || *moment->days != static_cast<int32_t>(*moment->days)) {
    return std::nullopt;
  }
  return static_cast<int32_t>(*moment->days);
}

// `nanos` as a count of `unit` nanoseconds; nothing when that loses digits or does not fit.
std::optional<int64_t> Exactly(expr::Int128 nanos, int64_t unit) {
  const expr::Int128 units = nanos / unit;
  if (units * unit != nanos || units != static_cast<int64_t>(units)) return std::nullopt;
  return static_cast<int64_t>(units);
}

std::optional<int64_t> TimeOf(std::string_view text) {
  auto moment = expr::ParseMoment(text);
  if (!moment || moment->days || !moment->nanos_of_day) return std::nullopt;
  return Exactly(*moment->nanos_of_day, kNanosPerMicro);
}

std::optional<int64_t> TimestampOf(std::string_view text, int64_t unit, bool zone) {
  auto moment = expr::ParseMoment(text);
  if (!moment || !moment->days || !moment->nanos_of_day) return std::nullopt;
  if (moment->zone_offset_seconds.has_value() != zone) return std::nullopt;
  return Exactly(moment->ToNanos(), unit);
}

template <typename T>
Result<Value> Found(const std::optional<T>& value, const Type& type, const nlohmann::json& json) {
  if (!value) return WrongValue(type, json);
  return Value(*value);
}

Result<Value> ValueFromJsonText(const Type& type, const nlohmann::json& json) {
  if (!json.is_string()) return WrongValue(type, json);
  const std::string_view text = json.get_ref<const std::string&>();
  switch (type.id) {
    case TypeId::kString:
      return Value(std::string(text));
    case TypeId::kDecimal:
      return Found(DecimalOf(text, type), type, json);
    case TypeId::kDate:
      return Found(DateOf(text), type, json);
    case TypeId::kTime:
      return Found(TimeOf(text), type, json);
    case TypeId::kTimestamp:
      return Found(TimestampOf(text, kNanosPerMicro, false), type, json);
    case TypeId::kTimestampTz:
      return Found(TimestampOf(text, kNanosPerMicro, true), type, json);
    case TypeId::kTimestampNs:
      return Found(TimestampOf(text, 1, false), type, json);
    case TypeId::kTimestampTzNs:
      return Found(TimestampOf(text, 1, true), type, json);
    case TypeId::kUuid:
      return Found(BytesOfUuid(text), type, json);
    case TypeId::kFixed:
      return Found(BytesOfFixed(text, type.length), type, json);
    case TypeId::kBinary:
      return Found(BytesOfHex(text), type, json);
    default:
      return NotImplemented("a default value of type {}", type.ToString());
  }
}

std::string UuidText(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<uint8_t>(bytes[i]));
  }
  return text;
}

template <typename T>
std::string FloatText(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string TimestampText(int64_t units, int64_t unit) {
  const int64_t per_day = kSecondsPerDay * (kNanosPerSecond / unit);
  const int64_t rest = units % per_day;
  const std::string time = expr::FormatTime((rest < 0 ? rest + per_day : rest) * unit);
  return expr::FormatDate(expr::FloorDivide(units, per_day)) + "T" + time;
}

std::string LongText(const Type& type, int64_t value) {
  switch (type.id) {
    case TypeId::kTime:
      if (value < 0 || value / (kNanosPerSecond / kNanosPerMicro) >= kSecondsPerDay) return fmt::format("{}", value);
      return expr::FormatTime(value * kNanosPerMicro);
    case TypeId::kTimestamp:
      return TimestampText(value, kNanosPerMicro);
    case TypeId::kTimestampTz:
      return TimestampText(value, kNanosPerMicro) + "+00:00";
    case TypeId::kTimestampNs:
      return TimestampText(value, 1);
    case TypeId::kTimestampTzNs:
      return TimestampText(value, 1) + "+00:00";
    default:
      return fmt::format("{}", value);
  }
}

std::string BytesText(const Type& type, const std::string& value) {
  if (type.id == TypeId::kString) return value;
  if (type.id == TypeId::kUuid && value.size() == 16) return UuidText(value);
  return arrow::util::base64_encode(value);
}

}  // namespace

Result<Value> ValueFromJson(const Type& type, const nlohmann::json& json) {
  if (json.is_null()) return Value();
  switch (type.id) {
    case TypeId::kBoolean:
      if (!json.is_boolean()) return WrongValue(type, json);
      return Value(json.get<bool>());
    case TypeId::kInt: {
      auto value = IntegerOf(json);
      if (!value || *value != static_cast<int32_t>(*value)) return WrongValue(type, json);
      return Value(static_cast<int32_t>(*value));
    }
    case TypeId::kLong:
      return Found(IntegerOf(json), type, json);
    case TypeId::kFloat:
      return Found(FloatOf(json), type, json);
    case TypeId::kDouble:
      return Found(NumberOf(json), type, json);
    default:
      return ValueFromJsonText(type, json);
  }
}

std::string ValueToText(const Type& type, const Value& value) {
  if (const auto* held = std::get_if<bool>(&value)) return *held ? "true" : "false";
  if (const auto* held = std::get_if<int32_t>(&value)) {
    return type.id == TypeId::kDate ? expr::FormatDate(*held) : fmt::format("{}", *held);
  }
  if (const auto* held = std::get_if<int64_t>(&value)) return LongText(type, *held);
  if (const auto* held = std::get_if<float>(&value)) return FloatText(*held);
  if (const auto* held = std::get_if<double>(&value)) return FloatText(*held);
  if (const auto* held = std::get_if<std::string>(&value)) return BytesText(type, *held);
  if (const auto* held = std::get_if<arrow::Decimal128>(&value)) return held->ToString(type.scale);
  return "null";
}

}  // namespace calve::iceberg
