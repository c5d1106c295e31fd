// Schema JSON:
//
//   schema  = "name" | union | {"type": "name", attribute...}
//   union   = [schema...]
//   "record": name, namespace?, fields = [{name, type, doc?, default?, field-id?}...]
//   "fixed":  name, namespace?, size      "enum": name, namespace?, symbols
//   "array":  items, element-id?          "map":  values, key-id?, value-id?
//   every object may have logicalType, precision, scale, adjust-to-utc
#include "calve/avro/schema.h"
#include "calve/base/status.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace calve::avro {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kDeepestNesting = 64;
constexpr size_t kMostValuesInRecord = 1 << 16;
constexpr int64_t kLargestFixed = int64_t{1} << 30;

constexpr Kind kPrimitives[] = {Kind::kNull,  Kind::kBoolean, Kind::kInt,   Kind::kLong,
                                Kind::kFloat, Kind::kDouble,  Kind::kBytes, Kind::kString};

std::optional<Kind> PrimitiveKind(std::string_view name) {
  for (Kind kind : kPrimitives) {
    if (ToString(kind) == name) return kind;
  }
  return std::nullopt;
}

std::string FullName(const std::string& name, const std::string& name_space) {
  return name.find('.') != std::string::npos || name_space.empty() ? name : name_space + "." + name;
}

std::string NamespaceOf(const std::string& full_name) {
  auto dot = full_name.rfind('.');
  return dot == std::string::npos ? "" : full_name.substr(0, dot);
}

Result<std::string> RequiredText(const json& object, const char* key) {
  auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return Invalid("Avro schema: '{}' is missing or no string", key);
  return found->get<std::string>();
}

Result<std::optional<int>> OptionalInt(const json& object, const char* key) {
  auto found = object.find(key);
  if (found == object.end()) return std::optional<int>();
  if (!found->is_number_integer() || *found < INT32_MIN || *found > INT32_MAX) {
    return Invalid("Avro schema: '{}' is no int", key);
  }
  return std::optional<int>(found->get<int>());
}

std::string OptionalText(const json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

class SchemaParser {
 public:
  Result<SchemaPtr> Parse(const json& node, const std::string& name_space, int depth) {
    if (depth > kDeepestNesting) return Invalid("Avro schema: nested deeper than {} levels", kDeepestNesting);
    Result<SchemaPtr> schema = ParseNode(node, name_space, depth);
    if (schema.ok() && (*schema)->values_count() > kMostValuesInRecord) {
      return Invalid("Avro schema: a record of more than {} values", kMostValuesInRecord);
    }
    return schema;
  }

 private:
  Result<SchemaPtr> ParseNode(const json& node, const std::string& name_space, int depth) {
    if (node.is_string()) return ParseName(node.get<std::string>(), name_space);
    if (node.is_array()) return ParseUnion(node, name_space, depth);
    if (!node.is_object()) return Invalid("Avro schema: neither a name, a union nor an object");
    auto type = node.find("type");
    if (type == node.end()) return Invalid("Avro schema: 'type' is missing");
    // {"type": {...}} is another spelling of the inner schema.
    if (!type->is_string()) return Parse(*type, name_space, depth + 1);
    return ParseObject(node, type->get<std::string>(), name_space, depth);
  }

  Result<SchemaPtr> ParseName(const std::string& name, const std::string& name_space) {
    if (auto kind = PrimitiveKind(name)) return Primitive(*kind);
    for (const auto& full_name : {FullName(name, name_space), name}) {
      auto found = named_.find(full_name);
      if (found == named_.end()) continue;
      if (found->second == nullptr) return NotImplemented("Avro type '{}' that contains itself", full_name);
      return found->second;
    }
    return Invalid("Avro schema: unknown type '{}'", name);
  }

  Result<SchemaPtr> ParseUnion(const json& node, const std::string& name_space, int depth) {
    Schema schema;
    schema.kind = Kind::kUnion;
    for (const auto& item : node) {
      ARROW_ASSIGN_OR_RAISE(auto branch, Parse(item, name_space, depth + 1));
      if (branch->kind == Kind::kUnion) return Invalid("Avro schema: a union directly inside a union");
      schema.branches.push_back(std::move(branch));
    }
    if (schema.branches.empty()) return Invalid("Avro schema: a union without branches");
    return Seal(std::move(schema));
  }

  Result<SchemaPtr> ParseObject(const json& node, const std::string& type, const std::string& name_space, int depth) {
    Schema schema;
    ARROW_RETURN_NOT_OK(ParseAttributes(node, &schema));
    if (auto kind = PrimitiveKind(type)) {
      schema.kind = *kind;
      return Seal(std::move(schema));
    }
    if (type == "array") return ParseArray(node, std::move(schema), name_space, depth);
    if (type == "map") return ParseMap(node, std::move(schema), name_space, depth);
    if (type == "record" || type == "error" || type == "fixed" || type == "enum") {
      return ParseNamed(node, type, std::move(schema), name_space, depth);
    }
    return ParseName(type, name_space);
  }

  static Status ParseAttributes(const json& node, Schema* schema) {
    schema->logical_type = OptionalText(node, "logicalType");
    if (auto utc = node.find("adjust-to-utc"); utc != node.end() && utc->is_boolean()) schema->adjust_to_utc = *utc;
    if (schema->logical_type == "decimal") {
      ARROW_ASSIGN_OR_RAISE(auto precision, OptionalInt(node, "precision"));
      ARROW_ASSIGN_OR_RAISE(auto scale, OptionalInt(node, "scale"));
      schema->precision = precision.value_or(0);
      schema->scale = scale.value_or(0);
    }
    return Status::OK();
  }

  Result<SchemaPtr> ParseElement(const json& node, const char* key, const std::string& name_space, int depth) {
    auto element = node.find(key);
    if (element == node.end()) return Invalid("Avro schema: '{}' is missing", key);
    return Parse(*element, name_space, depth + 1);
  }

  Result<SchemaPtr> ParseArray(const json& node, Schema schema, const std::string& name_space, int depth) {
    schema.kind = Kind::kArray;
    ARROW_ASSIGN_OR_RAISE(schema.element, ParseElement(node, "items", name_space, depth));
    ARROW_ASSIGN_OR_RAISE(schema.element_id, OptionalInt(node, "element-id"));
    return Seal(std::move(schema));
  }

  Result<SchemaPtr> ParseMap(const json& node, Schema schema, const std::string& name_space, int depth) {
    schema.kind = Kind::kMap;
    ARROW_ASSIGN_OR_RAISE(schema.element, ParseElement(node, "values", name_space, depth));
    ARROW_ASSIGN_OR_RAISE(schema.key_id, OptionalInt(node, "key-id"));
    ARROW_ASSIGN_OR_RAISE(schema.value_id, OptionalInt(node, "value-id"));
    return Seal(std::move(schema));
  }

  Result<SchemaPtr> ParseNamed(const json& node, const std::string& type, Schema schema, const std::string& name_space,
                               int depth) {
    ARROW_ASSIGN_OR_RAISE(auto name, RequiredText(node, "name"));
    auto own_space = node.contains("namespace") ? OptionalText(node, "namespace") : name_space;
    schema.name = FullName(name, own_space);
    if (named_.contains(schema.name)) return Invalid("Avro schema: '{}' is defined twice", schema.name);
    named_[schema.name] = nullptr;  // open: a use before the end is a type that contains itself
    if (type == "fixed") {
      ARROW_RETURN_NOT_OK(ParseFixed(node, &schema));
    } else if (type == "enum") {
      ARROW_RETURN_NOT_OK(ParseEnum(node, &schema));
    } else {
      ARROW_RETURN_NOT_OK(ParseRecord(node, &schema, depth));
    }
    auto key = schema.name;
    return named_[key] = Seal(std::move(schema));
  }

  static Status ParseFixed(const json& node, Schema* schema) {
    schema->kind = Kind::kFixed;
    auto size = node.find("size");
    if (size == node.end() || !size->is_number_integer() || *size < 0 || *size > kLargestFixed) {
      return Invalid("Avro schema: fixed '{}' has no valid size", schema->name);
    }
    schema->size_bytes = size->get<size_t>();
    return Status::OK();
  }

  static Status ParseEnum(const json& node, Schema* schema) {
    schema->kind = Kind::kEnum;
    auto symbols = node.find("symbols");
    if (symbols == node.end() || !symbols->is_array()) {
      return Invalid("Avro schema: enum '{}' has no symbols", schema->name);
    }
    for (const auto& symbol : *symbols) {
      if (!symbol.is_string()) return Invalid("Avro schema: enum '{}' has a symbol that is no string", schema->name);
      schema->symbols.push_back(symbol.get<std::string>());
    }
    return Status::OK();
  }

  Status ParseRecord(const json& node, Schema* schema, int depth) {
    schema->kind = Kind::kRecord;
    auto fields = node.find("fields");
    if (fields == node.end() || !fields->is_array()) {
      return Invalid("Avro schema: record '{}' has no fields", schema->name);
    }
    std::set<std::string> names;
    for (const auto& item : *fields) {
      ARROW_ASSIGN_OR_RAISE(auto field, ParseField(item, NamespaceOf(schema->name), depth));
      if (!names.insert(field.name).second) {
        return Invalid("Avro schema: record '{}' has two fields '{}'", schema->name, field.name);
      }
      schema->fields.push_back(std::move(field));
    }
    return Status::OK();
  }

  Result<Field> ParseField(const json& node, const std::string& name_space, int depth) {
    if (!node.is_object()) return Invalid("Avro schema: a record field that is no object");
    Field field;
    ARROW_ASSIGN_OR_RAISE(field.name, RequiredText(node, "name"));
    auto type = node.find("type");
    if (type == node.end()) return Invalid("Avro schema: field '{}' has no type", field.name);
    ARROW_ASSIGN_OR_RAISE(field.type, Parse(*type, name_space, depth + 1));
    ARROW_ASSIGN_OR_RAISE(field.id, OptionalInt(node, "field-id"));
    field.doc = OptionalText(node, "doc");
    field.iceberg_name = OptionalText(node, "iceberg-field-name");
    return field;
  }

  std::map<std::string, SchemaPtr> named_;
};

class SchemaPrinter {
 public:
  ordered_json Print(const Schema& schema) {
    if (schema.kind == Kind::kUnion) return PrintUnion(schema);
    if (!schema.name.empty() && !printed_.insert(schema.name).second) return schema.name;
    ordered_json node{{"type", ToString(schema.kind)}};
    switch (schema.kind) {
      case Kind::kRecord:
        PrintRecord(schema, &node);
        break;
      case Kind::kFixed:
        PrintName(schema, &node);
        node["size"] = schema.size_bytes;
        break;
      case Kind::kEnum:
        PrintName(schema, &node);
        node["symbols"] = schema.symbols;
        break;
      case Kind::kArray:
        node["items"] = Print(*schema.element);
        break;
      case Kind::kMap:
        node["values"] = Print(*schema.element);
        break;
      default:
        break;
    }
    PrintAttributes(schema, &node);
    if (node.size() == 1) return node["type"];
    return node;
  }

 private:
  ordered_json PrintUnion(const Schema& schema) {
    auto branches = ordered_json::array();
    for (const auto& branch : schema.branches) branches.push_back(Print(*branch));
    return branches;
  }

  void PrintName(const Schema& schema, ordered_json* node) const {
    (*node)["name"] = schema.name;
    // Otherwise the name would be taken to lie in the namespace around it.
    if (!namespace_.empty() && NamespaceOf(schema.name).empty()) (*node)["namespace"] = "";
  }

  void PrintRecord(const Schema& schema, ordered_json* node) {
    PrintName(schema, node);
    auto around = std::exchange(namespace_, NamespaceOf(schema.name));
    auto fields = ordered_json::array();
    for (const auto& field : schema.fields) {
      ordered_json item{{"name", field.name}, {"type", Print(*field.type)}};
      if (!field.doc.empty()) item["doc"] = field.doc;
      bool null_first = field.type->kind == Kind::kUnion && field.type->branches[0]->kind == Kind::kNull;
      if (null_first) item["default"] = nullptr;
      if (field.id) item["field-id"] = *field.id;
      if (!field.iceberg_name.empty()) item["iceberg-field-name"] = field.iceberg_name;
      fields.push_back(std::move(item));
    }
    (*node)["fields"] = std::move(fields);
    namespace_ = std::move(around);
  }

  static void PrintAttributes(const Schema& schema, ordered_json* node) {
    if (!schema.logical_type.empty()) (*node)["logicalType"] = schema.logical_type;
    if (schema.logical_type == "decimal") {
      (*node)["precision"] = schema.precision;
      (*node)["scale"] = schema.scale;
    }
    if (schema.adjust_to_utc) (*node)["adjust-to-utc"] = *schema.adjust_to_utc;
    if (schema.element_id) (*node)["element-id"] = *schema.element_id;
    if (schema.key_id) (*node)["key-id"] = *schema.key_id;
    if (schema.value_id) (*node)["value-id"] = *schema.value_id;
  }

  std::set<std::string> printed_;
  std::string namespace_;  ///< of the record around
};

}  // namespace

Result<SchemaPtr> ParseSchema(std::string_view text) {
  auto node = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (node.is_discarded()) return Invalid("Avro schema: malformed JSON");
  return SchemaParser().Parse(node, "", 0);
}

std::string ToJsonText(const Schema& schema) { return SchemaPrinter().Print(schema).dump(); }

}  // namespace calve::avro
