// Transforms ("Partition Transforms") and the hash of bucket (Appendix B):
//
//   transform = "identity" | "year" | "month" | "day" | "hour" | "void" | ("bucket" | "truncate") "[" digits "]"
//
//   int, long, date, time, timestamps   hash of 8 little-endian bytes; nanoseconds floored to microseconds before
//   decimal                             hash of the unscaled value, big-endian two's complement, as few bytes as hold
//   it string, uuid, fixed, binary         hash of the bytes

#include "calve/base/status.h"
#include "calve/expr/calendar.h"
#include "calve/hash/hash.h"
#include "calve/iceberg/partition.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace calve::iceberg {
namespace {

using expr::FloorDivide;

constexpr int64_t kMicrosPerHour = 3'600'000'000;
constexpr int64_t kHoursPerDay = 24;
constexpr int64_t kNanosPerMicro = 1'000;

struct KindName {
  TransformKind kind;
  std::string_view name;
};

constexpr KindName kPlainNames[] = {{TransformKind::kIdentity, "identity"}, {TransformKind::kYear, "year"},
                                    {TransformKind::kMonth, "month"},       {TransformKind::kDay, "day"},
                                    {TransformKind::kHour, "hour"},         {TransformKind::kVoid, "void"}};
constexpr KindName kParameterNames[] = {{TransformKind::kBucket, "bucket"}, {TransformKind::kTruncate, "truncate"}};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

bool IsTimestamp(TypeId id) {
  return id == TypeId::kTimestamp || id == TypeId::kTimestampTz || id == TypeId::kTimestampNs ||
         id == TypeId::kTimestampTzNs;
}

bool IsNanos(TypeId id) { return id == TypeId::kTimestampNs || id == TypeId::kTimestampTzNs; }

bool MayBucket(TypeId id) {
  switch (id) {
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kDecimal:
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary:
      return true;
    default:
      return IsTimestamp(id);
  }
}

bool MayTruncate(TypeId id) {
  return id == TypeId::kInt || id == TypeId::kLong || id == TypeId::kDecimal || id == TypeId::kString ||
         id == TypeId::kBinary;
}

bool MayTransform(TransformKind kind, const Type& source) {
  const TypeId id = source.id;
  switch (kind) {
    case TransformKind::kIdentity:
      return source.is_primitive() && id != TypeId::kGeometry && id != TypeId::kGeography;
    case TransformKind::kBucket:
      return MayBucket(id);
    case TransformKind::kTruncate:
      return MayTruncate(id);
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kDay:
      return id == TypeId::kDate || IsTimestamp(id);
    case TransformKind::kHour:
      return IsTimestamp(id);
    case TransformKind::kVoid:
    case TransformKind::kUnknown:
      return true;
  }
  return false;
}

uint32_t HashOf(std::string_view bytes) {
  return Murmur3({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, 0);
}

uint32_t HashOf(int64_t number) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(static_cast<uint64_t>(number) >> shift);
  return HashOf(bytes);
}

Result<Value> Bucket(int buckets, const Type& source, const Value& value) {
  uint32_t hash = 0;
  if (const auto* narrow = std::get_if<int32_t>(&value)) {
    hash = HashOf(int64_t{*narrow});
  } else if (const auto* wide = std::get_if<int64_t>(&value)) {
    hash = HashOf(IsNanos(source.id) ? FloorDivide(*wide, kNanosPerMicro) : *wide);
  } else {
    ARROW_ASSIGN_OR_RAISE(std::string bytes, ValueToBytes(source, value));
    hash = HashOf(bytes);
  }
  return static_cast<int32_t>((hash & 0x7fffffffu) % static_cast<uint32_t>(buckets));
}

/// `value` minus its remainder, which is never negative. Wraps below the smallest T, as Java does.
template <typename T>
T TruncateInteger(T value, int width) {
  const T remainder = static_cast<T>(((value % width) + width) % width);
  using Unsigned = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Unsigned>(value) - static_cast<Unsigned>(remainder));
}

arrow::Decimal128 TruncateDecimal(const arrow::Decimal128& value, int width) {
  const arrow::Decimal128 divisor(width);
  arrow::Decimal128 remainder = value % divisor;
  if (remainder < arrow::Decimal128(0)) remainder += divisor;
  return value - remainder;
}

/// The first `count` characters of UTF-8 text.
std::string FirstCharacters(const std::string& text, int count) {
  int seen = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (starts_character && seen++ == count) return text.substr(0, i);
  }
  return text;
}

Result<Value> Truncate(int width, const Type& source, const Value& value) {
  if (const auto* narrow = std::get_if<int32_t>(&value)) {
    // In 64 bits, where remainder plus width cannot overflow.
    return static_cast<int32_t>(TruncateInteger<int64_t>(*narrow, width));
  }
  if (const auto* wide = std::get_if<int64_t>(&value)) return TruncateInteger<int64_t>(*wide, width);
  if (const auto* decimal = std::get_if<arrow::Decimal128>(&value)) return TruncateDecimal(*decimal, width);
  const auto& bytes = std::get<std::string>(value);
  return source.id == TypeId::kString ? FirstCharacters(bytes, width) : bytes.substr(0, static_cast<size_t>(width));
}

Result<Value> Ordinal(int64_t number) {
  if (number < std::numeric_limits<int32_t>::min() || number > std::numeric_limits<int32_t>::max()) {
    return Invalid("partition value {} does not fit 32 bits", number);
  }
  return static_cast<int32_t>(number);
}

/// Hours from the epoch, rounded down.
int64_t HoursOf(const Type& source, const Value& value) {
  if (const auto* days = std::get_if<int32_t>(&value)) return *days * kHoursPerDay;
  const int64_t per_hour = IsNanos(source.id) ? kMicrosPerHour * kNanosPerMicro : kMicrosPerHour;
  return FloorDivide(std::get<int64_t>(value), per_hour);
}

Result<Value> TransformTime(TransformKind kind, const Type& source, const Value& value) {
  const int64_t hours = HoursOf(source, value);
  if (kind == TransformKind::kHour) return Ordinal(hours);
  const int64_t days = FloorDivide(hours, kHoursPerDay);
  if (kind == TransformKind::kDay) return Ordinal(days);
  const expr::CivilDate date = expr::CivilFromDays(days);
  const int64_t years = date.year - 1970;
  return Ordinal(kind == TransformKind::kYear ? years : years * 12 + date.month - 1);
}

/// True when `value` is of the alternative that stands for `type`.
bool IsValueOf(const Type& type, const Value& value) {
  switch (type.id) {
    case TypeId::kBoolean:
      return std::holds_alternative<bool>(value);
    case TypeId::kInt:
    case TypeId::kDate:
      return std::holds_alternative<int32_t>(value);
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return std::holds_alternative<int64_t>(value);
    case TypeId::kFloat:
      return std::holds_alternative<float>(value);
    case TypeId::kDouble:
      return std::holds_alternative<double>(value);
    case TypeId::kDecimal:
      return std::holds_alternative<arrow::Decimal128>(value);
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary:
      return std::holds_alternative<std::string>(value);
    default:
      return false;
  }
}

Status CheckSource(const Transform& transform, const Type& source) {
  if (MayTransform(transform.kind, source)) return Status::OK();
  return Invalid("transform {} does not take type {}", transform.text, source.ToString());
}

}  // namespace

Result<Transform> ParseTransform(std::string_view text) {
  Transform transform{TransformKind::kUnknown, 0, std::string(text)};
  const std::string lower = Lower(text);
  for (const auto& [kind, name] : kPlainNames) {
    if (lower == name) transform.kind = kind;
  }
  for (const auto& [kind, name] : kParameterNames) {
    if (!lower.starts_with(std::string(name) + "[") || !lower.ends_with("]")) continue;
    const char* begin = lower.data() + name.size() + 1;
    const char* end = lower.data() + lower.size() - 1;
    const auto parsed = std::from_chars(begin, end, transform.parameter);
    if (parsed.ec != std::errc() || parsed.ptr != end || transform.parameter <= 0) {
      return Invalid("transform {}: expected a positive 32-bit number in the brackets", text);
    }
    transform.kind = kind;
  }
  return transform;
}

Result<TypePtr> ResultType(const Transform& transform, const Type& source) {
  ARROW_RETURN_NOT_OK(CheckSource(transform, source));
  switch (transform.kind) {
    case TransformKind::kIdentity:
    case TransformKind::kTruncate:
    case TransformKind::kVoid:
      return std::make_shared<const Type>(source);
    case TransformKind::kBucket:
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kHour:
      return Primitive(TypeId::kInt);
    case TransformKind::kDay:
      return Primitive(TypeId::kDate);
    case TransformKind::kUnknown:
      break;
  }
  return Primitive(TypeId::kUnknown);
}

Result<Value> Apply(const Transform& transform, const Type& source, const Value& value) {
  ARROW_RETURN_NOT_OK(CheckSource(transform, source));
  if (transform.kind == TransformKind::kUnknown) return NotImplemented("partition transform '{}'", transform.text);
  if (IsNull(value) || transform.kind == TransformKind::kVoid) return Value();
  if (!IsValueOf(source, value)) return Invalid("a value is none of type {}", source.ToString());
  switch (transform.kind) {
    case TransformKind::kBucket:
      return Bucket(transform.parameter, source, value);
    case TransformKind::kTruncate:
      return Truncate(transform.parameter, source, value);
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kDay:
    case TransformKind::kHour:
      return TransformTime(transform.kind, source, value);
    default:
      return value;
  }
}

}  // namespace calve::iceberg
