// A manifest list is an Avro file of `manifest_file` records ("Manifest Lists"); columns are found by field id.
#include "calve/avro/reader.h"
#include "calve/base/status.h"
#include "calve/iceberg/avro_record.h"
#include "calve/iceberg/manifest.h"
#include "calve/iceberg/manifest_schema.h"
#include "calve/io/file_io.h"

#include <charconv>

namespace calve::iceberg {
namespace {

Result<FieldSummary> SummaryFrom(const avro::Schema& schema, const avro::Value& value) {
  ARROW_ASSIGN_OR_RAISE(auto record, AvroRecord::Make(schema, value));
  FieldSummary summary;
  ARROW_ASSIGN_OR_RAISE(summary.contains_null, record.Bool(columns::kContainsNull));
  ARROW_ASSIGN_OR_RAISE(summary.contains_nan, record.OptionalBool(columns::kContainsNan));
  ARROW_ASSIGN_OR_RAISE(summary.lower_bound, record.OptionalText(columns::kSummaryLowerBound));
  ARROW_ASSIGN_OR_RAISE(summary.upper_bound, record.OptionalText(columns::kSummaryUpperBound));
  return summary;
}

Result<std::vector<FieldSummary>> SummariesFrom(const AvroRecord& record) {
  std::vector<FieldSummary> summaries;
  const auto* value = record.ValueOf(columns::kPartitions);
  if (value == nullptr || value->is_null()) return summaries;
  const auto* schema = record.FieldOf(columns::kPartitions)->type.get();
  if (schema->optional_branch() != nullptr) schema = schema->optional_branch();
  const auto* items = value->As<avro::Value::List>();
  if (schema->kind != avro::Kind::kArray || items == nullptr) return Invalid("column 'partitions' is no list");
  for (const auto& item : *items) {
    ARROW_ASSIGN_OR_RAISE(auto summary, SummaryFrom(*schema->element, item));
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

Status ReadCounts(const AvroRecord& record, ManifestFile* manifest) {
  const std::pair<Column, std::optional<int64_t>*> counts[] = {
      {columns::kAddedFiles, &manifest->added_files_count},
      {columns::kExistingFiles, &manifest->existing_files_count},
      {columns::kDeletedFiles, &manifest->deleted_files_count},
      {columns::kAddedRows, &manifest->added_rows_count},
      {columns::kExistingRows, &manifest->existing_rows_count},
      {columns::kDeletedRows, &manifest->deleted_rows_count},
  };
  for (const auto& [column, count] : counts) {
    ARROW_ASSIGN_OR_RAISE(*count, record.OptionalLong(column));
    if (*count && **count < 0) return Invalid("column '{}': a count of {}", column.name, **count);
  }
  return Status::OK();
}

Result<ManifestFile> ManifestFileFrom(const AvroRecord& record) {
  ManifestFile manifest;
  ARROW_ASSIGN_OR_RAISE(manifest.manifest_path, record.Text(columns::kManifestPath));
  ARROW_ASSIGN_OR_RAISE(manifest.manifest_length, record.Long(columns::kManifestLength));
  ARROW_ASSIGN_OR_RAISE(manifest.partition_spec_id, record.Int(columns::kPartitionSpecId));
  ARROW_ASSIGN_OR_RAISE(auto content, record.OptionalInt(columns::kManifestContent));
  if (content.value_or(0) != 0 && *content != 1) return Invalid("manifest content {} (expected 0 or 1)", *content);
  manifest.is_deletes = content == 1;
  ARROW_ASSIGN_OR_RAISE(auto sequence_number, record.OptionalLong(columns::kManifestSequenceNumber));
  ARROW_ASSIGN_OR_RAISE(auto min_sequence_number, record.OptionalLong(columns::kMinSequenceNumber));
  manifest.sequence_number = sequence_number.value_or(0);
  manifest.min_sequence_number = min_sequence_number.value_or(0);
  ARROW_ASSIGN_OR_RAISE(auto added_snapshot_id, record.OptionalLong(columns::kAddedSnapshotId));
  manifest.added_snapshot_id = added_snapshot_id.value_or(0);
  ARROW_RETURN_NOT_OK(ReadCounts(record, &manifest));
  ARROW_ASSIGN_OR_RAISE(manifest.partitions, SummariesFrom(record));
  ARROW_ASSIGN_OR_RAISE(auto key_metadata, record.OptionalText(columns::kManifestKeyMetadata));
  manifest.key_metadata = key_metadata.value_or("");
  ARROW_ASSIGN_OR_RAISE(manifest.first_row_id, record.OptionalLong(columns::kManifestFirstRowId));
  return manifest;
}

Result<std::vector<ManifestFile>> ParseManifestList(std::string_view bytes) {
  ARROW_ASSIGN_OR_RAISE(auto reader, avro::FileReader::Make(bytes));
  std::vector<ManifestFile> manifests;
  while (true) {
    avro::Value value;
    ARROW_ASSIGN_OR_RAISE(bool more, reader->Next(&value));
    if (!more) return manifests;
    ARROW_ASSIGN_OR_RAISE(auto record, AvroRecord::Make(reader->schema(), value));
    auto manifest = ManifestFileFrom(record);
    if (!manifest.ok()) return WithContext(manifest.status(), fmt::format("entry {}", manifests.size()));
    manifests.push_back(std::move(*manifest));
  }
}

std::optional<int64_t> TotalOf(const Snapshot& snapshot, const char* key) {
  auto found = snapshot.summary.find(key);
  if (found == snapshot.summary.end()) return std::nullopt;
  int64_t total = 0;
  const auto& text = found->second;
  auto parsed = std::from_chars(text.data(), text.data() + text.size(), total);
  return parsed.ec == std::errc() ? std::optional<int64_t>(total) : std::nullopt;
}

/// A list that is cut between Avro blocks is a valid shorter one; the snapshot's summary tells how many files it must
/// name.
Status CheckTotal(const Snapshot& snapshot, const std::vector<ManifestFile>& manifests, bool deletes) {
  auto total = TotalOf(snapshot, deletes ? "total-delete-files" : "total-data-files");
  if (!total) return Status::OK();
  int64_t named = 0;
  for (const auto& manifest : manifests) {
    if (manifest.is_deletes != deletes) continue;
    if (!manifest.added_files_count || !manifest.existing_files_count) return Status::OK();
    named += *manifest.added_files_count + *manifest.existing_files_count;
  }
  if (named >= *total) return Status::OK();
  return Invalid("it leads to {} {} files, the summary of snapshot {} says {} (is it cut short?)", named,
                 deletes ? "delete" : "data", snapshot.snapshot_id, *total);
}

/// An inline manifest of format v1: what a list would say of it is taken from storage and from its header.
Result<ManifestFile> WrapInline(const FileIO& io, const Snapshot& snapshot, const std::string& location) {
  ManifestFile manifest;
  manifest.manifest_path = location;
  manifest.added_snapshot_id = snapshot.snapshot_id;
  ARROW_ASSIGN_OR_RAISE(auto bytes, io.ReadAll(location));
  manifest.manifest_length = static_cast<int64_t>(bytes.size());
  auto reader = avro::FileReader::Make(bytes);
  if (!reader.ok()) return WithContext(reader.status(), fmt::format("manifest {}", location));
  auto spec_id = (*reader)->Metadata("partition-spec-id").value_or("0");
  auto parsed = std::from_chars(spec_id.data(), spec_id.data() + spec_id.size(), manifest.partition_spec_id);
  if (parsed.ec != std::errc()) return Invalid("manifest {}: partition-spec-id '{}' is no number", location, spec_id);
  return manifest;
}

}  // namespace

bool ManifestFile::might_have_live_files() const {
  return added_files_count.value_or(1) > 0 || existing_files_count.value_or(1) > 0;
}

Result<std::vector<ManifestFile>> ReadManifestList(const FileIO& io, const std::string& location) {
  ARROW_ASSIGN_OR_RAISE(auto bytes, io.ReadAll(location));
  return WithContext(ParseManifestList(bytes), fmt::format("manifest list {}", location));
}

Result<std::vector<ManifestFile>> ManifestsOf(const FileIO& io, const TableMetadata& metadata,
                                              const Snapshot& snapshot) {
  if (!snapshot.manifest_list.empty()) {
    ARROW_ASSIGN_OR_RAISE(auto manifests, ReadManifestList(io, snapshot.manifest_list));
    auto status = CheckTotal(snapshot, manifests, false) & CheckTotal(snapshot, manifests, true);
    if (!status.ok()) return WithContext(status, fmt::format("manifest list {}", snapshot.manifest_list));
    return manifests;
  }
  std::vector<ManifestFile> manifests;
  for (const auto& location : snapshot.manifests) {
    ARROW_ASSIGN_OR_RAISE(auto manifest, WrapInline(io, snapshot, location));
    manifests.push_back(std::move(manifest));
  }
  return manifests;
}

}  // namespace calve::iceberg
