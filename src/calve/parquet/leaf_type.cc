#include "calve/parquet/leaf_type.h"

#include "calve/parquet/geometry_type.h"

#include "calve/base/status.h"

#include <arrow/extension/json.h>
#include <arrow/extension/uuid.h>
#include <arrow/type.h>

namespace calve::parquet {
namespace {

using Kind = LogicalType::Kind;
using TypeResult = Result<std::shared_ptr<arrow::DataType>>;

/// Values wider than this are refused: a column of nulls would otherwise make room for values that no byte of the file
/// holds.
constexpr int32_t kMaxFixedLength = 1 << 20;
constexpr int kMaxPrecision = 76;

LogicalType Integer(int bit_width, bool is_signed) {
  LogicalType type;
  type.kind = Kind::kInteger;
  type.bit_width = bit_width;
  type.is_signed = is_signed;
  return type;
}

LogicalType Temporal(Kind kind, TimeUnit unit) {
  LogicalType type;
  type.kind = kind;
  type.unit = unit;
  type.is_adjusted_to_utc = true;
  return type;
}

LogicalType Plain(Kind kind) {
  LogicalType type;
  type.kind = kind;
  return type;
}

LogicalType Decimal(const SchemaElement& element) {
  LogicalType type = Plain(Kind::kDecimal);
  type.scale = element.scale;
  type.precision = element.precision;
  return type;
}

LogicalType FromConverted(const SchemaElement& element) {
  switch (*element.converted_type) {
    case ConvertedType::kUtf8:
      return Plain(Kind::kString);
    case ConvertedType::kMap:
    case ConvertedType::kMapKeyValue:
      return Plain(Kind::kMap);
    case ConvertedType::kList:
      return Plain(Kind::kList);
    case ConvertedType::kEnum:
      return Plain(Kind::kEnum);
    case ConvertedType::kDecimal:
      return Decimal(element);
    case ConvertedType::kDate:
      return Plain(Kind::kDate);
    case ConvertedType::kTimeMillis:
      return Temporal(Kind::kTime, TimeUnit::kMillis);
    case ConvertedType::kTimeMicros:
      return Temporal(Kind::kTime, TimeUnit::kMicros);
    case ConvertedType::kTimestampMillis:
      return Temporal(Kind::kTimestamp, TimeUnit::kMillis);
    case ConvertedType::kTimestampMicros:
      return Temporal(Kind::kTimestamp, TimeUnit::kMicros);
    case ConvertedType::kUint8:
      return Integer(8, false);
    case ConvertedType::kUint16:
      return Integer(16, false);
    case ConvertedType::kUint32:
      return Integer(32, false);
    case ConvertedType::kUint64:
      return Integer(64, false);
    case ConvertedType::kInt8:
      return Integer(8, true);
    case ConvertedType::kInt16:
      return Integer(16, true);
    case ConvertedType::kInt32:
      return Integer(32, true);
    case ConvertedType::kInt64:
      return Integer(64, true);
    case ConvertedType::kJson:
      return Plain(Kind::kJson);
    case ConvertedType::kBson:
      return Plain(Kind::kBson);
    case ConvertedType::kInterval:
      return {};
  }
  return {};
}

std::string_view NameOf(Kind kind) {
  switch (kind) {
    case Kind::kNone:
      return "no annotation";
    case Kind::kString:
      return "STRING";
    case Kind::kMap:
      return "MAP";
    case Kind::kList:
      return "LIST";
    case Kind::kEnum:
      return "ENUM";
    case Kind::kDecimal:
      return "DECIMAL";
    case Kind::kDate:
      return "DATE";
    case Kind::kTime:
      return "TIME";
    case Kind::kTimestamp:
      return "TIMESTAMP";
    case Kind::kInteger:
      return "INTEGER";
    case Kind::kUnknown:
      return "UNKNOWN";
    case Kind::kJson:
      return "JSON";
    case Kind::kBson:
      return "BSON";
    case Kind::kUuid:
      return "UUID";
    case Kind::kFloat16:
      return "FLOAT16";
    case Kind::kVariant:
      return "VARIANT";
    case Kind::kGeometry:
      return "GEOMETRY";
    case Kind::kGeography:
      return "GEOGRAPHY";
  }
  return "unknown annotation";
}

arrow::TimeUnit::type ArrowUnit(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMillis:
      return arrow::TimeUnit::MILLI;
    case TimeUnit::kMicros:
      return arrow::TimeUnit::MICRO;
    case TimeUnit::kNanos:
      break;
  }
  return arrow::TimeUnit::NANO;
}

std::shared_ptr<arrow::DataType> PhysicalAsArrow(const SchemaElement& element, const TypeOptions& options) {
  switch (*element.type) {
    case PhysicalType::kBoolean:
      return arrow::boolean();
    case PhysicalType::kInt32:
      return arrow::int32();
    case PhysicalType::kInt64:
      return arrow::int64();
    case PhysicalType::kInt96:
      return arrow::timestamp(options.int96_unit);
    case PhysicalType::kFloat:
      return arrow::float32();
    case PhysicalType::kDouble:
      return arrow::float64();
    case PhysicalType::kByteArray:
      return arrow::binary();
    case PhysicalType::kFixedLenByteArray:
      break;
  }
  return arrow::fixed_size_binary(element.type_length);
}

TypeResult IntegerType(const LogicalType& type, PhysicalType physical) {
  if ((type.bit_width == 64) == (physical == PhysicalType::kInt64)) {
    switch (type.bit_width) {
      case 8:
        return type.is_signed ? arrow::int8() : arrow::uint8();
      case 16:
        return type.is_signed ? arrow::int16() : arrow::uint16();
      case 32:
        return type.is_signed ? arrow::int32() : arrow::uint32();
      case 64:
        return type.is_signed ? arrow::int64() : arrow::uint64();
      default:
        break;
    }
  }
  return Invalid("an INTEGER of {} bits cannot be {}", type.bit_width, ToString(physical));
}

TypeResult DecimalType(const LogicalType& type, const SchemaElement& element, const TypeOptions& options,
                       std::string* unsupported) {
  if (type.precision < 1 || type.scale < 0 || type.scale > type.precision) {
    return Invalid("DECIMAL of precision {} and scale {}", type.precision, type.scale);
  }
  if (type.precision > kMaxPrecision) {
    *unsupported = fmt::format("DECIMAL of precision {} (at most {})", type.precision, kMaxPrecision);
    return PhysicalAsArrow(element, options);
  }
  if (type.precision <= arrow::Decimal128Type::kMaxPrecision) return arrow::decimal128(type.precision, type.scale);
  return arrow::decimal256(type.precision, type.scale);
}

bool Fits(const LogicalType& type, const SchemaElement& element) {
  const PhysicalType physical = *element.type;
  const bool fixed = physical == PhysicalType::kFixedLenByteArray;
  switch (type.kind) {
    case Kind::kString:
    case Kind::kEnum:
    case Kind::kJson:
    case Kind::kBson:
    case Kind::kGeometry:
    case Kind::kGeography:
      return physical == PhysicalType::kByteArray;
    case Kind::kDecimal:
      return fixed || physical == PhysicalType::kByteArray || physical == PhysicalType::kInt32 ||
             physical == PhysicalType::kInt64;
    case Kind::kDate:
      return physical == PhysicalType::kInt32;
    case Kind::kTime:
      return physical == (type.unit == TimeUnit::kMillis ? PhysicalType::kInt32 : PhysicalType::kInt64);
    case Kind::kTimestamp:
      return physical == PhysicalType::kInt64;
    case Kind::kInteger:
      return physical == PhysicalType::kInt32 || physical == PhysicalType::kInt64;
    case Kind::kUuid:
      return fixed && element.type_length == 16;
    case Kind::kFloat16:
      return fixed && element.type_length == 2;
    default:
      return true;
  }
}

}  // namespace

LogicalType AnnotationOf(const SchemaElement& element) {
  if (element.logical_type.kind != Kind::kNone || !element.converted_type) return element.logical_type;
  return FromConverted(element);
}

TypeResult LeafType(const SchemaElement& element, const TypeOptions& options, std::string* unsupported) {
  if (*element.type == PhysicalType::kFixedLenByteArray) {
    if (element.type_length < 0) return Invalid("FIXED_LEN_BYTE_ARRAY of {} bytes", element.type_length);
    if (element.type_length > kMaxFixedLength) {
      *unsupported = fmt::format("FIXED_LEN_BYTE_ARRAY of {} bytes (at most {})", element.type_length, kMaxFixedLength);
    }
  }
  const LogicalType type = AnnotationOf(element);
  if (!Fits(type, element)) {
    return Invalid("{} cannot annotate {}{}", NameOf(type.kind), ToString(*element.type),
                   *element.type == PhysicalType::kFixedLenByteArray ? fmt::format("({})", element.type_length) : "");
  }
  switch (type.kind) {
    case Kind::kString:
    case Kind::kEnum:
      return options.text_as_binary ? arrow::binary() : arrow::utf8();
    case Kind::kJson:
      return options.text_as_binary ? arrow::binary() : arrow::extension::json(arrow::utf8());
    case Kind::kGeometry:
    case Kind::kGeography:
      return GeometryType(type, options.metadata.get());
    case Kind::kDecimal:
      return DecimalType(type, element, options, unsupported);
    case Kind::kDate:
      return arrow::date32();
    case Kind::kTime:
      return type.unit == TimeUnit::kMillis ? arrow::time32(arrow::TimeUnit::MILLI)
                                            : arrow::time64(ArrowUnit(type.unit));
    case Kind::kTimestamp:
      return arrow::timestamp(ArrowUnit(type.unit), type.is_adjusted_to_utc ? "UTC" : "");
    case Kind::kInteger:
      return IntegerType(type, *element.type);
    case Kind::kUnknown:
      return arrow::null();
    case Kind::kUuid:
      return arrow::extension::uuid();
    case Kind::kFloat16:
      return arrow::float16();
    default:
      return PhysicalAsArrow(element, options);
  }
}

}  // namespace calve::parquet
