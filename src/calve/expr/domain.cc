#include "calve/expr/domain.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>

namespace calve::expr {
namespace {

using Kind = Domain::Kind;
using Holder = Domain::Holder;

constexpr int64_t kNanosPerDay = 86'400'000'000'000;

template <typename T>
Domain Whole(Kind kind, Holder holder, int64_t unit_nanos = 1) {
  Domain domain{kind, holder};
  domain.min = std::numeric_limits<T>::min();
  domain.max = std::numeric_limits<T>::max();
  domain.unit_nanos = unit_nanos;
  return domain;
}

int64_t UnitNanos(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return 1'000'000'000;
    case arrow::TimeUnit::MILLI:
      return 1'000'000;
    case arrow::TimeUnit::MICRO:
      return 1'000;
    case arrow::TimeUnit::NANO:
      return 1;
  }
  return 1;
}

Domain DecimalDomain(const arrow::DecimalType& type) {
  constexpr int kMaxPrecision = 38;
  if (type.precision() > kMaxPrecision) return {};
  Domain domain{Kind::kDecimal, Holder::kDecimal128};
  domain.max = 1;
  for (int i = 0; i < type.precision(); ++i) domain.max *= 10;
  domain.max -= 1;
  domain.min = -domain.max;
  domain.scale = type.scale();
  return domain;
}

Domain TimeDomain(const arrow::TimeType& type, Holder holder) {
  Domain domain{Kind::kTime, holder};
  domain.unit_nanos = UnitNanos(type.unit());
  domain.max = kNanosPerDay / domain.unit_nanos;
  return domain;
}

Domain TimestampDomain(const arrow::TimestampType& type) {
  Domain domain = Whole<int64_t>(Kind::kTimestamp, Holder::kInt64, UnitNanos(type.unit()));
  domain.has_zone = !type.timezone().empty();
  return domain;
}

Domain FixedDomain(Kind kind, const arrow::DataType& type) {
  Domain domain{kind};
  domain.width_bytes = static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width();
  return domain;
}

Domain ExtensionDomain(const arrow::ExtensionType& type) {
  if (type.extension_name() == "arrow.uuid") return FixedDomain(Kind::kUuid, *type.storage_type());
  if (type.extension_name() == "arrow.json") return DomainOf(*type.storage_type());
  return {};
}

}  // namespace

Domain DomainOf(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL:
      return {Kind::kBool};
    case arrow::Type::INT8:
      return Whole<int8_t>(Kind::kInteger, Holder::kInt32);
    case arrow::Type::INT16:
      return Whole<int16_t>(Kind::kInteger, Holder::kInt32);
    case arrow::Type::INT32:
      return Whole<int32_t>(Kind::kInteger, Holder::kInt32);
    case arrow::Type::INT64:
      return Whole<int64_t>(Kind::kInteger, Holder::kInt64);
    case arrow::Type::UINT8:
      return Whole<uint8_t>(Kind::kInteger, Holder::kInt32);
    case arrow::Type::UINT16:
      return Whole<uint16_t>(Kind::kInteger, Holder::kInt32);
    case arrow::Type::UINT32:
      return Whole<uint32_t>(Kind::kInteger, Holder::kInt64);
    case arrow::Type::UINT64:
      return Whole<uint64_t>(Kind::kInteger, Holder::kDecimal128);
    case arrow::Type::HALF_FLOAT: {
      Domain domain{Kind::kFloat};
      domain.half = true;
      return domain;
    }
    case arrow::Type::FLOAT:
      return {Kind::kFloat};
    case arrow::Type::DOUBLE:
      return {Kind::kDouble};
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
      return {Kind::kText};
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      return {Kind::kBinary};
    case arrow::Type::FIXED_SIZE_BINARY:
      return FixedDomain(Kind::kFixed, type);
    case arrow::Type::DATE32:
      return Whole<int32_t>(Kind::kDate, Holder::kInt32, kNanosPerDay);
    case arrow::Type::DATE64:
      return Whole<int64_t>(Kind::kDate, Holder::kInt64, 1'000'000);
    case arrow::Type::TIME32:
      return TimeDomain(static_cast<const arrow::TimeType&>(type), Holder::kInt32);
    case arrow::Type::TIME64:
      return TimeDomain(static_cast<const arrow::TimeType&>(type), Holder::kInt64);
    case arrow::Type::TIMESTAMP:
      return TimestampDomain(static_cast<const arrow::TimestampType&>(type));
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
      return DecimalDomain(static_cast<const arrow::DecimalType&>(type));
    case arrow::Type::DICTIONARY:
      return DomainOf(*static_cast<const arrow::DictionaryType&>(type).value_type());
    case arrow::Type::EXTENSION:
      return ExtensionDomain(static_cast<const arrow::ExtensionType&>(type));
    case arrow::Type::NA:
      return {Kind::kNull};
    default:
      return {};
  }
}

bool SameDomain(const arrow::DataType& left, const arrow::DataType& right) {
  const Domain a = DomainOf(left);
  const Domain b = DomainOf(right);
  if (a.kind != b.kind) return false;
  if (a.kind == Kind::kOther) return left.Equals(right);
  return a.holder == b.holder && a.min == b.min && a.max == b.max && a.scale == b.scale &&
         a.unit_nanos == b.unit_nanos && a.has_zone == b.has_zone && a.half == b.half && a.width_bytes == b.width_bytes;
}

Value HolderValue(const Domain& domain, Int128 number) {
  switch (domain.holder) {
    case Holder::kInt32:
      return static_cast<int32_t>(number);
    case Holder::kInt64:
      return static_cast<int64_t>(number);
    case Holder::kDecimal128:
      break;
  }
  return arrow::Decimal128(static_cast<int64_t>(number >> 64), static_cast<uint64_t>(number));
}

std::optional<Int128> HolderNumber(const Value& value) {
  if (const auto* number = std::get_if<int32_t>(&value)) return *number;
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* number = std::get_if<arrow::Decimal128>(&value)) {
    return static_cast<Int128>(number->high_bits()) * (Int128{1} << 64) + number->low_bits();
  }
  return std::nullopt;
}

}  // namespace calve::expr
