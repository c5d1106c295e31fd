#include "calve/parquet/leaf_element.h"

#include "calve/parquet/geometry_type.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>

#include <cmath>
#include <optional>

namespace calve::parquet {

LogicalType Logical(LogicalType::Kind kind) {
  LogicalType type;
  type.kind = kind;
  return type;
}

namespace {

void SetInteger(SchemaElement* element, int bit_width, bool is_signed, ConvertedType converted) {
  element->type = bit_width == 64 ? PhysicalType::kInt64 : PhysicalType::kInt32;
  element->logical_type = Logical(LogicalType::Kind::kInteger);
  element->logical_type.bit_width = bit_width;
  element->logical_type.is_signed = is_signed;
  element->converted_type = converted;
}

void SetFixed(SchemaElement* element, int width) {
  element->type = PhysicalType::kFixedLenByteArray;
  element->type_length = width;
}

void SetText(SchemaElement* element) {
  element->type = PhysicalType::kByteArray;
  element->logical_type = Logical(LogicalType::Kind::kString);
  element->converted_type = ConvertedType::kUtf8;
}

/// Seconds become milliseconds.
TimeUnit UnitOf(arrow::TimeUnit::type unit) {
  if (unit == arrow::TimeUnit::NANO) return TimeUnit::kNanos;
  return unit == arrow::TimeUnit::MICRO ? TimeUnit::kMicros : TimeUnit::kMillis;
}

void SetTime(SchemaElement* element, arrow::TimeUnit::type unit) {
  const TimeUnit written = UnitOf(unit);
  element->type = written == TimeUnit::kMillis ? PhysicalType::kInt32 : PhysicalType::kInt64;
  element->logical_type = Logical(LogicalType::Kind::kTime);
  element->logical_type.unit = written;
  if (written == TimeUnit::kMillis) element->converted_type = ConvertedType::kTimeMillis;
  if (written == TimeUnit::kMicros) element->converted_type = ConvertedType::kTimeMicros;
}

void SetTimestamp(SchemaElement* element, const arrow::TimestampType& type) {
  element->type = PhysicalType::kInt64;
  element->logical_type = Logical(LogicalType::Kind::kTimestamp);
  element->logical_type.unit = UnitOf(type.unit());
  element->logical_type.is_adjusted_to_utc = !type.timezone().empty();
  if (element->logical_type.unit == TimeUnit::kMillis) element->converted_type = ConvertedType::kTimestampMillis;
  if (element->logical_type.unit == TimeUnit::kMicros) element->converted_type = ConvertedType::kTimestampMicros;
}

Status SetDecimal(SchemaElement* element, const arrow::DecimalType& type, const std::string& name) {
  if (type.scale() < 0 || type.scale() > type.precision()) {
    return Invalid("column '{}': Parquet decimals have a scale between 0 and the precision, not {}", name,
                   type.ToString());
  }
  if (type.precision() <= 9) {
    element->type = PhysicalType::kInt32;
  } else if (type.precision() <= 18) {
    element->type = PhysicalType::kInt64;
  } else {
    SetFixed(element, DecimalBytes(type.precision()));
  }
  element->logical_type = Logical(LogicalType::Kind::kDecimal);
  element->logical_type.scale = element->scale = type.scale();
  element->logical_type.precision = element->precision = type.precision();
  element->converted_type = ConvertedType::kDecimal;
  return Status::OK();
}

}  // namespace

Status SetLeafType(SchemaElement* element, const arrow::DataType& type, const std::string& name) {
  using arrow::Type;
  switch (type.id()) {
    case Type::NA:
      element->type = PhysicalType::kInt32;
      element->logical_type = Logical(LogicalType::Kind::kUnknown);
      return Status::OK();
    case Type::BOOL:
      element->type = PhysicalType::kBoolean;
      return Status::OK();
    case Type::INT8:
      SetInteger(element, 8, true, ConvertedType::kInt8);
      return Status::OK();
    case Type::INT16:
      SetInteger(element, 16, true, ConvertedType::kInt16);
      return Status::OK();
    case Type::INT32:
      element->type = PhysicalType::kInt32;
      return Status::OK();
    case Type::INT64:
      element->type = PhysicalType::kInt64;
      return Status::OK();
    case Type::UINT8:
      SetInteger(element, 8, false, ConvertedType::kUint8);
      return Status::OK();
    case Type::UINT16:
      SetInteger(element, 16, false, ConvertedType::kUint16);
      return Status::OK();
    case Type::UINT32:
      SetInteger(element, 32, false, ConvertedType::kUint32);
      return Status::OK();
    case Type::UINT64:
      SetInteger(element, 64, false, ConvertedType::kUint64);
      return Status::OK();
    case Type::HALF_FLOAT:
      SetFixed(element, 2);
      element->logical_type = Logical(LogicalType::Kind::kFloat16);
      return Status::OK();
    case Type::FLOAT:
      element->type = PhysicalType::kFloat;
      return Status::OK();
    case Type::DOUBLE:
      element->type = PhysicalType::kDouble;
      return Status::OK();
    case Type::DECIMAL32:
    case Type::DECIMAL64:
    case Type::DECIMAL128:
    case Type::DECIMAL256:
      return SetDecimal(element, static_cast<const arrow::DecimalType&>(type), name);
    case Type::DATE32:
    case Type::DATE64:
      element->type = PhysicalType::kInt32;
      element->logical_type = Logical(LogicalType::Kind::kDate);
      element->converted_type = ConvertedType::kDate;
      return Status::OK();
    case Type::TIME32:
    case Type::TIME64:
      SetTime(element, static_cast<const arrow::TimeType&>(type).unit());
      return Status::OK();
    case Type::TIMESTAMP:
      SetTimestamp(element, static_cast<const arrow::TimestampType&>(type));
      return Status::OK();
    case Type::STRING:
    case Type::LARGE_STRING:
    case Type::STRING_VIEW:
      SetText(element);
      return Status::OK();
    case Type::BINARY:
    case Type::LARGE_BINARY:
    case Type::BINARY_VIEW:
      element->type = PhysicalType::kByteArray;
      return Status::OK();
    case Type::FIXED_SIZE_BINARY: {
      const int width = static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width();
      if (width == 0) return Invalid("column '{}': Parquet has no fixed_size_binary of 0 bytes", name);
      SetFixed(element, width);
      return Status::OK();
    }
    case Type::INTERVAL_MONTH_DAY_NANO:
      SetFixed(element, 12);
      element->converted_type = ConvertedType::kInterval;
      return Status::OK();
    default:
      return Invalid("column '{}': Parquet has no type for {}", name, type.ToString());
  }
}

Status SetExtension(SchemaElement* element, const arrow::ExtensionType& type) {
  if (type.extension_name() == "arrow.uuid" && element->type == PhysicalType::kFixedLenByteArray) {
    element->logical_type = Logical(LogicalType::Kind::kUuid);
  } else if (type.extension_name() == "arrow.json" && element->type == PhysicalType::kByteArray) {
    element->logical_type = Logical(LogicalType::Kind::kJson);
    element->converted_type = ConvertedType::kJson;
  } else if (type.extension_name() == "geoarrow.wkb" && element->type == PhysicalType::kByteArray) {
    ARROW_ASSIGN_OR_RAISE(element->logical_type, GeometryLogicalType(type));
    element->converted_type = std::nullopt;
  } else if (type.extension_name() == "arrow.parquet.variant" && !element->type) {
    element->logical_type = Logical(LogicalType::Kind::kVariant);
  }
  return Status::OK();
}

int DecimalBytes(int precision) {
  // The largest value, 10^precision - 1, and the sign bit.
  return static_cast<int>(std::ceil((precision * std::log2(10.0) + 1) / 8));
}

}  // namespace calve::parquet
