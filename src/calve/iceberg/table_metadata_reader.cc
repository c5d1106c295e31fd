// Table metadata as JSON ("Table Metadata", Appendix C), gzipped or not:
//
//   { "format-version": 1 to 3, "table-uuid": string, "location": string, "last-sequence-number": long,
//     "last-updated-ms": long, "last-column-id": int, "current-schema-id": int, "schemas": [schema...],
//     "default-spec-id": int, "partition-specs": [spec...], "last-partition-id": int,
//     "default-sort-order-id": int, "sort-orders": [order...], "properties": { string: string... },
//     "current-snapshot-id": long, "refs": { name: ref... }, "snapshots": [snapshot...],
//     "snapshot-log": [{ "timestamp-ms", "snapshot-id" }...], "metadata-log": [{ "timestamp-ms", "metadata-file" }...],
//     "next-row-id": long }
//
// In version 1 there may be "schema" (one schema) for "schemas" and "partition-spec" (an array of fields, perhaps
// without ids) for "partition-specs", and no UUID, sort orders or last partition id. "current-snapshot-id" -1 means
// none.
#include "calve/compress/codec.h"
#include "calve/iceberg/json_members.h"
#include "calve/iceberg/table_metadata.h"

#include <algorithm>
#include <set>

namespace calve::iceberg {
namespace {

using nlohmann::json;

constexpr int kMaxFormatVersion = 3;
constexpr int kFirstPartitionFieldId = 1000;
constexpr int64_t kNoSnapshot = -1;
// Deflate cannot shrink more than this, so nothing honest is refused below the upper limit.
constexpr size_t kMaxDeflateRatio = 1032;
constexpr size_t kMaxMetadataBytes = size_t{1} << 30;

using Members = std::set<std::string_view>;

const Members kMetadataMembers = {"format-version",
                                  "table-uuid",
                                  "location",
                                  "last-sequence-number",
                                  "last-updated-ms",
                                  "last-column-id",
                                  "schema",
                                  "schemas",
                                  "current-schema-id",
                                  "partition-spec",
                                  "partition-specs",
                                  "default-spec-id",
                                  "last-partition-id",
                                  "properties",
                                  "current-snapshot-id",
                                  "snapshots",
                                  "snapshot-log",
                                  "metadata-log",
                                  "sort-orders",
                                  "default-sort-order-id",
                                  "refs",
                                  "next-row-id"};
const Members kSnapshotMembers = {"snapshot-id",   "parent-snapshot-id", "sequence-number", "timestamp-ms",
                                  "manifest-list", "manifests",          "summary",         "schema-id",
                                  "first-row-id",  "added-rows"};
const Members kRefMembers = {"snapshot-id", "type", "min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms"};
const Members kSortFieldMembers = {"source-id", "transform", "direction", "null-order"};

// The members of `object` that are not in `known`; null when there are none.
std::shared_ptr<const json> UnknownMembers(const json& object, const Members& known) {
  json rest = json::object();
  for (const auto& [key, value] : object.items()) {
    if (known.count(key) == 0) rest[key] = value;
  }
  return rest.empty() ? nullptr : std::make_shared<const json>(std::move(rest));
}

// Parses every element of the array `name` (absent: none) with `parse`; errors name the element by `what` and its
// index.
template <typename T, typename Parse>
Result<std::vector<T>> ListMember(const json& object, const char* name, const Parse& parse) {
  std::vector<T> list;
  ARROW_ASSIGN_OR_RAISE(const json* array, OptionalArray(object, name));
  if (array == nullptr) return list;
  list.reserve(array->size());
  for (const json& element : *array) {
    auto parsed = parse(element);
    if (!parsed.ok()) return WithContext(parsed.status(), fmt::format("{}[{}]", name, list.size()));
    list.push_back(std::move(parsed).ValueUnsafe());
  }
  return list;
}

template <typename T, typename Id>
Status CheckUnique(const std::vector<T>& list, Id T::* member, const char* name, const char* id_name) {
  std::set<Id> seen;
  for (const T& element : list) {
    if (!seen.insert(element.*member).second) return Invalid("{}: {} {} stands twice", name, id_name, element.*member);
  }
  return Status::OK();
}

Result<std::string> Decompressed(std::string_view bytes) {
  const size_t limit = std::min(kMaxMetadataBytes, bytes.size() * kMaxDeflateRatio);
  return DecompressAll(Codec::kGzip, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, limit);
}

Result<Snapshot> SnapshotFromJson(const json& object) {
  Snapshot snapshot;
  ARROW_ASSIGN_OR_RAISE(snapshot.snapshot_id, LongMember(object, "snapshot-id"));
  ARROW_ASSIGN_OR_RAISE(snapshot.parent_snapshot_id, OptionalLong(object, "parent-snapshot-id"));
  if (snapshot.parent_snapshot_id == kNoSnapshot) snapshot.parent_snapshot_id.reset();
  ARROW_ASSIGN_OR_RAISE(auto sequence_number, OptionalLong(object, "sequence-number"));
  snapshot.sequence_number = sequence_number.value_or(0);
  if (snapshot.sequence_number < 0) return Invalid("member 'sequence-number': {} is negative", *sequence_number);
  ARROW_ASSIGN_OR_RAISE(snapshot.timestamp_ms, LongMember(object, "timestamp-ms"));
  ARROW_ASSIGN_OR_RAISE(snapshot.summary, OptionalStringMap(object, "summary"));
  ARROW_ASSIGN_OR_RAISE(snapshot.schema_id, OptionalInt(object, "schema-id"));
  ARROW_ASSIGN_OR_RAISE(snapshot.first_row_id, OptionalLong(object, "first-row-id"));
  ARROW_ASSIGN_OR_RAISE(snapshot.added_rows, OptionalLong(object, "added-rows"));
  snapshot.unknown = UnknownMembers(object, kSnapshotMembers);
  ARROW_ASSIGN_OR_RAISE(const json* inline_manifests, OptionalArray(object, "manifests"));
  if (inline_manifests == nullptr || FindMember(object, "manifest-list") != nullptr) {
    ARROW_ASSIGN_OR_RAISE(snapshot.manifest_list, StringMember(object, "manifest-list"));
    if (snapshot.manifest_list.empty()) return Invalid("member 'manifest-list' is empty");
    return snapshot;
  }
  for (const json& location : *inline_manifests) {
    if (!location.is_string()) return Invalid("member 'manifests': expected strings, got {}", Describe(location));
    snapshot.manifests.push_back(location.get<std::string>());
  }
  return snapshot;
}

Result<SnapshotRef> RefFromJson(const json& object) {
  SnapshotRef ref;
  ARROW_ASSIGN_OR_RAISE(ref.snapshot_id, LongMember(object, "snapshot-id"));
  ARROW_ASSIGN_OR_RAISE(std::string type, StringMember(object, "type"));
  if (type != "branch" && type != "tag")
    return Invalid("member 'type': expected \"branch\" or \"tag\", got \"{}\"", type);
  ref.is_branch = type == "branch";
  ARROW_ASSIGN_OR_RAISE(ref.min_snapshots_to_keep, OptionalLong(object, "min-snapshots-to-keep"));
  ARROW_ASSIGN_OR_RAISE(ref.max_snapshot_age_ms, OptionalLong(object, "max-snapshot-age-ms"));
  ARROW_ASSIGN_OR_RAISE(ref.max_ref_age_ms, OptionalLong(object, "max-ref-age-ms"));
  ref.unknown = UnknownMembers(object, kRefMembers);
  return ref;
}

Result<SortField> SortFieldFromJson(const json& object) {
  SortField field;
  ARROW_ASSIGN_OR_RAISE(std::string transform, StringMember(object, "transform"));
  ARROW_ASSIGN_OR_RAISE(field.transform, ParseTransform(transform));
  ARROW_ASSIGN_OR_RAISE(auto source_id, OptionalInt(object, "source-id"));
  // A transform of several columns has "source-ids" instead, which is only carried along.
  if (!source_id && FindMember(object, "source-ids") == nullptr) return Invalid("missing member 'source-id'");
  field.source_id = source_id.value_or(0);
  ARROW_ASSIGN_OR_RAISE(std::string direction, StringMember(object, "direction"));
  if (direction != "asc" && direction != "desc") return Invalid("member 'direction': got \"{}\"", direction);
  field.ascending = direction == "asc";
  ARROW_ASSIGN_OR_RAISE(std::string nulls, StringMember(object, "null-order"));
  if (nulls != "nulls-first" && nulls != "nulls-last") return Invalid("member 'null-order': got \"{}\"", nulls);
  field.nulls_first = nulls == "nulls-first";
  field.unknown = UnknownMembers(object, kSortFieldMembers);
  return field;
}

Result<SortOrder> SortOrderFromJson(const json& object) {
  SortOrder order;
  ARROW_ASSIGN_OR_RAISE(order.order_id, IntMember(object, "order-id"));
  ARROW_ASSIGN_OR_RAISE(order.fields, ListMember<SortField>(object, "fields", SortFieldFromJson));
  return order;
}

Result<LogEntry> SnapshotLogFromJson(const json& object) {
  LogEntry entry;
  ARROW_ASSIGN_OR_RAISE(entry.timestamp_ms, LongMember(object, "timestamp-ms"));
  ARROW_ASSIGN_OR_RAISE(entry.snapshot_id, LongMember(object, "snapshot-id"));
  return entry;
}

Result<LogEntry> MetadataLogFromJson(const json& object) {
  LogEntry entry;
  ARROW_ASSIGN_OR_RAISE(entry.timestamp_ms, LongMember(object, "timestamp-ms"));
  ARROW_ASSIGN_OR_RAISE(entry.metadata_file, StringMember(object, "metadata-file"));
  return entry;
}

// Version 1 writers may leave partition field ids out; they are then counted from 1000 in each spec.
Result<PartitionSpec> SpecFromFields(int spec_id, json fields) {
  int next_id = kFirstPartitionFieldId;
  for (json& field : fields) {
    if (field.is_object() && FindMember(field, "field-id") == nullptr) field["field-id"] = next_id;
    ++next_id;
  }
  return PartitionSpecFromJson({{"spec-id", spec_id}, {"fields", std::move(fields)}});
}

class Reader {
 public:
  explicit Reader(const json& root) : root_(root) {}

  Result<TableMetadata> Read() {
    ARROW_RETURN_NOT_OK(ReadBasics());
    ARROW_RETURN_NOT_OK(ReadSchemas());
    ARROW_RETURN_NOT_OK(ReadSpecs());
    ARROW_RETURN_NOT_OK(ReadSortOrders());
    ARROW_RETURN_NOT_OK(ReadSnapshots());
    ARROW_RETURN_NOT_OK(ReadRefs());
    metadata_.unknown = UnknownMembers(root_, kMetadataMembers);
    return std::move(metadata_);
  }

 private:
  // True when version 1 may lack `name` and does.
  bool Lacks(const char* name) const { return metadata_.format_version == 1 && FindMember(root_, name) == nullptr; }

  Status ReadBasics() {
    ARROW_ASSIGN_OR_RAISE(metadata_.format_version, IntMember(root_, "format-version"));
    if (metadata_.format_version > kMaxFormatVersion) {
      return NotImplemented("format version {} is not supported (the newest supported is {})", metadata_.format_version,
                            kMaxFormatVersion);
    }
    if (metadata_.format_version < 1) return Invalid("member 'format-version': got {}", metadata_.format_version);
    if (!Lacks("table-uuid")) {
      ARROW_ASSIGN_OR_RAISE(metadata_.table_uuid, StringMember(root_, "table-uuid"));
    }
    ARROW_ASSIGN_OR_RAISE(metadata_.location, StringMember(root_, "location"));
    if (!Lacks("last-sequence-number")) {
      ARROW_ASSIGN_OR_RAISE(metadata_.last_sequence_number, LongMember(root_, "last-sequence-number"));
    }
    if (metadata_.last_sequence_number < 0) {
      return Invalid("member 'last-sequence-number': {} is negative", metadata_.last_sequence_number);
    }
    ARROW_ASSIGN_OR_RAISE(metadata_.last_updated_ms, LongMember(root_, "last-updated-ms"));
    ARROW_ASSIGN_OR_RAISE(metadata_.last_column_id, IntMember(root_, "last-column-id"));
    ARROW_ASSIGN_OR_RAISE(metadata_.properties, OptionalStringMap(root_, "properties"));
    if (metadata_.format_version < 3) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(metadata_.next_row_id, LongMember(root_, "next-row-id"));
    if (metadata_.next_row_id < 0) return Invalid("member 'next-row-id': {} is negative", metadata_.next_row_id);
    return Status::OK();
  }

  Status ReadSchemas() {
    if (Lacks("schemas")) {
      ARROW_ASSIGN_OR_RAISE(const json* schema, Member(root_, "schema"));
      ARROW_ASSIGN_OR_RAISE(Schema parsed, WithContext(SchemaFromJson(*schema), "schema"));
      metadata_.current_schema_id = parsed.schema_id;
      metadata_.schemas.push_back(std::move(parsed));
      return Status::OK();
    }
    ARROW_RETURN_NOT_OK(ArrayMember(root_, "schemas").status());
    ARROW_ASSIGN_OR_RAISE(metadata_.schemas, ListMember<Schema>(root_, "schemas", SchemaFromJson));
    ARROW_RETURN_NOT_OK(CheckUnique(metadata_.schemas, &Schema::schema_id, "schemas", "schema-id"));
    ARROW_ASSIGN_OR_RAISE(metadata_.current_schema_id, IntMember(root_, "current-schema-id"));
    if (metadata_.FindSchema(metadata_.current_schema_id) != nullptr) return Status::OK();
    return Invalid("current-schema-id {} is not among the schemas", metadata_.current_schema_id);
  }

  Status ReadSpecs() {
    if (Lacks("partition-specs")) {
      ARROW_ASSIGN_OR_RAISE(const json* fields, ArrayMember(root_, "partition-spec"));
      ARROW_ASSIGN_OR_RAISE(PartitionSpec spec, WithContext(SpecFromFields(0, *fields), "partition-spec"));
      metadata_.partition_specs.push_back(std::move(spec));
    } else {
      ARROW_RETURN_NOT_OK(ArrayMember(root_, "partition-specs").status());
      auto parse = [this](const json& spec) { return ReadSpec(spec); };
      ARROW_ASSIGN_OR_RAISE(metadata_.partition_specs, ListMember<PartitionSpec>(root_, "partition-specs", parse));
      ARROW_RETURN_NOT_OK(
          CheckUnique(metadata_.partition_specs, &PartitionSpec::spec_id, "partition-specs", "spec-id"));
      ARROW_ASSIGN_OR_RAISE(metadata_.default_spec_id, IntMember(root_, "default-spec-id"));
      if (metadata_.FindSpec(metadata_.default_spec_id) == nullptr) {
        return Invalid("default-spec-id {} is not among the partition-specs", metadata_.default_spec_id);
      }
    }
    if (!Lacks("last-partition-id")) return IntMember(root_, "last-partition-id").Value(&metadata_.last_partition_id);
    for (const PartitionSpec& spec : metadata_.partition_specs) {
      for (const PartitionField& field : spec.fields) {
        metadata_.last_partition_id = std::max(metadata_.last_partition_id, field.field_id);
      }
    }
    return Status::OK();
  }

  Result<PartitionSpec> ReadSpec(const json& object) const {
    if (metadata_.format_version > 1) return PartitionSpecFromJson(object);
    ARROW_ASSIGN_OR_RAISE(int spec_id, IntMember(object, "spec-id"));
    ARROW_ASSIGN_OR_RAISE(const json* fields, ArrayMember(object, "fields"));
    return SpecFromFields(spec_id, *fields);
  }

  Status ReadSortOrders() {
    if (Lacks("sort-orders")) {
      metadata_.sort_orders.push_back(SortOrder{});
      return Status::OK();
    }
    ARROW_RETURN_NOT_OK(ArrayMember(root_, "sort-orders").status());
    ARROW_ASSIGN_OR_RAISE(metadata_.sort_orders, ListMember<SortOrder>(root_, "sort-orders", SortOrderFromJson));
    ARROW_RETURN_NOT_OK(CheckUnique(metadata_.sort_orders, &SortOrder::order_id, "sort-orders", "order-id"));
    return IntMember(root_, "default-sort-order-id").Value(&metadata_.default_sort_order_id);
  }

  Status ReadSnapshots() {
    ARROW_ASSIGN_OR_RAISE(metadata_.snapshots, ListMember<Snapshot>(root_, "snapshots", SnapshotFromJson));
    ARROW_RETURN_NOT_OK(CheckUnique(metadata_.snapshots, &Snapshot::snapshot_id, "snapshots", "snapshot-id"));
    if (metadata_.format_version >= 2) {
      for (const Snapshot& snapshot : metadata_.snapshots) ARROW_RETURN_NOT_OK(CheckSnapshotOfV2(snapshot));
    }
    ARROW_ASSIGN_OR_RAISE(metadata_.snapshot_log, ListMember<LogEntry>(root_, "snapshot-log", SnapshotLogFromJson));
    ARROW_ASSIGN_OR_RAISE(metadata_.metadata_log, ListMember<LogEntry>(root_, "metadata-log", MetadataLogFromJson));
    ARROW_ASSIGN_OR_RAISE(metadata_.current_snapshot_id, OptionalLong(root_, "current-snapshot-id"));
    if (metadata_.current_snapshot_id == kNoSnapshot) metadata_.current_snapshot_id.reset();
    if (metadata_.current_snapshot_id && metadata_.current_snapshot() == nullptr) {
      return Invalid("current-snapshot-id {} is not among the snapshots", *metadata_.current_snapshot_id);
    }
    return Status::OK();
  }

  /// Only version 1 lists manifests inline: an empty list there is a table without files, later it is a list that is
  /// missing.
  Status CheckSnapshotOfV2(const Snapshot& snapshot) const {
    if (snapshot.manifest_list.empty() && snapshot.manifests.empty()) {
      return Invalid("snapshot {} has no manifest list", snapshot.snapshot_id);
    }
    if (snapshot.sequence_number > metadata_.last_sequence_number) {
      return Invalid("snapshot {} has sequence number {}, but last-sequence-number is {}", snapshot.snapshot_id,
                     snapshot.sequence_number, metadata_.last_sequence_number);
    }
    return Status::OK();
  }

  Status ReadRefs() {
    ARROW_ASSIGN_OR_RAISE(const json* refs, OptionalObject(root_, "refs"));
    if (refs != nullptr) {
      for (const auto& [name, object] : refs->items()) {
        ARROW_ASSIGN_OR_RAISE(metadata_.refs[name], WithContext(RefFromJson(object), fmt::format("ref '{}'", name)));
      }
    }
    auto main = metadata_.refs.find("main");
    if (main == metadata_.refs.end()) {
      if (metadata_.current_snapshot_id) metadata_.refs["main"].snapshot_id = *metadata_.current_snapshot_id;
      return Status::OK();
    }
    if (!main->second.is_branch) return Invalid("ref 'main' is a tag, not a branch");
    if (metadata_.current_snapshot_id == main->second.snapshot_id) return Status::OK();
    return Invalid("ref 'main' is at snapshot {}, but current-snapshot-id is {}", main->second.snapshot_id,
                   metadata_.current_snapshot_id ? std::to_string(*metadata_.current_snapshot_id) : "not set");
  }

  const json& root_;
  TableMetadata metadata_;
};

Result<TableMetadata> Parse(std::string_view bytes) {
  std::string unpacked;
  if (bytes.starts_with("\x1f\x8b")) {
    ARROW_ASSIGN_OR_RAISE(unpacked, Decompressed(bytes));
    bytes = unpacked;
  }
  ARROW_ASSIGN_OR_RAISE(json root, ParseJson(bytes));
  ARROW_RETURN_NOT_OK(ExpectObject(root));
  return Reader(root).Read();
}

}  // namespace

Result<TableMetadata> ParseTableMetadata(std::string_view bytes) { return WithContext(Parse(bytes), "metadata"); }

}  // namespace calve::iceberg
