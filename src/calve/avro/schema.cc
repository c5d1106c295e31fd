#include "calve/avro/schema.h"

#include "calve/base/checked.h"

#include <algorithm>

namespace calve::avro {
namespace {

// Large enough for any size that matters, small enough never to overflow.
constexpr size_t kSaturated = size_t{1} << 48;

size_t SaturatingAdd(size_t a, size_t b) { return std::min(CheckedAdd(a, b).value_or(kSaturated), kSaturated); }

size_t FieldsMinSize(const Schema& record) {
  size_t size = 0;
  for (const auto& field : record.fields) size = SaturatingAdd(size, field.type->min_size_bytes());
  return size;
}

size_t FieldsValues(const Schema& record) {
  size_t count = 1;
  for (const auto& field : record.fields) count = SaturatingAdd(count, field.type->values_count());
  return count;
}

size_t UnionMinSize(const Schema& schema) {
  size_t size = kSaturated;
  for (const auto& branch : schema.branches) size = std::min(size, branch->min_size_bytes());
  return SaturatingAdd(schema.branches.empty() ? 0 : size, 1);
}

size_t UnionValues(const Schema& schema) {
  size_t count = 1;
  for (const auto& branch : schema.branches) count = std::max(count, branch->values_count());
  return count;
}

size_t MinSize(const Schema& schema) {
  switch (schema.kind) {
    case Kind::kNull:
      return 0;
    case Kind::kFloat:
      return 4;
    case Kind::kDouble:
      return 8;
    case Kind::kFixed:
      return std::min(schema.size_bytes, kSaturated);
    case Kind::kRecord:
      return FieldsMinSize(schema);
    case Kind::kUnion:
      return UnionMinSize(schema);
    default:
      return 1;
  }
}

}  // namespace

std::string_view ToString(Kind kind) {
  constexpr std::string_view kNames[] = {"null",   "boolean", "int",  "long",   "float", "double", "bytes",
                                         "string", "fixed",   "enum", "record", "array", "map",    "union"};
  return kNames[static_cast<size_t>(kind)];
}

const Schema* Schema::optional_branch() const {
  if (kind != Kind::kUnion || branches.size() != 2) return nullptr;
  if (branches[0]->kind == Kind::kNull) return branches[1].get();
  return branches[1]->kind == Kind::kNull ? branches[0].get() : nullptr;
}

SchemaPtr Seal(Schema schema) {
  schema.min_size_bytes_ = MinSize(schema);
  if (schema.kind == Kind::kRecord) schema.values_count_ = FieldsValues(schema);
  if (schema.kind == Kind::kUnion) schema.values_count_ = UnionValues(schema);
  return std::make_shared<const Schema>(std::move(schema));
}

SchemaPtr Primitive(Kind kind, std::string logical_type) {
  Schema schema;
  schema.kind = kind;
  schema.logical_type = std::move(logical_type);
  return Seal(std::move(schema));
}

SchemaPtr Optional(SchemaPtr branch) {
  Schema schema;
  schema.kind = Kind::kUnion;
  schema.branches = {Primitive(Kind::kNull), std::move(branch)};
  return Seal(std::move(schema));
}

SchemaPtr Record(std::string name, std::vector<Field> fields) {
  Schema schema;
  schema.kind = Kind::kRecord;
  schema.name = std::move(name);
  schema.fields = std::move(fields);
  return Seal(std::move(schema));
}

SchemaPtr Array(SchemaPtr element, std::optional<int> element_id) {
  Schema schema;
  schema.kind = Kind::kArray;
  schema.element = std::move(element);
  schema.element_id = element_id;
  return Seal(std::move(schema));
}

SchemaPtr Fixed(std::string name, size_t size_bytes, std::string logical_type) {
  Schema schema;
  schema.kind = Kind::kFixed;
  schema.name = std::move(name);
  schema.size_bytes = size_bytes;
  schema.logical_type = std::move(logical_type);
  return Seal(std::move(schema));
}

}  // namespace calve::avro
