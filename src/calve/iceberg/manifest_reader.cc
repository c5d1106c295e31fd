// A manifest is an Avro file of `manifest_entry` records ("Manifests"), all of one partition spec; columns are found by
// field id. Numbers that an entry lacks are inherited from what the manifest list says of the manifest.
#include "calve/avro/reader.h"
#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/iceberg/avro_record.h"
#include "calve/iceberg/avro_schema.h"
#include "calve/iceberg/manifest.h"
#include "calve/iceberg/manifest_schema.h"
#include "calve/io/file_io.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace calve::iceberg {
namespace {

std::string UpperCase(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

class ManifestReader {
 public:
  ManifestReader(const ManifestFile& manifest, const PartitionSpec& spec, std::vector<TypePtr> partition_types)
      : manifest_(manifest), spec_(spec), partition_types_(std::move(partition_types)) {}

  Result<std::vector<ManifestEntry>> Read(std::string_view bytes) {
    ARROW_ASSIGN_OR_RAISE(auto reader, avro::FileReader::Make(bytes));
    ARROW_RETURN_NOT_OK(CheckContent(*reader));
    next_row_id_ = manifest_.first_row_id;
    std::vector<ManifestEntry> entries;
    while (true) {
      avro::Value value;
      ARROW_ASSIGN_OR_RAISE(bool more, reader->Next(&value));
      if (!more) break;
      auto entry = EntryFrom(reader->schema(), value);
      if (!entry.ok()) return WithContext(entry.status(), fmt::format("entry {}", entries.size()));
      entries.push_back(std::move(*entry));
    }
    ARROW_RETURN_NOT_OK(CheckCounts(entries, bytes.size()));
    return entries;
  }

 private:
  Status CheckContent(const avro::FileReader& reader) const {
    auto content = reader.Metadata("content").value_or("data");
    auto expected = manifest_.is_deletes ? "deletes" : "data";
    if (content == expected) return Status::OK();
    return Invalid("its content is '{}', the manifest list says '{}'", content, expected);
  }

  Result<ManifestEntry> EntryFrom(const avro::Schema& schema, const avro::Value& value) {
    ARROW_ASSIGN_OR_RAISE(auto record, AvroRecord::Make(schema, value));
    ManifestEntry entry;
    ARROW_ASSIGN_OR_RAISE(int status, record.Int(columns::kStatus));
    if (status < 0 || status > 2) return Invalid("status {} (expected 0, 1 or 2)", status);
    entry.status = static_cast<EntryStatus>(status);
    const auto* file = record.ValueOf(columns::kDataFile);
    if (file == nullptr) return Invalid("column 'data_file' (id 2) is missing");
    ARROW_ASSIGN_OR_RAISE(auto file_record, AvroRecord::Make(*record.FieldOf(columns::kDataFile)->type, *file));
    ARROW_ASSIGN_OR_RAISE(entry.file, DataFileFrom(file_record));
    ARROW_RETURN_NOT_OK(Inherit(record, &entry));
    return entry;
  }

  Result<DataFile> DataFileFrom(const AvroRecord& record) {
    DataFile file;
    ARROW_ASSIGN_OR_RAISE(int content, ContentFrom(record));
    file.content = static_cast<FileContent>(content);
    ARROW_ASSIGN_OR_RAISE(file.file_path, record.Text(columns::kFilePath));
    ARROW_ASSIGN_OR_RAISE(auto format, record.Text(columns::kFileFormat));
    file.file_format = UpperCase(std::move(format));
    file.spec_id = manifest_.partition_spec_id;
    ARROW_RETURN_NOT_OK(ReadPartition(record, &file));
    ARROW_ASSIGN_OR_RAISE(file.record_count, record.Long(columns::kRecordCount));
    ARROW_ASSIGN_OR_RAISE(file.file_size_in_bytes, record.Long(columns::kFileSize));
    if (file.record_count < 0 || file.file_size_in_bytes < 0) {
      return Invalid("file {} has {} records in {} bytes", file.file_path, file.record_count, file.file_size_in_bytes);
    }
    ARROW_RETURN_NOT_OK(ReadMetrics(record, &file));
    ARROW_RETURN_NOT_OK(ReadRest(record, &file));
    return file;
  }

  Result<int> ContentFrom(const AvroRecord& record) const {
    ARROW_ASSIGN_OR_RAISE(auto content, record.OptionalInt(columns::kContent));
    int value = content.value_or(0);
    bool possible = manifest_.is_deletes ? value == 1 || value == 2 : value == 0;
    if (possible) return value;
    return Invalid("a file of content {} in a manifest of {} files", value, manifest_.is_deletes ? "delete" : "data");
  }

  static Status ReadMetrics(const AvroRecord& record, DataFile* file) {
    ARROW_ASSIGN_OR_RAISE(file->column_sizes, record.Map<int64_t>(columns::kColumnSizes));
    ARROW_ASSIGN_OR_RAISE(file->value_counts, record.Map<int64_t>(columns::kValueCounts));
    ARROW_ASSIGN_OR_RAISE(file->null_value_counts, record.Map<int64_t>(columns::kNullValueCounts));
    ARROW_ASSIGN_OR_RAISE(file->nan_value_counts, record.Map<int64_t>(columns::kNanValueCounts));
    ARROW_ASSIGN_OR_RAISE(file->lower_bounds, record.Map<std::string>(columns::kLowerBounds));
    ARROW_ASSIGN_OR_RAISE(file->upper_bounds, record.Map<std::string>(columns::kUpperBounds));
    return Status::OK();
  }

  static Status ReadRest(const AvroRecord& record, DataFile* file) {
    ARROW_ASSIGN_OR_RAISE(auto key_metadata, record.OptionalText(columns::kKeyMetadata));
    file->key_metadata = key_metadata.value_or("");
    ARROW_ASSIGN_OR_RAISE(file->split_offsets, record.List<int64_t>(columns::kSplitOffsets));
    ARROW_ASSIGN_OR_RAISE(file->equality_ids, record.List<int>(columns::kEqualityIds));
    ARROW_ASSIGN_OR_RAISE(file->sort_order_id, record.OptionalInt(columns::kSortOrderId));
    ARROW_ASSIGN_OR_RAISE(file->first_row_id, record.OptionalLong(columns::kFirstRowId));
    ARROW_ASSIGN_OR_RAISE(file->referenced_data_file, record.OptionalText(columns::kReferencedDataFile));
    ARROW_ASSIGN_OR_RAISE(file->content_offset, record.OptionalLong(columns::kContentOffset));
    ARROW_ASSIGN_OR_RAISE(file->content_size_in_bytes, record.OptionalLong(columns::kContentSize));
    return Status::OK();
  }

  Status ReadPartition(const AvroRecord& record, DataFile* file) const {
    const auto* value = record.ValueOf(columns::kPartition);
    if (value == nullptr) return Invalid("column 'partition' (id 102) is missing");
    ARROW_ASSIGN_OR_RAISE(auto tuple, AvroRecord::Make(*record.FieldOf(columns::kPartition)->type, *value));
    for (size_t i = 0; i < spec_.fields.size(); ++i) {
      auto partition_value = PartitionValue(tuple, i);
      if (!partition_value.ok()) {
        return WithContext(partition_value.status(), fmt::format("partition field '{}'", spec_.fields[i].name));
      }
      file->partition.push_back(std::move(*partition_value));
    }
    return Status::OK();
  }

  Result<Value> PartitionValue(const AvroRecord& tuple, size_t index) const {
    const auto& field = spec_.fields[index];
    const Column column{field.field_id, field.name};
    if (!tuple.Has(column)) {
      if (field.transform.kind == TransformKind::kVoid) return Value();
      return Invalid("the manifest has no value for it (id {})", field.field_id);
    }
    return FromAvroValue(*partition_types_[index], *tuple.FieldOf(column)->type, *tuple.ValueOf(column));
  }

  Status Inherit(const AvroRecord& record, ManifestEntry* entry) {
    ARROW_ASSIGN_OR_RAISE(entry->snapshot_id, record.OptionalLong(columns::kSnapshotId));
    if (!entry->snapshot_id) entry->snapshot_id = manifest_.added_snapshot_id;
    ARROW_ASSIGN_OR_RAISE(entry->sequence_number, record.OptionalLong(columns::kSequenceNumber));
    ARROW_ASSIGN_OR_RAISE(entry->file_sequence_number, record.OptionalLong(columns::kFileSequenceNumber));
    // Manifests of format v1 lack these columns, and are of sequence number 0 in every list.
    bool inherits = entry->status == EntryStatus::kAdded || manifest_.sequence_number == 0;
    if (!record.Has(columns::kSequenceNumber)) {
      entry->sequence_number = entry->file_sequence_number = 0;
    } else if (inherits) {
      if (!entry->sequence_number) entry->sequence_number = manifest_.sequence_number;
      if (!entry->file_sequence_number) entry->file_sequence_number = manifest_.sequence_number;
    } else if (entry->status == EntryStatus::kExisting && !entry->sequence_number) {
      return Invalid("file {} exists already but has no sequence number", entry->file.file_path);
    }
    return InheritRowId(entry);
  }

  Status InheritRowId(ManifestEntry* entry) {
    if (!next_row_id_ || manifest_.is_deletes) {
      entry->file.first_row_id.reset();
    } else if (entry->is_live() && !entry->file.first_row_id) {
      entry->file.first_row_id = next_row_id_;
      next_row_id_ = CheckedAdd(*next_row_id_, entry->file.record_count);
      if (!next_row_id_) return Invalid("row ids overflow at file {}", entry->file.file_path);
    }
    return Status::OK();
  }

  Status CheckCounts(const std::vector<ManifestEntry>& entries, size_t size_bytes) const {
    std::array<int64_t, 3> files{}, rows{};
    for (const auto& entry : entries) {
      ++files[static_cast<size_t>(entry.status)];
      rows[static_cast<size_t>(entry.status)] += entry.file.record_count;
    }
    // A whole manifest may have another length than the list says: some tools rewrite the paths inside. It is read all
    // the same where the counts of files and rows show that nothing is missing.
    bool of_told_length = static_cast<int64_t>(size_bytes) == manifest_.manifest_length;
    auto check = [&](EntryStatus status, const char* name, const std::optional<int64_t>& files_told,
                     const std::optional<int64_t>& rows_told) {
      auto index = static_cast<size_t>(status);
      if (files_told && *files_told != files[index]) {
        return Invalid("{} {} entries, the manifest list says {}", files[index], name, *files_told);
      }
      if (of_told_length || (files_told && rows_told == rows[index])) return Status::OK();
      return Invalid("{} files with {} rows, the manifest list says {}", name, rows[index],
                     rows_told ? std::to_string(*rows_told) : "nothing");
    };
    const auto& told = manifest_;
    ARROW_RETURN_NOT_OK(check(EntryStatus::kAdded, "added", told.added_files_count, told.added_rows_count));
    ARROW_RETURN_NOT_OK(check(EntryStatus::kExisting, "existing", told.existing_files_count, told.existing_rows_count));
    return check(EntryStatus::kDeleted, "deleted", told.deleted_files_count, told.deleted_rows_count);
  }

  const ManifestFile& manifest_;
  const PartitionSpec& spec_;
  std::vector<TypePtr> partition_types_;
  std::optional<int64_t> next_row_id_;
};

Result<std::vector<ManifestEntry>> ReadEntries(const FileIO& io, const TableMetadata& metadata,
                                               const ManifestFile& manifest) {
  if (!manifest.key_metadata.empty()) return NotImplemented("encrypted manifests");
  const auto* spec = metadata.FindSpec(manifest.partition_spec_id);
  if (spec == nullptr) return Invalid("the table has no partition spec {}", manifest.partition_spec_id);
  ARROW_ASSIGN_OR_RAISE(auto partition_types, PartitionTypes(*spec, metadata));
  ARROW_ASSIGN_OR_RAISE(auto bytes, io.ReadAll(manifest.manifest_path));
  auto entries = ManifestReader(manifest, *spec, std::move(partition_types)).Read(bytes);
  if (entries.ok() || static_cast<int64_t>(bytes.size()) == manifest.manifest_length) return entries;
  return WithContext(entries.status(),
                     fmt::format("it has {} bytes, the list says {}", bytes.size(), manifest.manifest_length));
}

}  // namespace

Result<std::vector<ManifestEntry>> ReadManifest(const FileIO& io, const TableMetadata& metadata,
                                                const ManifestFile& manifest) {
  return WithContext(ReadEntries(io, metadata, manifest), fmt::format("manifest {}", manifest.manifest_path));
}

}  // namespace calve::iceberg
