// Single values as bytes (Appendix D), little-endian but for decimals and UUIDs:
//
//   boolean 1 byte, 0 is false          timestamp..   8, micro- or nanoseconds     fixed    its bytes
//   int     4                           string        UTF-8                        binary   its bytes
//   long    8                           uuid          16, big-endian               decimal  unscaled, big-endian two's
//   float   4, double 8                 date 4, time 8                                      complement, as few as hold
//   it
//
// Bounds outlive type promotions: 4 bytes in a long column are an int, in a double column a float, in a timestamp
// column a date. String and binary bounds may be cut anywhere, fixed ones too.
#include "calve/base/byte_cursor.h"
#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/iceberg/schema.h"

#include <arrow/util/decimal.h>

namespace calve::iceberg {
namespace {

constexpr size_t kMaxDecimalBytes = 16;
constexpr int64_t kMicrosPerDay = int64_t{86'400} * 1'000'000;

Status WrongLength(const Type& type, std::string_view bytes) {
  return Invalid("a value of type {} cannot have {} bytes", type.ToString(), bytes.size());
}

template <typename T>
T Little(std::string_view bytes) {
  return ByteCursor(bytes).Little<T>();
}

template <typename T>
Result<Value> Exactly(const Type& type, std::string_view bytes) {
  if (bytes.size() != sizeof(T)) return WrongLength(type, bytes);
  return Value(Little<T>(bytes));
}

Result<Value> TimestampOf(const Type& type, std::string_view bytes) {
  if (bytes.size() != sizeof(int32_t)) return Exactly<int64_t>(type, bytes);
  const int64_t per_day = type.id == TypeId::kTimestampNs ? kMicrosPerDay * 1000 : kMicrosPerDay;
  auto units = CheckedMultiply<int64_t>(Little<int32_t>(bytes), per_day);
  if (!units) return Invalid("a date bound is out of the range of type {}", type.ToString());
  return Value(*units);
}

Result<Value> DecimalOf(const Type& type, std::string_view bytes) {
  if (bytes.empty() || bytes.size() > kMaxDecimalBytes) return WrongLength(type, bytes);
  ARROW_ASSIGN_OR_RAISE(auto value, arrow::Decimal128::FromBigEndian(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                                     static_cast<int32_t>(bytes.size())));
  return Value(value);
}

template <typename T>
std::string LittleBytes(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string DecimalBytes(const arrow::Decimal128& value) {
  const std::array<uint8_t, kMaxDecimalBytes> little = value.ToBytes();
  std::string bytes(little.rbegin(), little.rend());
  size_t skip = 0;
  // A leading byte that only repeats the sign of the next is not needed.
  while (skip + 1 < bytes.size()) {
    const auto first = static_cast<uint8_t>(bytes[skip]);
    const bool next_negative = (static_cast<uint8_t>(bytes[skip + 1]) & 0x80) != 0;
    if (first != (next_negative ? 0xff : 0x00)) break;
    ++skip;
  }
  return bytes.substr(skip);
}

}  // namespace

Result<Value> ValueFromBytes(const Type& type, std::string_view bytes) {
  switch (type.id) {
    case TypeId::kBoolean:
      if (bytes.size() != 1) return WrongLength(type, bytes);
      return Value(bytes[0] != 0);
    case TypeId::kInt:
    case TypeId::kDate:
      return Exactly<int32_t>(type, bytes);
    case TypeId::kLong:
      if (bytes.size() == sizeof(int32_t)) return Value(static_cast<int64_t>(Little<int32_t>(bytes)));
      return Exactly<int64_t>(type, bytes);
    case TypeId::kFloat:
      return Exactly<float>(type, bytes);
    case TypeId::kDouble:
      if (bytes.size() == sizeof(float)) return Value(static_cast<double>(Little<float>(bytes)));
      return Exactly<double>(type, bytes);
    case TypeId::kDecimal:
      return DecimalOf(type, bytes);
    case TypeId::kTimestamp:
    case TypeId::kTimestampNs:
      return TimestampOf(type, bytes);
    case TypeId::kTime:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampTzNs:
      return Exactly<int64_t>(type, bytes);
    case TypeId::kUuid:
      if (bytes.size() != 16) return WrongLength(type, bytes);
      return Value(std::string(bytes));
    case TypeId::kFixed:
      if (bytes.size() > static_cast<size_t>(type.length)) return WrongLength(type, bytes);
      return Value(std::string(bytes));
    case TypeId::kString:
    case TypeId::kBinary:
      return Value(std::string(bytes));
    default:
      return NotImplemented("values of type {} as bytes", type.ToString());
  }
}

Result<std::string> ValueToBytes(const Type& type, const Value& value) {
  if (const auto* held = std::get_if<bool>(&value)) return std::string(1, *held ? '\1' : '\0');
  if (const auto* held = std::get_if<int32_t>(&value)) return LittleBytes(*held);
  if (const auto* held = std::get_if<int64_t>(&value)) return LittleBytes(*held);
  if (const auto* held = std::get_if<float>(&value)) return LittleBytes(*held);
  if (const auto* held = std::get_if<double>(&value)) return LittleBytes(*held);
  if (const auto* held = std::get_if<std::string>(&value)) return *held;
  if (const auto* held = std::get_if<arrow::Decimal128>(&value)) return DecimalBytes(*held);
  return Invalid("null has no binary form (type {})", type.ToString());
}

}  // namespace calve::iceberg
