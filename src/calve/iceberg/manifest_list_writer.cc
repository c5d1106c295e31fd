// Writes what manifest_list_reader.cc reads, with the columns, metadata and order that Iceberg Java uses.
#include "calve/avro/writer.h"
#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/iceberg/avro_schema.h"
#include "calve/iceberg/manifest.h"
#include "calve/iceberg/manifest_schema.h"
#include "calve/io/file_io.h"

#include <nlohmann/json.hpp>

#include <array>

namespace calve::iceberg {
namespace {

using avro::Value;
using List = avro::Value::List;

template <typename T>
Value OrNull(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}

/// Lists of format v1 may leave counts out; later versions, and row ids, need them.
Status FillCounts(const FileIO& io, const TableMetadata& metadata, ManifestFile* manifest) {
  bool told = manifest->added_files_count && manifest->existing_files_count && manifest->deleted_files_count &&
              manifest->added_rows_count && manifest->existing_rows_count && manifest->deleted_rows_count;
  if (told || metadata.format_version < 2) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto entries, ReadManifest(io, metadata, *manifest));
  std::array<int64_t, 3> files{}, rows{};
  for (const auto& entry : entries) {
    ++files[static_cast<size_t>(entry.status)];
    rows[static_cast<size_t>(entry.status)] += entry.file.record_count;
  }
  constexpr auto kExisting = static_cast<size_t>(EntryStatus::kExisting);
  constexpr auto kAdded = static_cast<size_t>(EntryStatus::kAdded);
  constexpr auto kDeleted = static_cast<size_t>(EntryStatus::kDeleted);
  manifest->added_files_count = files[kAdded], manifest->added_rows_count = rows[kAdded];
  manifest->existing_files_count = files[kExisting], manifest->existing_rows_count = rows[kExisting];
  manifest->deleted_files_count = files[kDeleted], manifest->deleted_rows_count = rows[kDeleted];
  return Status::OK();
}

/// Gives row ids to the data manifests that have none ("First Row ID Assignment"). Returns the next row id.
Result<int64_t> AssignRowIds(int64_t next_row_id, std::vector<ManifestFile>* manifests) {
  for (auto& manifest : *manifests) {
    if (manifest.is_deletes || manifest.first_row_id) continue;
    manifest.first_row_id = next_row_id;
    auto rows = CheckedAdd(*manifest.added_rows_count, *manifest.existing_rows_count);
    auto next = rows ? CheckedAdd(next_row_id, *rows) : std::nullopt;
    if (!next) return Invalid("row ids overflow at manifest {}", manifest.manifest_path);
    next_row_id = *next;
  }
  return next_row_id;
}

Value Summaries(const TableMetadata& metadata, const ManifestFile& manifest) {
  const auto* spec = metadata.FindSpec(manifest.partition_spec_id);
  bool untold = manifest.partitions.empty() && (spec == nullptr || !spec->fields.empty());
  if (untold) return {};
  List items;
  for (const auto& summary : manifest.partitions) {
    items.push_back(List{summary.contains_null, OrNull(summary.contains_nan), OrNull(summary.lower_bound),
                         OrNull(summary.upper_bound)});
  }
  return items;
}

Result<Value> ManifestColumn(int id, const TableMetadata& metadata, const ManifestFile& manifest) {
  switch (id) {
    case columns::kManifestPath.id:
      return Value(manifest.manifest_path);
    case columns::kManifestLength.id:
      return Value(manifest.manifest_length);
    case columns::kPartitionSpecId.id:
      return Value(manifest.partition_spec_id);
    case columns::kManifestContent.id:
      return Value(manifest.is_deletes ? 1 : 0);
    case columns::kManifestSequenceNumber.id:
      return Value(manifest.sequence_number);
    case columns::kMinSequenceNumber.id:
      return Value(manifest.min_sequence_number);
    case columns::kAddedSnapshotId.id:
      return Value(manifest.added_snapshot_id);
    case columns::kAddedFiles.id:
      return OrNull(manifest.added_files_count);
    case columns::kExistingFiles.id:
      return OrNull(manifest.existing_files_count);
    case columns::kDeletedFiles.id:
      return OrNull(manifest.deleted_files_count);
    case columns::kAddedRows.id:
      return OrNull(manifest.added_rows_count);
    case columns::kExistingRows.id:
      return OrNull(manifest.existing_rows_count);
    case columns::kDeletedRows.id:
      return OrNull(manifest.deleted_rows_count);
    case columns::kPartitions.id:
      return Summaries(metadata, manifest);
    case columns::kManifestKeyMetadata.id:
      return manifest.key_metadata.empty() ? Value() : Value(manifest.key_metadata);
    case columns::kManifestFirstRowId.id:
      return OrNull(manifest.first_row_id);
    default:
      return Invalid("manifest_file has no column {}", id);
  }
}

std::vector<std::pair<std::string, std::string>> FileMetadata(const TableMetadata& metadata, const Snapshot& snapshot,
                                                              const std::vector<Field>& fields, int64_t first_row_id) {
  const auto& parent = snapshot.parent_snapshot_id;
  std::vector<std::pair<std::string, std::string>> result{
      {"snapshot-id", std::to_string(snapshot.snapshot_id)},
      {"parent-snapshot-id", parent ? std::to_string(*parent) : "null"},
      {"format-version", std::to_string(metadata.format_version)},
      {"iceberg.schema", ToJson(Schema{0, fields, {}}).dump()},
  };
  if (metadata.format_version >= 2) result.emplace_back("sequence-number", std::to_string(snapshot.sequence_number));
  if (metadata.format_version >= 3) result.emplace_back("first-row-id", std::to_string(first_row_id));
  return result;
}

Result<int64_t> Write(const FileIO& io, const TableMetadata& metadata, const Snapshot& snapshot, int64_t next_row_id,
                      std::vector<ManifestFile>* manifests) {
  int64_t first_row_id = next_row_id;
  for (auto& manifest : *manifests) {
    if (manifest.is_deletes && metadata.format_version < 2) return Invalid("tables of format v1 have no delete files");
    ARROW_RETURN_NOT_OK(FillCounts(io, metadata, &manifest));
  }
  if (metadata.format_version >= 3) {
    ARROW_ASSIGN_OR_RAISE(next_row_id, AssignRowIds(next_row_id, manifests));
  }
  auto fields = ManifestFileFields(metadata.format_version);
  ARROW_ASSIGN_OR_RAISE(auto schema, ToAvroRecord("manifest_file", fields));
  ARROW_ASSIGN_OR_RAISE(auto codec, AvroCodecOf(metadata.Property("write.avro.compression-codec", "gzip")));
  ARROW_ASSIGN_OR_RAISE(auto writer,
                        avro::FileWriter::Make(schema, FileMetadata(metadata, snapshot, fields, first_row_id), codec));
  for (const auto& manifest : *manifests) {
    List record;
    for (const auto& field : fields) {
      ARROW_ASSIGN_OR_RAISE(auto value, ManifestColumn(field.id, metadata, manifest));
      record.push_back(std::move(value));
    }
    ARROW_RETURN_NOT_OK(writer->Append(record));
  }
  ARROW_ASSIGN_OR_RAISE(auto bytes, writer->Finish());
  ARROW_RETURN_NOT_OK(io.CreateNew(snapshot.manifest_list, bytes));
  return next_row_id;
}

}  // namespace

Result<int64_t> WriteManifestList(const FileIO& io, const TableMetadata& metadata, const Snapshot& snapshot,
                                  int64_t next_row_id, std::vector<ManifestFile>* manifests) {
  return WithContext(Write(io, metadata, snapshot, next_row_id, manifests),
                     fmt::format("manifest list {}", snapshot.manifest_list));
}

}  // namespace calve::iceberg
