// Writes table metadata as JSON (its grammar is in table_metadata_reader.cc), members in the order that other writers
// use. Version 1 also gets the deprecated "schema" and "partition-spec", for readers that know nothing else, and has no
// sequence numbers.
#include "calve/base/status.h"
#include "calve/iceberg/json_members.h"
#include "calve/iceberg/table_metadata.h"

namespace calve::iceberg {
namespace {

using Json = nlohmann::ordered_json;

Json Ordered(const nlohmann::json& json) { return Json(json); }

template <typename T>
void PutIfSet(const std::optional<T>& value, const char* name, Json* object) {
  if (value) (*object)[name] = *value;
}

void PutUnknown(const std::shared_ptr<const nlohmann::json>& unknown, Json* object) {
  if (unknown == nullptr) return;
  for (const auto& [key, value] : unknown->items()) (*object)[key] = Ordered(value);
}

template <typename T, typename Write>
Json ListToJson(const std::vector<T>& list, const Write& write) {
  Json array = Json::array();
  for (const T& element : list) array.push_back(write(element));
  return array;
}

Json SnapshotToJson(const Snapshot& snapshot, int format_version) {
  Json object = Json::object();
  if (format_version > 1) object["sequence-number"] = snapshot.sequence_number;
  object["snapshot-id"] = snapshot.snapshot_id;
  PutIfSet(snapshot.parent_snapshot_id, "parent-snapshot-id", &object);
  object["timestamp-ms"] = snapshot.timestamp_ms;
  if (!snapshot.summary.empty()) object["summary"] = snapshot.summary;
  if (snapshot.manifest_list.empty()) {
    object["manifests"] = snapshot.manifests;
  } else {
    object["manifest-list"] = snapshot.manifest_list;
  }
  PutIfSet(snapshot.schema_id, "schema-id", &object);
  PutIfSet(snapshot.first_row_id, "first-row-id", &object);
  PutIfSet(snapshot.added_rows, "added-rows", &object);
  PutUnknown(snapshot.unknown, &object);
  return object;
}

Json RefToJson(const SnapshotRef& ref) {
  Json object = {{"snapshot-id", ref.snapshot_id}, {"type", ref.is_branch ? "branch" : "tag"}};
  PutIfSet(ref.min_snapshots_to_keep, "min-snapshots-to-keep", &object);
  PutIfSet(ref.max_snapshot_age_ms, "max-snapshot-age-ms", &object);
  PutIfSet(ref.max_ref_age_ms, "max-ref-age-ms", &object);
  PutUnknown(ref.unknown, &object);
  return object;
}

Json SortFieldToJson(const SortField& field) {
  Json object = Json::object();
  object["transform"] = field.transform.text;
  const bool has_sources = field.unknown != nullptr && field.unknown->contains("source-ids");
  if (!has_sources) object["source-id"] = field.source_id;
  object["direction"] = field.ascending ? "asc" : "desc";
  object["null-order"] = field.nulls_first ? "nulls-first" : "nulls-last";
  PutUnknown(field.unknown, &object);
  return object;
}

Json SortOrderToJson(const SortOrder& order) {
  return {{"order-id", order.order_id}, {"fields", ListToJson(order.fields, SortFieldToJson)}};
}

Json SnapshotLogToJson(const LogEntry& entry) {
  return {{"timestamp-ms", entry.timestamp_ms}, {"snapshot-id", entry.snapshot_id}};
}

Json MetadataLogToJson(const LogEntry& entry) {
  return {{"timestamp-ms", entry.timestamp_ms}, {"metadata-file", entry.metadata_file}};
}

Json CurrentSnapshotId(const TableMetadata& metadata) {
  if (metadata.current_snapshot_id) return *metadata.current_snapshot_id;
  // Readers of versions 1 and 2 know -1 as "none".
  return metadata.format_version >= 3 ? Json(nullptr) : Json(-1);
}

void PutLayout(const TableMetadata& metadata, Json* root) {
  Json& object = *root;
  if (metadata.format_version == 1) object["schema"] = Ordered(ToJson(metadata.schema()));
  object["current-schema-id"] = metadata.current_schema_id;
  object["schemas"] = ListToJson(metadata.schemas, [](const Schema& schema) { return Ordered(ToJson(schema)); });
  if (metadata.format_version == 1) object["partition-spec"] = Ordered(ToJson(metadata.spec())["fields"]);
  object["default-spec-id"] = metadata.default_spec_id;
  object["partition-specs"] =
      ListToJson(metadata.partition_specs, [](const PartitionSpec& spec) { return Ordered(ToJson(spec)); });
  object["last-partition-id"] = metadata.last_partition_id;
  object["default-sort-order-id"] = metadata.default_sort_order_id;
  object["sort-orders"] = ListToJson(metadata.sort_orders, SortOrderToJson);
}

void PutHistory(const TableMetadata& metadata, Json* root) {
  Json& object = *root;
  object["current-snapshot-id"] = CurrentSnapshotId(metadata);
  if (metadata.format_version >= 3) object["next-row-id"] = metadata.next_row_id;
  Json refs = Json::object();
  for (const auto& [name, ref] : metadata.refs) refs[name] = RefToJson(ref);
  object["refs"] = std::move(refs);
  object["snapshots"] = ListToJson(
      metadata.snapshots, [&](const Snapshot& snapshot) { return SnapshotToJson(snapshot, metadata.format_version); });
  object["snapshot-log"] = ListToJson(metadata.snapshot_log, SnapshotLogToJson);
  object["metadata-log"] = ListToJson(metadata.metadata_log, MetadataLogToJson);
}

}  // namespace

Result<std::string> ToJsonText(const TableMetadata& metadata) {
  Json object = Json::object();
  object["format-version"] = metadata.format_version;
  if (!metadata.table_uuid.empty()) object["table-uuid"] = metadata.table_uuid;
  object["location"] = metadata.location;
  if (metadata.format_version > 1) object["last-sequence-number"] = metadata.last_sequence_number;
  object["last-updated-ms"] = metadata.last_updated_ms;
  object["last-column-id"] = metadata.last_column_id;
  PutLayout(metadata, &object);
  object["properties"] = metadata.properties;
  PutHistory(metadata, &object);
  PutUnknown(metadata.unknown, &object);
  return WithContext(DumpJson(object), "metadata");
}

}  // namespace calve::iceberg
