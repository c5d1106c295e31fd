// Type names, as metadata JSON spells them:
//
//   name     = "boolean" | "int" | "long" | "float" | "double" | "date" | "time" | "timestamp" | "timestamptz"
//            | "timestamp_ns" | "timestamptz_ns" | "string" | "uuid" | "binary" | "unknown" | "variant"
//            | "decimal" "(" digits "," digits ")" | "fixed" "[" digits "]"
//            | ("geometry" | "geography") [ "(" text ")" ]
//
// White space may stand around parameters and separators.
#include "calve/iceberg/type.h"

#include "calve/base/status.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace calve::iceberg {
namespace {

struct Name {
  TypeId id;
  std::string_view text;
};

constexpr Name kPlainNames[] = {
    {TypeId::kBoolean, "boolean"},
    {TypeId::kInt, "int"},
    {TypeId::kLong, "long"},
    {TypeId::kFloat, "float"},
    {TypeId::kDouble, "double"},
    {TypeId::kDate, "date"},
    {TypeId::kTime, "time"},
    {TypeId::kTimestamp, "timestamp"},
    {TypeId::kTimestampTz, "timestamptz"},
    {TypeId::kTimestampNs, "timestamp_ns"},
    {TypeId::kTimestampTzNs, "timestamptz_ns"},
    {TypeId::kString, "string"},
    {TypeId::kUuid, "uuid"},
    {TypeId::kBinary, "binary"},
    {TypeId::kUnknown, "unknown"},
    {TypeId::kVariant, "variant"},
    {TypeId::kGeometry, "geometry"},
    {TypeId::kGeography, "geography"},
};

constexpr int kMaxDecimalPrecision = 38;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<int> ParseCount(std::string_view text) {
  text = Trim(text);
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// What stands between `open` and `close` after `name`, or nothing.
std::optional<std::string_view> Bracketed(std::string_view text, std::string_view name, char open, char close) {
  if (text.substr(0, name.size()) != name) return std::nullopt;
  text = Trim(text.substr(name.size()));
  if (text.size() < 2 || text.front() != open || text.back() != close) return std::nullopt;
  return text.substr(1, text.size() - 2);
}

Result<TypePtr> ParseDecimal(std::string_view text, std::string_view parameters) {
  const size_t comma = parameters.find(',');
  if (comma == std::string_view::npos) return Invalid("type '{}': expected decimal(precision, scale)", text);
  auto precision = ParseCount(parameters.substr(0, comma));
  auto scale = ParseCount(parameters.substr(comma + 1));
  if (!precision || !scale) return Invalid("type '{}': expected decimal(precision, scale)", text);
  if (*precision < 1 || *precision > kMaxDecimalPrecision) {
    return Invalid("type '{}': precision out of range (1 to {})", text, kMaxDecimalPrecision);
  }
  if (*scale > *precision) return Invalid("type '{}': scale larger than precision", text);
  return Decimal(*precision, *scale);
}

TypePtr Geo(TypeId id, std::string_view parameters) {
  auto type = std::make_shared<Type>();
  type->id = id;
  type->parameters = std::string(Trim(parameters));
  return type;
}

TypePtr Nested(TypeId id, std::vector<Field> fields) {
  auto type = std::make_shared<Type>();
  type->id = id;
  type->fields = std::move(fields);
  return type;
}

std::string FieldsToString(const Type& type) {
  std::string text;
  for (const Field& field : type.fields) {
    if (!text.empty()) text += ", ";
    if (type.id == TypeId::kStruct) text += fmt::format("{}: {}: ", field.id, field.name);
    if (type.id == TypeId::kStruct) text += field.required ? "required " : "optional ";
    text += field.type->ToString();
  }
  return text;
}

bool SameJson(const std::shared_ptr<const nlohmann::json>& left, const std::shared_ptr<const nlohmann::json>& right) {
  if (left == nullptr || right == nullptr) return left == right;
  return *left == *right;
}

bool SameFields(const std::vector<Field>& left, const std::vector<Field>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const Field& l, const Field& r) {
    return l.id == r.id && l.name == r.name && l.required == r.required && SameType(*l.type, *r.type);
  });
}

}  // namespace

std::string Type::ToString() const {
  switch (id) {
    case TypeId::kDecimal:
      return fmt::format("decimal({}, {})", precision, scale);
    case TypeId::kFixed:
      return fmt::format("fixed[{}]", length);
    case TypeId::kStruct:
      return "struct<" + FieldsToString(*this) + ">";
    case TypeId::kList:
      return "list<" + FieldsToString(*this) + ">";
    case TypeId::kMap:
      return "map<" + FieldsToString(*this) + ">";
    default:
      break;
  }
  std::string text;
  for (const Name& name : kPlainNames) {
    if (name.id == id) text = name.text;
  }
  if (!parameters.empty()) text += "(" + parameters + ")";
  return text;
}

TypePtr Primitive(TypeId id) {
  auto type = std::make_shared<Type>();
  type->id = id;
  return type;
}

TypePtr Decimal(int precision, int scale) {
  auto type = std::make_shared<Type>();
  type->id = TypeId::kDecimal;
  type->precision = precision;
  type->scale = scale;
  return type;
}

TypePtr Fixed(int length) {
  auto type = std::make_shared<Type>();
  type->id = TypeId::kFixed;
  type->length = length;
  return type;
}

TypePtr Struct(std::vector<Field> fields) { return Nested(TypeId::kStruct, std::move(fields)); }

TypePtr List(Field element) {
  std::vector<Field> fields;
  fields.push_back(std::move(element));
  return Nested(TypeId::kList, std::move(fields));
}

TypePtr Map(Field key, Field value) {
  std::vector<Field> fields;
  fields.push_back(std::move(key));
  fields.push_back(std::move(value));
  return Nested(TypeId::kMap, std::move(fields));
}

Result<TypePtr> ParsePrimitive(std::string_view text) {
  for (const Name& name : kPlainNames) {
    if (name.text == text) return Primitive(name.id);
  }
  if (auto parameters = Bracketed(text, "decimal", '(', ')')) return ParseDecimal(text, *parameters);
  if (auto parameters = Bracketed(text, "fixed", '[', ']')) {
    auto length = ParseCount(*parameters);
    if (!length || *length == 0) return Invalid("type '{}': expected fixed[length] with a positive length", text);
    return Fixed(*length);
  }
  if (auto parameters = Bracketed(text, "geometry", '(', ')')) return Geo(TypeId::kGeometry, *parameters);
  if (auto parameters = Bracketed(text, "geography", '(', ')')) return Geo(TypeId::kGeography, *parameters);
  return NotImplemented("type '{}' is not known", text);
}

bool operator==(const Field& left, const Field& right) {
  if (left.id != right.id || left.name != right.name || left.required != right.required || left.doc != right.doc) {
    return false;
  }
  if (!SameJson(left.initial_default, right.initial_default) || !SameJson(left.write_default, right.write_default)) {
    return false;
  }
  // Compared with their docs and defaults, which SameType leaves out.
  return SameType(*left.type, *right.type) && left.type->fields == right.type->fields;
}

bool SameType(const Type& left, const Type& right) {
  return left.id == right.id && left.precision == right.precision && left.scale == right.scale &&
         left.length == right.length && left.parameters == right.parameters && SameFields(left.fields, right.fields);
}

bool CanPromote(const Type& from, const Type& to) {
  if (SameType(from, to)) return true;
  switch (from.id) {
    case TypeId::kUnknown:
      return true;
    case TypeId::kInt:
      return to.id == TypeId::kLong;
    case TypeId::kFloat:
      return to.id == TypeId::kDouble;
    case TypeId::kDate:
      return to.id == TypeId::kTimestamp || to.id == TypeId::kTimestampNs;
    case TypeId::kDecimal:
      return to.id == TypeId::kDecimal && to.scale == from.scale && to.precision >= from.precision;
    default:
      return false;
  }
}

}  // namespace calve::iceberg
