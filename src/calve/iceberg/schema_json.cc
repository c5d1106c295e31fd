// Schemas as JSON (Appendix C):
//
//   schema = { "type": "struct", "schema-id": int, "identifier-field-ids": [int...], "fields": [field...] }
//   field  = { "id": int, "name": string, "required": bool, "type": type, "doc": string,
//              "initial-default": value, "write-default": value }
//   type   = string                                                                      primitives, variant
//          | { "type": "struct", "fields": [field...] }
//          | { "type": "list", "element-id": int, "element-required": bool, "element": type }
//          | { "type": "map", "key-id": int, "key": type, "value-id": int, "value-required": bool, "value": type }
#include "calve/iceberg/json_members.h"
#include "calve/iceberg/schema.h"

#include <set>
#include <unordered_map>

namespace calve::iceberg {
namespace {

using nlohmann::json;

Result<TypePtr> TypeFromJson(const json& value);

Result<TypePtr> TypeMember(const json& object, const char* name) {
  ARROW_ASSIGN_OR_RAISE(const json* member, Member(object, name));
  return TypeFromJson(*member);
}

std::shared_ptr<const json> DefaultMember(const json& object, const char* name) {
  const json* member = FindMember(object, name);
  return member != nullptr ? std::make_shared<const json>(*member) : nullptr;
}

Result<Field> FieldFromJson(const json& object) {
  Field field;
  ARROW_ASSIGN_OR_RAISE(field.name, StringMember(object, "name"));
  auto rest = [&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(field.id, IntMember(object, "id"));
    if (field.id < 0) return Invalid("member 'id': {} is negative", field.id);
    ARROW_ASSIGN_OR_RAISE(field.required, BoolMember(object, "required"));
    ARROW_ASSIGN_OR_RAISE(auto doc, OptionalString(object, "doc"));
    field.doc = doc.value_or("");
    field.initial_default = DefaultMember(object, "initial-default");
    field.write_default = DefaultMember(object, "write-default");
    ARROW_ASSIGN_OR_RAISE(field.type, TypeMember(object, "type"));
    return Status::OK();
  };
  ARROW_RETURN_NOT_OK(WithContext(rest(), fmt::format("field '{}'", field.name)));
  return field;
}

Result<std::vector<Field>> FieldsFromJson(const json& object) {
  ARROW_ASSIGN_OR_RAISE(const json* members, ArrayMember(object, "fields"));
  std::vector<Field> fields;
  std::set<std::string_view> names;
  fields.reserve(members->size());
  for (const json& member : *members) {
    ARROW_ASSIGN_OR_RAISE(Field field, FieldFromJson(member));
    fields.push_back(std::move(field));
    if (!names.insert(fields.back().name).second) return Invalid("two fields are named '{}'", fields.back().name);
  }
  return fields;
}

Result<Field> PartFromJson(const json& object, const char* name) {
  const std::string prefix = name;
  Field field;
  field.name = name;
  ARROW_ASSIGN_OR_RAISE(field.id, IntMember(object, (prefix + "-id").c_str()));
  if (prefix == "key") {
    field.required = true;
  } else {
    ARROW_ASSIGN_OR_RAISE(field.required, BoolMember(object, (prefix + "-required").c_str()));
  }
  ARROW_ASSIGN_OR_RAISE(field.type, WithContext(TypeMember(object, name), prefix));
  return field;
}

Result<TypePtr> TypeFromJson(const json& value) {
  if (value.is_string()) return ParsePrimitive(value.get_ref<const std::string&>());
  if (!value.is_object()) return Invalid("member 'type': expected a string or an object, got {}", Describe(value));
  ARROW_ASSIGN_OR_RAISE(std::string kind, StringMember(value, "type"));
  if (kind == "struct") {
    ARROW_ASSIGN_OR_RAISE(auto fields, FieldsFromJson(value));
    return Struct(std::move(fields));
  }
  if (kind == "list") {
    ARROW_ASSIGN_OR_RAISE(Field element, PartFromJson(value, "element"));
    return List(std::move(element));
  }
  if (kind == "map") {
    ARROW_ASSIGN_OR_RAISE(Field key, PartFromJson(value, "key"));
    ARROW_ASSIGN_OR_RAISE(Field item, PartFromJson(value, "value"));
    return Map(std::move(key), std::move(item));
  }
  return NotImplemented("type '{}' is not known", kind);
}

Status CheckUniqueIds(const std::vector<Field>& fields, const std::string& prefix,
                      std::unordered_map<int, std::string>* names) {
  for (const Field& field : fields) {
    const std::string name = prefix.empty() ? field.name : prefix + "." + field.name;
    auto [found, added] = names->emplace(field.id, name);
    if (!added) return Invalid("field id {} is used twice, by '{}' and '{}'", field.id, found->second, name);
    ARROW_RETURN_NOT_OK(CheckUniqueIds(field.type->fields, name, names));
  }
  return Status::OK();
}

json FieldToJson(const Field& field) {
  json object = {{"id", field.id}, {"name", field.name}, {"required", field.required}, {"type", ToJson(*field.type)}};
  if (!field.doc.empty()) object["doc"] = field.doc;
  if (field.initial_default != nullptr) object["initial-default"] = *field.initial_default;
  if (field.write_default != nullptr) object["write-default"] = *field.write_default;
  return object;
}

json FieldsToJson(const std::vector<Field>& fields) {
  json array = json::array();
  for (const Field& field : fields) array.push_back(FieldToJson(field));
  return array;
}

}  // namespace

Result<Schema> SchemaFromJson(const json& value) {
  Schema schema;
  ARROW_RETURN_NOT_OK(ExpectObject(value));
  ARROW_ASSIGN_OR_RAISE(auto kind, OptionalString(value, "type"));
  if (kind.value_or("struct") != "struct") return Invalid("member 'type': expected \"struct\", got \"{}\"", *kind);
  ARROW_ASSIGN_OR_RAISE(auto id, OptionalInt(value, "schema-id"));
  schema.schema_id = id.value_or(0);
  ARROW_ASSIGN_OR_RAISE(schema.identifier_field_ids, OptionalInts(value, "identifier-field-ids"));
  ARROW_ASSIGN_OR_RAISE(schema.fields, FieldsFromJson(value));
  std::unordered_map<int, std::string> names;
  ARROW_RETURN_NOT_OK(CheckUniqueIds(schema.fields, "", &names));
  return schema;
}

json ToJson(const Schema& schema) {
  json object = {{"type", "struct"}, {"schema-id", schema.schema_id}, {"fields", FieldsToJson(schema.fields)}};
  if (!schema.identifier_field_ids.empty()) object["identifier-field-ids"] = schema.identifier_field_ids;
  return object;
}

json ToJson(const Type& type) {
  switch (type.id) {
    case TypeId::kStruct:
      return {{"type", "struct"}, {"fields", FieldsToJson(type.fields)}};
    case TypeId::kList: {
      const Field& element = type.fields[0];
      return {{"type", "list"},
              {"element-id", element.id},
              {"element-required", element.required},
              {"element", ToJson(*element.type)}};
    }
    case TypeId::kMap: {
      const Field& key = type.fields[0];
      const Field& value = type.fields[1];
      return {{"type", "map"},
              {"key-id", key.id},
              {"key", ToJson(*key.type)},
              {"value-id", value.id},
              {"value-required", value.required},
              {"value", ToJson(*value.type)}};
    }
    default:
      return type.ToString();
  }
}

}  // namespace calve::iceberg
