#include "calve/cli/table_summary.h"

#include "calve/cli/iso_text.h"
#include "calve/cli/json_text.h"
#include "calve/cli/quantity_text.h"

#include <arrow/type.h>
#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

// The library has checked the metadata; what it does not need may still be of any shape.
const Json& Member(const Json& object, const char* name) {
  static const Json kNone = nullptr;
  if (!object.is_object()) return kNone;
  const auto found = object.find(name);
  return found == object.end() ? kNone : *found;
}

std::string Text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

Json Find(const Json& list, const char* id_name, const Json& id) {
  for (const Json& entry : list) {
    if (Member(entry, id_name) == id) return entry;
  }
  return nullptr;
}

Json CountIn(const Json& snapshot, const char* name) {
  const Json& count = Member(Member(snapshot, "summary"), name);
  return count.is_string() ? Json(std::strtoll(count.get<std::string>().c_str(), nullptr, 10)) : Json(nullptr);
}

std::string FieldName(const Json& schema_fields, const Json& id) {
  const Json field = Find(schema_fields, "id", id);
  return field.is_null() ? fmt::format("#{}", id.dump()) : Text(Member(field, "name"));
}

// ---- Partition and sort fields, such as "bucket[16](id)".

Json SpecFields(const Json& metadata) {
  const Json spec = Find(Member(metadata, "partition-specs"), "spec-id", Member(metadata, "default-spec-id"));
  return spec.is_null() ? Member(metadata, "partition-spec") : Member(spec, "fields");
}

std::string TransformText(const Json& field, const Json& schema_fields) {
  const std::string transform = Text(Member(field, "transform"));
  const std::string name = FieldName(schema_fields, Member(field, "source-id"));
  return transform == "identity" ? name : fmt::format("{}({})", transform, name);
}

Json PartitionTexts(const Json& metadata, const Json& schema_fields) {
  Json texts = Json::array();
  for (const Json& field : SpecFields(metadata)) texts.push_back(TransformText(field, schema_fields));
  return texts;
}

Json SortTexts(const Json& metadata, const Json& schema_fields) {
  Json texts = Json::array();
  const Json order = Find(Member(metadata, "sort-orders"), "order-id", Member(metadata, "default-sort-order-id"));
  for (const Json& field : Member(order, "fields")) {
    texts.push_back(fmt::format("{} {} {}", TransformText(field, schema_fields), Text(Member(field, "direction")),
                                Text(Member(field, "null-order"))));
  }
  return texts;
}

// ---- Schema as a tree.

void AppendField(const Json& field, const std::string& name, const char* id_name, const char* required_name,
                 const char* type_name, int depth, std::string* out);

std::string ShortType(const Json& type) { return type.is_object() ? Text(Member(type, "type")) : Text(type); }

void AppendChildren(const Json& type, int depth, std::string* out) {
  const std::string kind = ShortType(type);
  if (!type.is_object()) return;
  if (kind == "struct") {
    for (const Json& child : Member(type, "fields")) {
      AppendField(child, Text(Member(child, "name")), "id", "required", "type", depth, out);
    }
  } else if (kind == "list") {
    AppendField(type, "element", "element-id", "element-required", "element", depth, out);
  } else if (kind == "map") {
    AppendField(type, "key", "key-id", "", "key", depth, out);
    AppendField(type, "value", "value-id", "value-required", "value", depth, out);
  }
}

void AppendField(const Json& field, const std::string& name, const char* id_name, const char* required_name,
                 const char* type_name, int depth, std::string* out) {
  const Json& type = Member(field, type_name);
  const Json& required = Member(field, required_name);
  const bool is_required = std::string_view(id_name) == "key-id" || required == Json(true);
  std::string line = fmt::format("{:{}}{}: {}: {}{}", "", depth * 2 + 2, Member(field, id_name).dump(), OneLine(name),
                                 ShortType(type), is_required ? " required" : "");
  const Json& doc = Member(field, "doc");
  if (doc.is_string() && depth >= 0 && std::string_view(id_name) == "id") line += "  -- " + OneLine(Text(doc));
  out->append(line).push_back('\n');
  AppendChildren(type, depth + 1, out);
}

void AppendLine(std::string_view name, const std::string& value, std::string* out) {
  fmt::format_to(std::back_inserter(*out), "{:<18}  {}\n", name, value);
}

std::string Joined(const Json& texts, std::string_view otherwise) {
  std::string joined;
  for (const Json& text : texts) joined += (joined.empty() ? "" : ", ") + OneLine(Text(text));
  return joined.empty() ? std::string(otherwise) : joined;
}

std::string InstantText(const Json& millis) {
  if (!millis.is_number_integer()) return "";
  std::string text;
  AppendTimestamp(millis.get<int64_t>(), arrow::TimeUnit::MILLI, true, &text);
  return text;
}

void AppendSnapshotLines(const Json& summary, std::string* out) {
  const Json& id = Member(summary, "current_snapshot_id");
  if (id.is_null()) {
    AppendLine("current snapshot", "none", out);
    return;
  }
  AppendLine(
      "current snapshot",
      fmt::format("{}  {}  {}", id.dump(), Text(Member(summary, "operation")), Text(Member(summary, "committed_at"))),
      out);
  const Json& rows = Member(summary, "rows");
  const Json& files = Member(summary, "data_files");
  const Json& bytes = Member(summary, "bytes");
  std::string content;
  if (rows.is_number()) content += Counted(rows.get<int64_t>(), "row");
  if (files.is_number()) content += fmt::format(" in {}", Counted(files.get<int64_t>(), "data file"));
  if (bytes.is_number()) content += fmt::format(", {}", SizeText(bytes.get<int64_t>()));
  const Json& deletes = Member(summary, "delete_files");
  if (deletes.is_number() && deletes.get<int64_t>() > 0) {
    content += fmt::format(", {}", Counted(deletes.get<int64_t>(), "delete file"));
  }
  if (!content.empty()) AppendLine("content", content, out);
}

Json Summarize(const Table& table, const Json& metadata, const Json& schema) {
  const Json id = table.current_snapshot_id() ? Json(*table.current_snapshot_id()) : Json(nullptr);
  const Json snapshot = Find(Member(metadata, "snapshots"), "snapshot-id", id);
  const Json& fields = Member(schema, "fields");
  Json summary;
  summary["name"] = table.name();
  summary["location"] = Member(metadata, "location");
  summary["metadata_location"] = table.metadata_location();
  summary["table_uuid"] = Member(metadata, "table-uuid");
  summary["format_version"] = table.format_version();
  summary["current_snapshot_id"] = id;
  summary["committed_at"] = snapshot.is_null() ? Json(nullptr) : Json(InstantText(Member(snapshot, "timestamp-ms")));
  summary["operation"] = Member(Member(snapshot, "summary"), "operation");
  summary["rows"] = CountIn(snapshot, "total-records");
  summary["data_files"] = CountIn(snapshot, "total-data-files");
  summary["delete_files"] = CountIn(snapshot, "total-delete-files");
  summary["bytes"] = CountIn(snapshot, "total-files-size");
  summary["snapshots"] = Member(metadata, "snapshots").size();
  summary["refs"] = Member(metadata, "refs").is_object() ? Member(metadata, "refs") : Json(Json::object());
  summary["partition_by"] = PartitionTexts(metadata, fields);
  summary["sort_by"] = SortTexts(metadata, fields);
  summary["properties"] = table.properties();
  summary["schema"] = schema;
  return summary;
}

}  // namespace

Result<Json> ParsedMetadata(const Table& table) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, table.MetadataJson());
  Json metadata = Json::parse(text, nullptr, false);
  if (metadata.is_discarded())
    return Status::Invalid(fmt::format("{}: metadata is not JSON", table.metadata_location()));
  return metadata;
}

Result<Json> CurrentSchema(const Json& metadata) {
  Json schema = Find(Member(metadata, "schemas"), "schema-id", Member(metadata, "current-schema-id"));
  if (schema.is_null()) schema = Member(metadata, "schema");
  if (!schema.is_object()) return Status::Invalid("the metadata has no current schema");
  return schema;
}

std::string SchemaText(const Json& schema) {
  std::string text;
  for (const Json& field : Member(schema, "fields")) {
    AppendField(field, Text(Member(field, "name")), "id", "required", "type", 0, &text);
  }
  return text;
}

Result<Json> SummaryOf(const Table& table) {
  ARROW_ASSIGN_OR_RAISE(const Json metadata, ParsedMetadata(table));
  ARROW_ASSIGN_OR_RAISE(const Json schema, CurrentSchema(metadata));
  return Summarize(table, metadata, schema);
}

std::string SummaryText(const Json& summary) {
  std::string text;
  AppendLine("table", OneLine(Text(Member(summary, "name"))), &text);
  AppendLine("location", OneLine(Text(Member(summary, "location"))), &text);
  AppendLine("metadata", OneLine(Text(Member(summary, "metadata_location"))), &text);
  AppendLine("format version", Member(summary, "format_version").dump(), &text);
  AppendSnapshotLines(summary, &text);
  AppendLine("snapshots", Member(summary, "snapshots").dump(), &text);
  Json refs = Json::array();
  for (const auto& [name, ref] : Member(summary, "refs").items()) {
    refs.push_back(fmt::format("{} ({} at {})", name, Text(Member(ref, "type")), Member(ref, "snapshot-id").dump()));
  }
  AppendLine("refs", Joined(refs, "none"), &text);
  AppendLine("partitioned by", Joined(Member(summary, "partition_by"), "nothing"), &text);
  AppendLine("sorted by", Joined(Member(summary, "sort_by"), "nothing"), &text);
  for (const auto& [key, value] : Member(summary, "properties").items()) {
    AppendLine("property", fmt::format("{} = {}", OneLine(key), OneLine(Text(value))), &text);
  }
  text += "schema\n" + SchemaText(Member(summary, "schema"));
  return text;
}

}  // namespace calve::cli
