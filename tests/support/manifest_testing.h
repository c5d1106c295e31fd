#pragma once

#include "calve/avro/reader.h"
#include "calve/avro/writer.h"
#include "calve/iceberg/manifest.h"
#include "calve/io/file_io.h"
#include "temp_folder.h"
#include "test_data.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace calve::iceberg {

inline std::string ManifestBytes(const std::string& name) {
  return testing::ReadText(testing::Data("iceberg/" + name));
}

/// A table that a manifest's own metadata tells: its schema, spec and format version.
inline TableMetadata TableOfManifest(const std::string& bytes) {
  auto reader = avro::FileReader::Make(bytes).ValueOrDie();
  auto json = [&](const char* key) { return nlohmann::json::parse(reader->Metadata(key).value()); };
  TableMetadata metadata;
  metadata.format_version = std::stoi(reader->Metadata("format-version").value());
  metadata.schemas = {SchemaFromJson(json("schema")).ValueOrDie()};
  metadata.current_schema_id = metadata.schemas[0].schema_id;
  metadata.default_spec_id = std::stoi(reader->Metadata("partition-spec-id").value());
  nlohmann::json spec{{"spec-id", metadata.default_spec_id}, {"fields", json("partition-spec")}};
  metadata.partition_specs = {PartitionSpecFromJson(spec).ValueOrDie()};
  return metadata;
}

/// What a list would say of a manifest of `bytes` at `location`, counts left out.
inline ManifestFile ListEntryOf(const std::string& location, size_t size_bytes) {
  ManifestFile manifest;
  manifest.manifest_path = location;
  manifest.manifest_length = static_cast<int64_t>(size_bytes);
  manifest.added_snapshot_id = 77;
  manifest.sequence_number = 9;
  return manifest;
}

template <typename T>
std::string Text(const std::optional<T>& value) {
  return value ? std::to_string(*value) : "-";
}

template <typename Map>
std::string MapText(const Map& map) {
  return nlohmann::json(map).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// All of an entry, as text to compare.
inline std::string Text(const ManifestEntry& entry) {
  const auto& file = entry.file;
  std::string partition;
  for (const auto& value : file.partition) partition += std::to_string(HashValue(value)) + ",";
  return fmt::format("{} {} {} {} | {} {} {} spec {} ({}) {} {} | {} {} {} {} {} {} | '{}' {} {} {} {} {} {} {}",
                     static_cast<int>(entry.status), Text(entry.snapshot_id), Text(entry.sequence_number),
                     Text(entry.file_sequence_number), static_cast<int>(file.content), file.file_path, file.file_format,
                     file.spec_id, partition, file.record_count, file.file_size_in_bytes, MapText(file.column_sizes),
                     MapText(file.value_counts), MapText(file.null_value_counts), MapText(file.nan_value_counts),
                     MapText(file.lower_bounds), MapText(file.upper_bounds), file.key_metadata,
                     MapText(file.split_offsets), MapText(file.equality_ids), Text(file.sort_order_id),
                     Text(file.first_row_id), file.referenced_data_file.value_or("-"), Text(file.content_offset),
                     Text(file.content_size_in_bytes));
}

inline std::vector<std::string> Texts(const std::vector<ManifestEntry>& entries) {
  std::vector<std::string> texts;
  for (const auto& entry : entries) texts.push_back(Text(entry));
  return texts;
}

inline std::string Text(const ManifestFile& manifest) {
  std::string partitions;
  for (const auto& summary : manifest.partitions) {
    partitions += fmt::format("{} {} '{}' '{}', ", summary.contains_null, Text(summary.contains_nan),
                              summary.lower_bound.value_or("-"), summary.upper_bound.value_or("-"));
  }
  return fmt::format(
      "{} {} spec {} {} | {} {} {} | {} {} {} {} {} {} | {} '{}' {}", manifest.manifest_path, manifest.manifest_length,
      manifest.partition_spec_id, manifest.is_deletes, manifest.sequence_number, manifest.min_sequence_number,
      manifest.added_snapshot_id, Text(manifest.added_files_count), Text(manifest.existing_files_count),
      Text(manifest.deleted_files_count), Text(manifest.added_rows_count), Text(manifest.existing_rows_count),
      Text(manifest.deleted_rows_count), partitions, manifest.key_metadata, Text(manifest.first_row_id));
}

inline std::vector<std::string> Texts(const std::vector<ManifestFile>& manifests) {
  std::vector<std::string> texts;
  for (const auto& manifest : manifests) texts.push_back(Text(manifest));
  return texts;
}

/// JSON without the "doc" members, at any depth.
inline nlohmann::json WithoutDocs(nlohmann::json json) {
  if (json.is_object()) json.erase("doc");
  if (json.is_structured()) {
    for (auto& item : json) item = WithoutDocs(item);
  }
  return json;
}

}  // namespace calve::iceberg
