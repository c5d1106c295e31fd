// Writes what manifest_reader.cc reads, with the columns, metadata and order that Iceberg Java uses for each version.
#include "calve/avro/writer.h"
#include "calve/base/status.h"
#include "calve/iceberg/avro_schema.h"
#include "calve/iceberg/manifest.h"
#include "calve/iceberg/manifest_schema.h"
#include "calve/iceberg/partition_summary.h"
#include "calve/io/file_io.h"

#include <nlohmann/json.hpp>

#include <array>

namespace calve::iceberg {
namespace {

using avro::Value;
using List = avro::Value::List;

constexpr int64_t kV1BlockSizeBytes = 64 << 20;  // deprecated, but required

template <typename T>
Value OrNull(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}

Value OrNull(const std::string& text) { return text.empty() ? Value() : Value(text); }

template <typename T>
Value MapOrNull(const std::map<int, T>& map) {
  if (map.empty()) return {};
  List items;
  for (const auto& [key, value] : map) items.push_back(List{key, value});
  return items;
}

template <typename T>
Value ListOrNull(const std::vector<T>& values) {
  return values.empty() ? Value() : Value(List(values.begin(), values.end()));
}

/// The type of a partition value whose source column is gone from the schema.
Result<TypePtr> TypeOfValue(const calve::Value& value) {
  if (std::holds_alternative<bool>(value)) return Primitive(TypeId::kBoolean);
  if (std::holds_alternative<int32_t>(value)) return Primitive(TypeId::kInt);
  if (std::holds_alternative<int64_t>(value)) return Primitive(TypeId::kLong);
  if (std::holds_alternative<float>(value)) return Primitive(TypeId::kFloat);
  if (std::holds_alternative<double>(value)) return Primitive(TypeId::kDouble);
  return NotImplemented("writing partition values whose source column was dropped");
}

class ManifestWriter {
 public:
  ManifestWriter(const TableMetadata& metadata, const ManifestWriteRequest& request, const PartitionSpec& spec)
      : metadata_(metadata), request_(request), spec_(spec) {}

  Result<ManifestFile> Write(const FileIO& io, const std::vector<ManifestEntry>& entries) {
    ARROW_ASSIGN_OR_RAISE(partition_types_, PartitionTypesFor(entries));
    ARROW_ASSIGN_OR_RAISE(auto writer, OpenWriter());
    PartitionSummaries summaries(partition_types_);
    for (const auto& entry : entries) {
      auto status = Append(entry, writer.get());
      if (!status.ok()) return WithContext(status, fmt::format("file {}", entry.file.file_path));
      summaries.Add(entry.file.partition);
    }
    ARROW_ASSIGN_OR_RAISE(auto bytes, writer->Finish());
    auto manifest = Describe(entries, static_cast<int64_t>(bytes.size()));
    ARROW_ASSIGN_OR_RAISE(manifest.partitions, summaries.Finish());
    ARROW_RETURN_NOT_OK(io.CreateNew(request_.location, bytes));
    return manifest;
  }

 private:
  Result<std::vector<TypePtr>> PartitionTypesFor(const std::vector<ManifestEntry>& entries) const {
    ARROW_ASSIGN_OR_RAISE(auto types, PartitionTypes(spec_, metadata_));
    for (const auto& entry : entries) {
      const auto& partition = entry.file.partition;
      if (partition.size() != types.size()) {
        return Invalid("file {} has {} partition values, spec {} has {} fields", entry.file.file_path, partition.size(),
                       spec_.spec_id, types.size());
      }
      for (size_t i = 0; i < types.size(); ++i) {
        if (types[i]->id != TypeId::kUnknown || IsNull(partition[i])) continue;
        ARROW_ASSIGN_OR_RAISE(types[i], TypeOfValue(partition[i]));
      }
    }
    return types;
  }

  Result<std::unique_ptr<avro::FileWriter>> OpenWriter() {
    std::vector<Field> partition;
    for (size_t i = 0; i < spec_.fields.size(); ++i) {
      partition.push_back(Field{spec_.fields[i].field_id, spec_.fields[i].name, false, partition_types_[i]});
    }
    auto fields = ManifestEntryFields(metadata_.format_version, Struct(std::move(partition)));
    file_fields_ = fields.back().type->fields;
    ARROW_ASSIGN_OR_RAISE(auto schema, ToAvroRecord("manifest_entry", fields));
    ARROW_ASSIGN_OR_RAISE(auto codec, AvroCodecOf(request_.codec));
    return avro::FileWriter::Make(std::move(schema), FileMetadata(fields), codec);
  }

  std::vector<std::pair<std::string, std::string>> FileMetadata(const std::vector<Field>& fields) const {
    std::vector<std::pair<std::string, std::string>> result{
        {"schema", ToJson(metadata_.schema()).dump()},
        {"schema-id", std::to_string(metadata_.schema().schema_id)},
        {"partition-spec", ToJson(spec_).at("fields").dump()},
        {"partition-spec-id", std::to_string(spec_.spec_id)},
        {"format-version", std::to_string(metadata_.format_version)},
        {"iceberg.schema", ToJson(Schema{0, fields, {}}).dump()},
    };
    if (metadata_.format_version >= 2) result.emplace_back("content", request_.is_deletes ? "deletes" : "data");
    return result;
  }

  Status Append(const ManifestEntry& entry, avro::FileWriter* writer) const {
    ARROW_RETURN_NOT_OK(Check(entry));
    bool added = entry.status == EntryStatus::kAdded;
    List record{static_cast<int>(entry.status), entry.snapshot_id.value_or(request_.snapshot_id)};
    if (metadata_.format_version >= 2) {
      record.push_back(OrNull(entry.sequence_number));
      record.push_back(added ? Value() : OrNull(entry.file_sequence_number));
    }
    List file;
    for (const auto& field : file_fields_) {
      ARROW_ASSIGN_OR_RAISE(auto value, FileColumn(field.id, entry));
      file.push_back(std::move(value));
    }
    record.emplace_back(std::move(file));
    return writer->Append(record);
  }

  Status Check(const ManifestEntry& entry) const {
    bool is_delete_file = entry.file.content != FileContent::kData;
    if (is_delete_file != request_.is_deletes) {
      return Invalid("a {} file in a manifest of {} files", is_delete_file ? "delete" : "data",
                     request_.is_deletes ? "delete" : "data");
    }
    if (is_delete_file && metadata_.format_version < 2) return Invalid("tables of format v1 have no delete files");
    if (entry.file.content_offset && metadata_.format_version < 3) {
      return Invalid("tables of format v{} have no deletion vectors", metadata_.format_version);
    }
    if (entry.status == EntryStatus::kAdded || metadata_.format_version < 2) return Status::OK();
    if (!entry.snapshot_id && entry.status == EntryStatus::kExisting) {
      return Invalid("an existing file needs its snapshot id");
    }
    if (!entry.sequence_number) return Invalid("a file that is not added needs its sequence number");
    return Status::OK();
  }

  Result<Value> FileColumn(int id, const ManifestEntry& entry) const {
    const auto& file = entry.file;
    switch (id) {
      case columns::kContent.id:
        return Value(static_cast<int>(file.content));
      case columns::kFilePath.id:
        return Value(file.file_path);
      case columns::kFileFormat.id:
        return Value(file.file_format);
      case columns::kPartition.id:
        return Partition(file);
      case columns::kRecordCount.id:
        return Value(file.record_count);
      case columns::kFileSize.id:
        return Value(file.file_size_in_bytes);
      case columns::kBlockSize.id:
        return Value(kV1BlockSizeBytes);
      case columns::kColumnSizes.id:
        return MapOrNull(file.column_sizes);
      case columns::kValueCounts.id:
        return MapOrNull(file.value_counts);
      case columns::kNullValueCounts.id:
        return MapOrNull(file.null_value_counts);
      case columns::kNanValueCounts.id:
        return MapOrNull(file.nan_value_counts);
      case columns::kLowerBounds.id:
        return MapOrNull(file.lower_bounds);
      case columns::kUpperBounds.id:
        return MapOrNull(file.upper_bounds);
      case columns::kKeyMetadata.id:
        return OrNull(file.key_metadata);
      case columns::kSplitOffsets.id:
        return ListOrNull(file.split_offsets);
      case columns::kEqualityIds.id:
        return ListOrNull(file.equality_ids);
      case columns::kSortOrderId.id:
        return OrNull(file.sort_order_id);
      // A new file gets its row ids from the manifest, whose first one is known only when the commit succeeds.
      case columns::kFirstRowId.id:
        return entry.status == EntryStatus::kAdded ? Value() : OrNull(file.first_row_id);
      case columns::kReferencedDataFile.id:
        return OrNull(file.referenced_data_file);
      case columns::kContentOffset.id:
        return OrNull(file.content_offset);
      case columns::kContentSize.id:
        return OrNull(file.content_size_in_bytes);
      default:
        return Invalid("data_file has no column {}", id);
    }
  }

  Result<Value> Partition(const DataFile& file) const {
    List values;
    for (size_t i = 0; i < partition_types_.size(); ++i) {
      auto value = ToAvroValue(*partition_types_[i], file.partition[i]);
      if (!value.ok()) {
        return WithContext(value.status(), fmt::format("partition field '{}'", spec_.fields[i].name));
      }
      values.push_back(std::move(*value));
    }
    return Value(std::move(values));
  }

  ManifestFile Describe(const std::vector<ManifestEntry>& entries, int64_t size_bytes) const {
    ManifestFile manifest;
    manifest.manifest_path = request_.location;
    manifest.manifest_length = size_bytes;
    manifest.partition_spec_id = spec_.spec_id;
    manifest.is_deletes = request_.is_deletes;
    manifest.added_snapshot_id = request_.snapshot_id;
    manifest.sequence_number = metadata_.format_version < 2 ? 0 : request_.sequence_number;
    std::array<int64_t, 3> files{}, rows{};
    std::optional<int64_t> min_sequence_number;
    for (const auto& entry : entries) {
      auto status = static_cast<size_t>(entry.status);
      ++files[status];
      rows[status] += entry.file.record_count;
      if (!entry.is_live()) continue;
      int64_t number = entry.sequence_number.value_or(manifest.sequence_number);
      min_sequence_number = std::min(min_sequence_number.value_or(number), number);
    }
    if (metadata_.format_version >= 2) {
      manifest.min_sequence_number = min_sequence_number.value_or(manifest.sequence_number);
    }
    constexpr auto kExisting = static_cast<size_t>(EntryStatus::kExisting);
    constexpr auto kAdded = static_cast<size_t>(EntryStatus::kAdded);
    constexpr auto kDeleted = static_cast<size_t>(EntryStatus::kDeleted);
    manifest.added_files_count = files[kAdded], manifest.added_rows_count = rows[kAdded];
    manifest.existing_files_count = files[kExisting], manifest.existing_rows_count = rows[kExisting];
    manifest.deleted_files_count = files[kDeleted], manifest.deleted_rows_count = rows[kDeleted];
    return manifest;
  }

  const TableMetadata& metadata_;
  const ManifestWriteRequest& request_;
  const PartitionSpec& spec_;
  std::vector<TypePtr> partition_types_;
  std::vector<Field> file_fields_;
};

Result<ManifestFile> Write(const FileIO& io, const TableMetadata& metadata, const ManifestWriteRequest& request,
                           const std::vector<ManifestEntry>& entries) {
  const auto* spec = metadata.FindSpec(request.spec_id);
  if (spec == nullptr) return Invalid("the table has no partition spec {}", request.spec_id);
  return ManifestWriter(metadata, request, *spec).Write(io, entries);
}

}  // namespace

Result<ManifestFile> WriteManifest(const FileIO& io, const TableMetadata& metadata, const ManifestWriteRequest& request,
                                   const std::vector<ManifestEntry>& entries) {
  return WithContext(Write(io, metadata, request, entries), fmt::format("manifest {}", request.location));
}

}  // namespace calve::iceberg
