#include "calve/iceberg/avro_schema.h"

#include "calve/base/status.h"

#include <cctype>

namespace calve::iceberg {
namespace {

avro::SchemaPtr Timestamp(const char* logical_type, bool adjust_to_utc) {
  avro::Schema schema;
  schema.kind = avro::Kind::kLong;
  schema.logical_type = logical_type;
  schema.adjust_to_utc = adjust_to_utc;
  return avro::Seal(std::move(schema));
}

avro::SchemaPtr DecimalFixed(const Type& type) {
  avro::Schema schema;
  schema.kind = avro::Kind::kFixed;
  schema.name = fmt::format("decimal_{}_{}", type.precision, type.scale);
  schema.size_bytes = static_cast<size_t>(DecimalBytes(type.precision));
  schema.logical_type = "decimal";
  schema.precision = type.precision;
  schema.scale = type.scale;
  return avro::Seal(std::move(schema));
}

Result<avro::SchemaPtr> ToAvro(const Type& type, int field_id);

Result<avro::SchemaPtr> ToAvro(const Field& field) {
  ARROW_ASSIGN_OR_RAISE(auto schema, ToAvro(*field.type, field.id));
  return field.required || schema->kind == avro::Kind::kNull ? schema : avro::Optional(std::move(schema));
}

Result<avro::SchemaPtr> MapToAvro(const Type& type) {
  const auto &key = type.fields[0], &value = type.fields[1];
  ARROW_ASSIGN_OR_RAISE(auto entry, ToAvroRecord(fmt::format("k{}_v{}", key.id, value.id),
                                                 {Field{key.id, "key", true, key.type},
                                                  Field{value.id, "value", value.required, value.type}}));
  avro::Schema schema;
  schema.kind = avro::Kind::kArray;
  schema.element = std::move(entry);
  schema.logical_type = "map";
  return avro::Seal(std::move(schema));
}

Result<avro::SchemaPtr> ToAvro(const Type& type, int field_id) {
  using avro::Kind;
  switch (type.id) {
    case TypeId::kBoolean:
      return avro::Primitive(Kind::kBoolean);
    case TypeId::kInt:
      return avro::Primitive(Kind::kInt);
    case TypeId::kLong:
      return avro::Primitive(Kind::kLong);
    case TypeId::kFloat:
      return avro::Primitive(Kind::kFloat);
    case TypeId::kDouble:
      return avro::Primitive(Kind::kDouble);
    case TypeId::kDate:
      return avro::Primitive(Kind::kInt, "date");
    case TypeId::kTime:
      return avro::Primitive(Kind::kLong, "time-micros");
    case TypeId::kTimestamp:
      return Timestamp("timestamp-micros", false);
    case TypeId::kTimestampTz:
      return Timestamp("timestamp-micros", true);
    case TypeId::kTimestampNs:
      return Timestamp("timestamp-nanos", false);
    case TypeId::kTimestampTzNs:
      return Timestamp("timestamp-nanos", true);
    case TypeId::kString:
      return avro::Primitive(Kind::kString);
    case TypeId::kUuid:
      return avro::Fixed("uuid_fixed", 16, "uuid");
    case TypeId::kFixed:
      return avro::Fixed(fmt::format("fixed_{}", type.length), static_cast<size_t>(type.length));
    case TypeId::kDecimal:
      return DecimalFixed(type);
    case TypeId::kBinary:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return avro::Primitive(Kind::kBytes);
    case TypeId::kUnknown:
      return avro::Primitive(Kind::kNull);
    case TypeId::kStruct:
      return ToAvroRecord(fmt::format("r{}", field_id), type.fields);
    case TypeId::kList: {
      ARROW_ASSIGN_OR_RAISE(auto element, ToAvro(type.fields[0]));
      return avro::Array(std::move(element), type.fields[0].id);
    }
    case TypeId::kMap:
      return MapToAvro(type);
    case TypeId::kVariant:
      break;
  }
  return NotImplemented("{} in Avro", type.ToString());
}

/// Avro names are made of ASCII letters, digits and '_', and do not begin with a digit.
std::string AvroName(const std::string& name) {
  std::string result;
  for (char c : name) {
    auto byte = static_cast<unsigned char>(c);
    bool letter = byte < 0x80 && (std::isalpha(byte) != 0 || c == '_');
    bool digit = byte < 0x80 && std::isdigit(byte) != 0;
    if (letter || (digit && !result.empty())) {
      result += c;
    } else {
      result += digit ? fmt::format("_{}", c) : fmt::format("_x{:X}", byte);
    }
  }
  return result.empty() ? "_" : result;
}

Result<avro::Value> DecimalToAvro(const Type& type, const arrow::Decimal128& value) {
  auto little = value.ToBytes();
  auto size = static_cast<size_t>(DecimalBytes(type.precision));
  auto sign = static_cast<uint8_t>(value.IsNegative() ? 0xff : 0);
  for (size_t i = size; i < little.size(); ++i) {
    if (little[i] != sign) return Invalid("{} does not fit {}", value.ToIntegerString(), type.ToString());
  }
  return avro::Value(std::string(little.rend() - static_cast<ptrdiff_t>(size), little.rend()));
}

Status Mismatch(const Type& type, const avro::Schema& schema) {
  return Invalid("Avro {} where {} is expected", avro::ToString(schema.kind), type.ToString());
}

Result<Value> NaturalValue(const avro::Schema& schema, const avro::Value& value) {
  if (const auto* flag = value.As<bool>()) return Value(*flag);
  if (const auto* number = value.As<float>()) return Value(*number);
  if (const auto* number = value.As<double>()) return Value(*number);
  if (const auto* text = value.As<std::string>()) return Value(*text);
  if (const auto* number = value.As<int64_t>()) {
    return schema.kind == avro::Kind::kInt ? Value(static_cast<int32_t>(*number)) : Value(*number);
  }
  return Invalid("Avro {} where a primitive value is expected", avro::ToString(schema.kind));
}

Result<Value> DecimalFromAvro(const Type& type, const std::string& bytes) {
  if (bytes.empty()) return Invalid("a {} of no bytes", type.ToString());
  ARROW_ASSIGN_OR_RAISE(auto value,
                        arrow::Decimal128::FromBigEndian(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                         static_cast<int32_t>(std::min<size_t>(bytes.size(), 1000))));
  return Value(value);
}

Result<Value> IntegerFromAvro(const Type& type, const avro::Schema& schema, int64_t value) {
  constexpr int64_t kMicrosPerDay = 86'400'000'000, kNanosPerMicro = 1000;
  bool from_date = schema.logical_type == "date" && schema.kind == avro::Kind::kInt;
  switch (type.id) {
    case TypeId::kInt:
    case TypeId::kDate:
      if (value != static_cast<int32_t>(value)) return Invalid("{} does not fit {}", value, type.ToString());
      return Value(static_cast<int32_t>(value));
    case TypeId::kTimestamp:
      return Value(from_date ? value * kMicrosPerDay : value);
    case TypeId::kTimestampNs: {
      int64_t nanos = value;
      if (from_date && __builtin_mul_overflow(value, kMicrosPerDay * kNanosPerMicro, &nanos)) {
        return Invalid("day {} does not fit {}", value, type.ToString());
      }
      return Value(nanos);
    }
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampTzNs:
      return Value(value);
    default:
      return Mismatch(type, schema);
  }
}

Result<Value> TextFromAvro(const Type& type, const avro::Schema& schema, const std::string& text) {
  switch (type.id) {
    case TypeId::kDecimal:
      return DecimalFromAvro(type, text);
    case TypeId::kUuid:
      if (text.size() != 16) return Invalid("a uuid of {} bytes", text.size());
      return Value(text);
    case TypeId::kFixed:
      if (text.size() != static_cast<size_t>(type.length)) {
        return Invalid("{} bytes where {} is expected", text.size(), type.ToString());
      }
      return Value(text);
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return Value(text);
    default:
      return Mismatch(type, schema);
  }
}

}  // namespace

int DecimalBytes(int precision) {
  // Bytes whose largest signed value has at least that many digits.
  constexpr int kMostDigits[] = {0, 2, 4, 6, 9, 11, 14, 16, 18, 21, 23, 26, 28, 31, 33, 35, 38};
  int bytes = 1;
  while (bytes < 16 && kMostDigits[bytes] < precision) ++bytes;
  return bytes;
}

Result<avro::SchemaPtr> ToAvroRecord(const std::string& name, const std::vector<Field>& fields) {
  std::vector<avro::Field> columns;
  for (const auto& field : fields) {
    avro::Field column;
    column.name = AvroName(field.name);
    if (column.name != field.name) column.iceberg_name = field.name;
    ARROW_ASSIGN_OR_RAISE(column.type, ToAvro(field));
    column.id = field.id;
    column.doc = field.doc;
    columns.push_back(std::move(column));
  }
  return avro::Record(name, std::move(columns));
}

Result<avro::Value> ToAvroValue(const Type& type, const Value& value) {
  if (IsNull(value)) return avro::Value();
  if (const auto* flag = std::get_if<bool>(&value)) return avro::Value(*flag);
  if (const auto* number = std::get_if<int32_t>(&value)) return avro::Value(int64_t{*number});
  if (const auto* number = std::get_if<int64_t>(&value)) return avro::Value(*number);
  if (const auto* number = std::get_if<float>(&value)) return avro::Value(*number);
  if (const auto* number = std::get_if<double>(&value)) return avro::Value(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return avro::Value(*text);
  return DecimalToAvro(type, std::get<arrow::Decimal128>(value));
}

Result<Value> FromAvroValue(const Type& type, const avro::Schema& schema, const avro::Value& value) {
  if (value.is_null()) return Value();
  if (const auto* branch = schema.optional_branch()) return FromAvroValue(type, *branch, value);
  if (type.id == TypeId::kUnknown) return NaturalValue(schema, value);
  if (const auto* number = value.As<int64_t>()) return IntegerFromAvro(type, schema, *number);
  if (const auto* text = value.As<std::string>()) return TextFromAvro(type, schema, *text);
  const auto* single = value.As<float>();
  if (single != nullptr && type.id == TypeId::kFloat) return Value(*single);
  if (single != nullptr && type.id == TypeId::kDouble) return Value(static_cast<double>(*single));
  if (const auto* number = value.As<double>(); number != nullptr && type.id == TypeId::kDouble) return Value(*number);
  if (const auto* flag = value.As<bool>(); flag != nullptr && type.id == TypeId::kBoolean) return Value(*flag);
  return Mismatch(type, schema);
}

}  // namespace calve::iceberg
