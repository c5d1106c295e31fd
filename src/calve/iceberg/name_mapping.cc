// Name mappings as JSON: mapping = [ { "field-id": int, "names": [string...], "fields": mapping }... ]
#include "calve/iceberg/json_members.h"
#include "calve/iceberg/schema.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

namespace calve::iceberg {
namespace {

using nlohmann::json;
using Entries = std::vector<NameMapping::Entry>;

constexpr char kFieldIdKey[] = "PARQUET:field_id";

Result<Entries> EntriesFromJson(const json& array) {
  if (!array.is_array()) return Invalid("expected an array of field mappings, got {}", Describe(array));
  Entries entries;
  for (const json& object : array) {
    NameMapping::Entry entry;
    ARROW_ASSIGN_OR_RAISE(entry.field_id, OptionalInt(object, "field-id"));
    ARROW_ASSIGN_OR_RAISE(const json* names, ArrayMember(object, "names"));
    for (const json& name : *names) {
      if (!name.is_string()) return Invalid("member 'names': expected a string, got {}", Describe(name));
      entry.names.push_back(name.get<std::string>());
    }
    ARROW_ASSIGN_OR_RAISE(const json* fields, OptionalArray(object, "fields"));
    if (fields != nullptr) {
      ARROW_ASSIGN_OR_RAISE(entry.fields, EntriesFromJson(*fields));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

json EntriesToJson(const Entries& entries) {
  json array = json::array();
  for (const auto& entry : entries) {
    json object = json::object();
    object["names"] = entry.names;
    if (entry.field_id) object["field-id"] = *entry.field_id;
    if (!entry.fields.empty()) object["fields"] = EntriesToJson(entry.fields);
    array.push_back(std::move(object));
  }
  return array;
}

Entries EntriesOf(const std::vector<Field>& fields) {
  Entries entries;
  for (const Field& field : fields) {
    NameMapping::Entry entry;
    entry.field_id = field.id;
    entry.names = {field.name};
    entry.fields = EntriesOf(field.type->fields);
    entries.push_back(std::move(entry));
  }
  return entries;
}

const NameMapping::Entry* Find(const Entries& entries, const std::string& name) {
  for (const auto& entry : entries) {
    if (std::find(entry.names.begin(), entry.names.end(), name) != entry.names.end()) return &entry;
  }
  return nullptr;
}

std::shared_ptr<arrow::Field> WithMapping(const arrow::Field& field, const std::string& name, const Entries& entries);

arrow::FieldVector FieldsWithMapping(const arrow::FieldVector& fields, const Entries& entries) {
  arrow::FieldVector result;
  for (const auto& field : fields) result.push_back(WithMapping(*field, field->name(), entries));
  return result;
}

std::shared_ptr<arrow::DataType> TypeWithMapping(const std::shared_ptr<arrow::DataType>& type, const Entries& entries) {
  switch (type->id()) {
    case arrow::Type::STRUCT:
      return arrow::struct_(FieldsWithMapping(type->fields(), entries));
    case arrow::Type::LIST:
      return arrow::list(WithMapping(*type->field(0), "element", entries));
    case arrow::Type::LARGE_LIST:
      return arrow::large_list(WithMapping(*type->field(0), "element", entries));
    case arrow::Type::FIXED_SIZE_LIST:
      return arrow::fixed_size_list(WithMapping(*type->field(0), "element", entries),
                                    static_cast<const arrow::FixedSizeListType&>(*type).list_size());
    case arrow::Type::MAP: {
      const auto& map = static_cast<const arrow::MapType&>(*type);
      return std::make_shared<arrow::MapType>(WithMapping(*map.key_field(), "key", entries),
                                              WithMapping(*map.item_field(), "value", entries), map.keys_sorted());
    }
    default:
      return type;
  }
}

std::shared_ptr<arrow::Field> WithMapping(const arrow::Field& field, const std::string& name, const Entries& entries) {
  static const Entries kNone;
  const NameMapping::Entry* entry = Find(entries, name);
  auto metadata = field.metadata() != nullptr ? field.metadata()->Copy() : arrow::key_value_metadata({}, {});
  if (entry != nullptr && entry->field_id) {
    ARROW_UNUSED(metadata->Set(kFieldIdKey, std::to_string(*entry->field_id)));
  } else if (metadata->Contains(kFieldIdKey)) {
    ARROW_UNUSED(metadata->Delete(kFieldIdKey));
  }
  return field.WithType(TypeWithMapping(field.type(), entry != nullptr ? entry->fields : kNone))
      ->WithMetadata(metadata->size() > 0 ? metadata : nullptr);
}

}  // namespace

Result<NameMapping> NameMappingFromJson(std::string_view text) {
  NameMapping mapping;
  auto parse = [&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(json array, ParseJson(text));
    return EntriesFromJson(array).Value(&mapping.entries);
  };
  ARROW_RETURN_NOT_OK(WithContext(parse(), "name mapping"));
  return mapping;
}

NameMapping MappingOf(const Schema& schema) { return {EntriesOf(schema.fields)}; }

std::string ToJsonText(const NameMapping& mapping) {
  return EntriesToJson(mapping.entries).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::shared_ptr<arrow::Schema> ApplyNameMapping(const NameMapping& mapping, const arrow::Schema& file_schema) {
  return arrow::schema(FieldsWithMapping(file_schema.fields(), mapping.entries), file_schema.metadata());
}

}  // namespace calve::iceberg
