// Numbers are read exactly, as decimal digits and a power of ten:
//
//   number = [sign] digits ["." digits] [("e" | "E") [sign] digits]      one of the digit runs may be empty

#include "calve/expr/literal.h"

#include "calve/base/status.h"
#include "calve/expr/domain.h"

#include <arrow/type.h>
#include <arrow/util/float16.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace calve::expr {
namespace {

using Kind = Domain::Kind;
using Where = Place::Where;

/// digits x 10^exponent. No leading zeros; zero has no digits.
struct Number {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// The exponent that `text` spells, held within what any type can notice.
std::optional<int64_t> ParseExponent(std::string_view text) {
  constexpr int64_t kEnough = 1'000'000'000;
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  int64_t value = 0;
  for (char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    value = std::min(kEnough, value * 10 + (c - '0'));
  }
  return negative ? -value : value;
}

std::optional<Number> ParseNumber(std::string_view text) {
  Number number;
  size_t i = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) number.negative = text[i++] == '-';
  bool any = false;
  bool after_point = false;
  for (; i < text.size() && (IsDigit(text[i]) || (text[i] == '.' && !after_point)); ++i) {
    if (text[i] == '.') {
      after_point = true;
      continue;
    }
    any = true;
    if (after_point) --number.exponent;
    if (text[i] != '0' || !number.digits.empty()) number.digits += text[i];
  }
  if (!any) return std::nullopt;
  if (i < text.size()) {
    if (text[i] != 'e' && text[i] != 'E') return std::nullopt;
    const auto exponent = ParseExponent(text.substr(i + 1));
    if (!exponent) return std::nullopt;
    number.exponent += *exponent;
  }
  return number;
}

/// The place of floor + (inexact ? something below 1 : 0) in a domain of whole numbers.
Place PlaceWhole(Int128 floor, bool inexact, const Domain& domain) {
  if (floor < domain.min) return {Where::kBelow, {}};
  if (floor > domain.max || (inexact && floor == domain.max)) return {Where::kAbove, {}};
  return {inexact ? Where::kBetween : Where::kExact, HolderValue(domain, floor)};
}

Place PlaceNumber(const Number& number, const Domain& domain) {
  constexpr int64_t kMostDigits = 38;  // as many as every domain's largest value has
  const int64_t digits = static_cast<int64_t>(number.digits.size());
  if (digits == 0) return PlaceWhole(0, false, domain);
  const int64_t whole_digits = digits + number.exponent + domain.scale;
  if (whole_digits > kMostDigits) return {number.negative ? Where::kBelow : Where::kAbove, {}};
  Int128 magnitude = 0;
  bool inexact = false;
  for (int64_t i = 0; i < std::max(digits, whole_digits); ++i) {
    const int digit = i < digits ? number.digits[i] - '0' : 0;
    if (i < whole_digits) {
      magnitude = magnitude * 10 + digit;
    } else {
      inexact = inexact || digit != 0;
    }
  }
  return PlaceWhole(number.negative ? -magnitude - (inexact ? 1 : 0) : magnitude, inexact, domain);
}

template <typename T>
Place PlaceFloating(T value) {
  if (std::isnan(value)) return {Where::kNaN, {}};
  return {Where::kExact, value == 0 ? T{0} : value};  // -0.0 compares as 0.0
}

/// Where a finite number beyond the largest finite `T` falls.
template <typename T>
Place PlaceBeyond(bool negative, T largest) {
  return {Where::kBetween, negative ? -std::numeric_limits<T>::infinity() : largest};
}

/// The nearest T of a text that ParseNumber has accepted.
template <typename T>
Place PlaceNearest(std::string_view text, const Number& number) {
  if (text.front() == '+') text.remove_prefix(1);
  T value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc::result_out_of_range) return PlaceFloating(value);
  const bool too_small = static_cast<int64_t>(number.digits.size()) + number.exponent <= 0;
  return too_small ? PlaceFloating(T{0}) : PlaceBeyond(number.negative, std::numeric_limits<T>::max());
}

Place PlaceNearestHalf(std::string_view text, const Number& number) {
  constexpr float kLargest = 65504;
  const Place place = PlaceNearest<double>(text, number);
  if (place.where != Where::kExact) return PlaceBeyond(number.negative, kLargest);
  const float nearest = arrow::util::Float16::FromDouble(std::get<double>(place.value)).ToFloat();
  return std::isinf(nearest) ? PlaceBeyond(number.negative, kLargest) : PlaceFloating(nearest);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

/// NaN and the infinities by name.
std::optional<double> ParseSpecial(std::string_view text) {
  std::string lower = Lower(text);
  const bool negative = !lower.empty() && lower[0] == '-';
  if (!lower.empty() && (lower[0] == '-' || lower[0] == '+')) lower.erase(0, 1);
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (lower != "inf" && lower != "infinity") return std::nullopt;
  const double infinity = std::numeric_limits<double>::infinity();
  return negative ? -infinity : infinity;
}

Status Expected(std::string_view what, const Literal& literal) {
  return Invalid("expected {}, got {}", what, ToString(literal));
}

Result<Place> PlaceNumberLiteral(const Literal& literal, const Domain& domain) {
  const bool may_be_number = literal.kind == Literal::Kind::kNumber || literal.kind == Literal::Kind::kText;
  const auto number = may_be_number ? ParseNumber(literal.text) : std::nullopt;
  if (!domain.is_floating()) {
    if (!number) return Expected("a number", literal);
    return PlaceNumber(*number, domain);
  }
  if (const auto special = may_be_number ? ParseSpecial(literal.text) : std::nullopt) {
    return domain.kind == Kind::kDouble ? PlaceFloating(*special) : PlaceFloating(static_cast<float>(*special));
  }
  if (!number) return Expected("a number, 'NaN', 'Infinity' or '-Infinity'", literal);
  if (domain.kind == Kind::kDouble) return PlaceNearest<double>(literal.text, *number);
  return domain.half ? PlaceNearestHalf(literal.text, *number) : PlaceNearest<float>(literal.text, *number);
}

Place PlaceNanos(Int128 nanos, const Domain& domain) {
  Int128 floor = nanos / domain.unit_nanos;
  const Int128 rest = nanos % domain.unit_nanos;
  if (rest < 0) --floor;
  return PlaceWhole(floor, rest != 0, domain);
}

Result<Place> PlaceMoment(const Literal& literal, const Domain& domain) {
  using LiteralKind = Literal::Kind;
  const bool may_be_moment = literal.kind == LiteralKind::kText || literal.kind == LiteralKind::kDate ||
                             literal.kind == LiteralKind::kTimestamp;
  const auto moment = may_be_moment ? ParseMoment(literal.text) : std::nullopt;
  if (domain.kind == Kind::kTime) {
    if (!moment || moment->days) return Expected("a time like '10:20:30'", literal);
    return PlaceNanos(*moment->nanos_of_day, domain);
  }
  if (!moment || !moment->days) {
    return Expected(domain.kind == Kind::kDate ? "a date like '2024-01-31'" : "a time like '2024-01-31 10:20:30'",
                    literal);
  }
  if (moment->zone_offset_seconds && !domain.has_zone) return Expected("a time without a zone", literal);
  return PlaceNanos(moment->ToNanos(), domain);
}

std::optional<std::string> BytesFromUuid(std::string_view text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash_belongs = i == 8 || i == 13 || i == 18 || i == 23;
    if (text.size() == 36 && dash_belongs) {
      if (text[i] != '-') return std::nullopt;
    } else {
      digits += text[i];
    }
  }
  return digits.size() == 32 ? BytesFromHex(digits) : std::nullopt;
}

Result<Place> PlaceBytes(const Literal& literal, const Domain& domain) {
  const bool is_text = literal.kind == Literal::Kind::kText;
  const bool is_hex = literal.kind == Literal::Kind::kHex;
  std::optional<std::string> bytes;
  if (is_text) bytes = domain.kind == Kind::kUuid ? BytesFromUuid(literal.text) : std::optional(literal.text);
  if (is_hex && domain.kind != Kind::kText) bytes = BytesFromHex(literal.text);
  if (domain.kind == Kind::kText && !bytes) return Expected("text in single quotes", literal);
  if (domain.kind == Kind::kUuid && (!bytes || bytes->size() != 16)) {
    return Expected("a UUID like 'f79c3e09-677c-4bbd-a479-3f349cb785e7'", literal);
  }
  if (!bytes) return Expected("bytes like X'00ff', or text in single quotes", literal);
  if (domain.kind == Kind::kFixed && bytes->size() != static_cast<size_t>(domain.width_bytes)) {
    return Invalid("expected {} bytes, got {} in {}", domain.width_bytes, bytes->size(), ToString(literal));
  }
  return Place{Where::kExact, std::move(*bytes)};
}

Result<Place> PlaceBool(const Literal& literal) {
  const std::string text = Lower(literal.text);
  const bool may_be_bool = literal.kind == Literal::Kind::kBool || literal.kind == Literal::Kind::kText;
  if (!may_be_bool || (text != "true" && text != "false")) return Expected("TRUE or FALSE", literal);
  return Place{Where::kExact, text == "true"};
}

/// The place of number x 10^-from_scale.
Place PlaceScaled(Int128 number, int from_scale, const Domain& domain) {
  bool inexact = false;
  for (int scale = from_scale; scale > domain.scale; --scale) {
    inexact = inexact || number % 10 != 0;
    number = number / 10 - (number % 10 < 0 ? 1 : 0);
  }
  for (int scale = from_scale; scale < domain.scale; ++scale) {
    if (number > domain.max / 10) return {Where::kAbove, {}};
    if (number < domain.min / 10) return {Where::kBelow, {}};
    number *= 10;
  }
  return PlaceWhole(number, inexact, domain);
}

/// Exact: a double between two floats stays between them.
Place PlaceDoubleAmongFloats(double value) {
  if (std::isnan(value)) return {Where::kNaN, {}};
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value) return PlaceFloating(nearest);
  const float floor =
      static_cast<double>(nearest) < value ? nearest : std::nextafter(nearest, -std::numeric_limits<float>::infinity());
  return {Where::kBetween, floor};
}

bool IsMoment(const Domain& domain) { return domain.kind == Kind::kDate || domain.kind == Kind::kTimestamp; }

std::string FormatNanos(Int128 nanos) {
  constexpr Int128 kNanosPerDay = 86'400'000'000'000;
  const Int128 days = nanos / kNanosPerDay - (nanos % kNanosPerDay < 0 ? 1 : 0);
  const auto rest = static_cast<int64_t>(nanos - days * kNanosPerDay);
  return FormatDate(static_cast<int64_t>(days)) + " " + FormatTime(rest);
}

Literal LiteralOfNumber(Int128 number, const Domain& domain) {
  switch (domain.kind) {
    case Kind::kTime:
      return {Literal::Kind::kText, FormatTime(static_cast<int64_t>(number * domain.unit_nanos))};
    case Kind::kDate:
      if (domain.holder == Domain::Holder::kInt32) {
        return {Literal::Kind::kDate, FormatDate(static_cast<int64_t>(number))};
      }
      return {Literal::Kind::kTimestamp, FormatNanos(number * domain.unit_nanos)};
    case Kind::kTimestamp:
      return {Literal::Kind::kTimestamp, FormatNanos(number * domain.unit_nanos) + (domain.has_zone ? "Z" : "")};
    default:
      return {Literal::Kind::kNumber,
              std::get<arrow::Decimal128>(HolderValue(Domain{Kind::kDecimal, Domain::Holder::kDecimal128}, number))
                  .ToString(domain.scale)};
  }
}

Literal LiteralOfFloating(double value, std::string finite) {
  if (std::isnan(value)) return {Literal::Kind::kText, "NaN"};
  if (std::isinf(value)) return {Literal::Kind::kText, value < 0 ? "-Infinity" : "Infinity"};
  return {Literal::Kind::kNumber, std::move(finite)};
}

}  // namespace

Result<Place> PlaceOf(const Literal& literal, const arrow::DataType& type) {
  const Domain domain = DomainOf(type);
  switch (domain.kind) {
    case Kind::kBool:
      return PlaceBool(literal);
    case Kind::kInteger:
    case Kind::kDecimal:
    case Kind::kFloat:
    case Kind::kDouble:
      return PlaceNumberLiteral(literal, domain);
    case Kind::kText:
    case Kind::kBinary:
    case Kind::kFixed:
    case Kind::kUuid:
      return PlaceBytes(literal, domain);
    case Kind::kDate:
    case Kind::kTime:
    case Kind::kTimestamp:
      return PlaceMoment(literal, domain);
    case Kind::kNull:
      return Place{};
    case Kind::kOther:
      break;
  }
  return NotImplemented("only IS NULL and IS NOT NULL are supported for type {}", type.ToString());
}

Result<Place> PlaceOf(const Value& value, const arrow::DataType& from, const arrow::DataType& to) {
  const Domain source = DomainOf(from);
  const Domain target = DomainOf(to);
  const std::optional<Int128> number = HolderNumber(value);
  if (SameDomain(from, to)) return Place{Where::kExact, value};
  if (target.kind == Kind::kNull) return Place{};
  if (number && source.is_exact_number() && target.is_exact_number()) return PlaceScaled(*number, source.scale, target);
  if (number && IsMoment(source) && IsMoment(target)) {
    return PlaceNanos(Int128{*number} * source.unit_nanos, target);
  }
  if (number && source.kind == Kind::kTime && target.kind == Kind::kTime) {
    return PlaceNanos(Int128{*number} * source.unit_nanos, target);
  }
  if (const auto* wide = std::get_if<double>(&value); wide != nullptr && target.kind == Kind::kFloat) {
    return PlaceDoubleAmongFloats(*wide);
  }
  if (const auto* narrow = std::get_if<float>(&value); narrow != nullptr && target.is_floating()) {
    return target.kind == Kind::kFloat ? PlaceFloating(*narrow) : PlaceFloating(static_cast<double>(*narrow));
  }
  const bool width_fits = target.width_bytes == 0 || target.width_bytes == source.width_bytes;
  if (std::holds_alternative<std::string>(value) && target.is_bytes() && width_fits) return Place{Where::kExact, value};
  return Invalid("type {} does not compare with type {}", to.ToString(), from.ToString());
}

Literal LiteralOf(const Value& value, const arrow::DataType& type) {
  const Domain domain = DomainOf(type);
  if (const auto* flag = std::get_if<bool>(&value)) return {Literal::Kind::kBool, *flag ? "TRUE" : "FALSE"};
  if (const auto* number = std::get_if<float>(&value)) return LiteralOfFloating(*number, fmt::format("{}", *number));
  if (const auto* number = std::get_if<double>(&value)) return LiteralOfFloating(*number, fmt::format("{}", *number));
  if (const auto number = HolderNumber(value)) return LiteralOfNumber(*number, domain);
  const auto* bytes = std::get_if<std::string>(&value);
  if (bytes == nullptr) return {Literal::Kind::kText, "null"};
  if (domain.kind == Kind::kText) return {Literal::Kind::kText, *bytes};
  std::string hex;
  for (const char c : *bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return {Literal::Kind::kHex, hex};
}

std::optional<std::string> BytesFromHex(std::string_view digits) {
  const auto value_of = [](char c) -> int {
    if (IsDigit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = value_of(digits[i]);
    const int low = value_of(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace calve::expr
