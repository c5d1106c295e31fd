#include "calve/iceberg/table_metadata.h"

#include "calve/base/status.h"
#include "calve/iceberg/commit.h"

#include <charconv>
#include <chrono>
#include <unordered_map>

namespace calve::iceberg {
namespace {

constexpr int kFirstPartitionFieldId = 1000;

template <typename T, typename Id>
const T* FindIn(const std::vector<T>& list, Id id, Id T::* member) {
  for (const T& element : list) {
    if (element.*member == id) return &element;
  }
  return nullptr;
}

bool EqualsIgnoringCase(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char l, char r) { return (l >= 'A' && l <= 'Z' ? l - 'A' + 'a' : l) == r; });
}

// Gives the fields of a schema new ids: those of a level first, then what is inside each.
class FreshIds {
 public:
  std::vector<Field> Assign(std::vector<Field> fields) {
    for (Field& field : fields) {
      new_ids_[field.id] = ++last_id_;
      field.id = last_id_;
    }
    for (Field& field : fields) {
      if (!field.type->is_nested()) continue;
      auto type = std::make_shared<Type>(*field.type);
      type->fields = Assign(std::move(type->fields));
      field.type = std::move(type);
    }
    return fields;
  }

  Result<int> NewIdOf(int old_id) const {
    auto found = new_ids_.find(old_id);
    if (found == new_ids_.end()) return Invalid("the schema has no field with id {}", old_id);
    return found->second;
  }

  int last_id() const { return last_id_; }

 private:
  std::unordered_map<int, int> new_ids_;
  int last_id_ = 0;
};

bool NeedsV3(const Type& type) {
  switch (type.id) {
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
    case TypeId::kUnknown:
    case TypeId::kVariant:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return true;
    default:
      return false;
  }
}

Status CheckTypes(const std::vector<Field>& fields, int format_version, const std::string& prefix) {
  for (const Field& field : fields) {
    const std::string path = prefix.empty() ? field.name : prefix + "." + field.name;
    if (format_version < 3 && NeedsV3(*field.type)) {
      return Invalid("column '{}': type {} needs format version 3, the table has {}", path, field.type->ToString(),
                     format_version);
    }
    ARROW_RETURN_NOT_OK(CheckTypes(field.type->fields, format_version, path));
  }
  return Status::OK();
}

Result<PartitionSpec> FreshSpec(const PartitionSpec& spec, const FreshIds& ids, const Schema& schema) {
  PartitionSpec fresh;
  for (PartitionField field : spec.fields) {
    ARROW_ASSIGN_OR_RAISE(field.source_id,
                          WithContext(ids.NewIdOf(field.source_id), fmt::format("partition field '{}'", field.name)));
    ARROW_RETURN_NOT_OK(WithContext(ResultType(field.transform, *schema.FindById(field.source_id)->type).status(),
                                    fmt::format("partition field '{}'", field.name)));
    field.field_id = kFirstPartitionFieldId + static_cast<int>(fresh.fields.size());
    fresh.fields.push_back(std::move(field));
  }
  return fresh;
}

int64_t NowMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

std::string Snapshot::operation() const {
  auto found = summary.find("operation");
  return found != summary.end() ? found->second : "";
}

const Schema& TableMetadata::schema() const {
  static const Schema kNone;
  const Schema* found = FindSchema(current_schema_id);
  return found != nullptr ? *found : kNone;
}

const PartitionSpec& TableMetadata::spec() const {
  static const PartitionSpec kUnpartitioned;
  const PartitionSpec* found = FindSpec(default_spec_id);
  return found != nullptr ? *found : kUnpartitioned;
}

const Schema* TableMetadata::FindSchema(int id) const { return FindIn(schemas, id, &Schema::schema_id); }

const PartitionSpec* TableMetadata::FindSpec(int id) const {
  return FindIn(partition_specs, id, &PartitionSpec::spec_id);
}

const Snapshot* TableMetadata::FindSnapshot(int64_t id) const { return FindIn(snapshots, id, &Snapshot::snapshot_id); }

const Snapshot* TableMetadata::current_snapshot() const {
  return current_snapshot_id ? FindSnapshot(*current_snapshot_id) : nullptr;
}

std::string TableMetadata::Property(const std::string& key, const std::string& otherwise) const {
  auto found = properties.find(key);
  return found != properties.end() ? found->second : otherwise;
}

Result<int64_t> TableMetadata::IntProperty(const std::string& key, int64_t otherwise) const {
  auto found = properties.find(key);
  if (found == properties.end()) return otherwise;
  const std::string& text = found->second;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Invalid("table property '{}': expected an integer, got '{}'", key, text);
  }
  return value;
}

Result<bool> TableMetadata::BoolProperty(const std::string& key, bool otherwise) const {
  auto found = properties.find(key);
  if (found == properties.end()) return otherwise;
  if (EqualsIgnoringCase(found->second, "true")) return true;
  if (EqualsIgnoringCase(found->second, "false")) return false;
  return Invalid("table property '{}': expected true or false, got '{}'", key, found->second);
}

Result<TableMetadata> NewTableMetadata(const std::string& location, const Schema& schema, const PartitionSpec& spec,
                                       int format_version, std::map<std::string, std::string> properties) {
  if (format_version < 1 || format_version > 3) {
    return Invalid("format version {} out of range (1 to 3)", format_version);
  }
  TableMetadata metadata;
  FreshIds ids;
  Schema fresh;
  fresh.fields = ids.Assign(schema.fields);
  ARROW_RETURN_NOT_OK(CheckTypes(fresh.fields, format_version, ""));
  for (int id : schema.identifier_field_ids) {
    ARROW_ASSIGN_OR_RAISE(int new_id, ids.NewIdOf(id));
    fresh.identifier_field_ids.push_back(new_id);
  }
  ARROW_ASSIGN_OR_RAISE(PartitionSpec fresh_spec, FreshSpec(spec, ids, fresh));
  metadata.format_version = format_version;
  metadata.table_uuid = NewUuid();
  metadata.location = location;
  while (metadata.location.size() > 1 && metadata.location.back() == '/') metadata.location.pop_back();
  metadata.last_updated_ms = NowMs();
  metadata.last_column_id = ids.last_id();
  metadata.last_partition_id = kFirstPartitionFieldId - 1 + static_cast<int>(fresh_spec.fields.size());
  metadata.schemas = {std::move(fresh)};
  metadata.partition_specs = {std::move(fresh_spec)};
  metadata.sort_orders = {SortOrder{}};
  metadata.properties = std::move(properties);
  return metadata;
}

}  // namespace calve::iceberg
