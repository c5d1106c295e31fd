#pragma once

#include "calve/iceberg/table_metadata.h"

#include <map>

namespace calve {
class FileIO;
}

namespace calve::iceberg {

enum class FileContent { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };
enum class EntryStatus { kExisting = 0, kAdded = 1, kDeleted = 2 };

/// The summary of one partition field over a manifest's files, or what a manifest list says of it.
struct FieldSummary {
  bool contains_null = false;
  std::optional<bool> contains_nan;
  std::optional<std::string> lower_bound;  ///< binary single-value form of the partition value
  std::optional<std::string> upper_bound;
};

/// An entry of a manifest list ("Manifest Lists").
struct ManifestFile {
  std::string manifest_path;
  int64_t manifest_length = 0;
  int partition_spec_id = 0;
  bool is_deletes = false;      ///< content = 1
  int64_t sequence_number = 0;  ///< 0 when the list is of format v1
  int64_t min_sequence_number = 0;
  int64_t added_snapshot_id = 0;
  std::optional<int64_t> added_files_count, existing_files_count, deleted_files_count;  ///< optional in v1
  std::optional<int64_t> added_rows_count, existing_rows_count, deleted_rows_count;
  std::vector<FieldSummary> partitions;  ///< in the order of the spec; empty when not told
  std::string key_metadata;
  std::optional<int64_t> first_row_id;  ///< v3

  /// False only when the counts say that no live (added or existing) entry is inside.
  bool might_have_live_files() const;
};

/// A data or delete file ("Manifests", `data_file`).
struct DataFile {
  FileContent content = FileContent::kData;
  std::string file_path;
  std::string file_format;       ///< upper case: "PARQUET", "AVRO", "ORC", "PUFFIN"
  int spec_id = 0;               ///< of the manifest it stands in
  std::vector<Value> partition;  ///< in the order of the spec
  int64_t record_count = 0;
  int64_t file_size_in_bytes = 0;
  std::map<int, int64_t> column_sizes, value_counts, null_value_counts, nan_value_counts;
  std::map<int, std::string> lower_bounds, upper_bounds;  ///< binary single-value form
  std::string key_metadata;
  std::vector<int64_t> split_offsets;
  std::vector<int> equality_ids;
  std::optional<int> sort_order_id;
  std::optional<int64_t> first_row_id;  ///< v3
  std::optional<std::string> referenced_data_file;
  std::optional<int64_t> content_offset, content_size_in_bytes;  ///< deletion vectors
};

/// An entry of a manifest, inheritance applied ("Sequence Number Inheritance", "First Row ID Inheritance").
struct ManifestEntry {
  EntryStatus status = EntryStatus::kAdded;
  std::optional<int64_t> snapshot_id;
  std::optional<int64_t> sequence_number;  ///< data sequence number
  std::optional<int64_t> file_sequence_number;
  DataFile file;

  bool is_live() const { return status != EntryStatus::kDeleted; }
};

/// Reads a manifest list. `expected` from the snapshot; v1 lists lack fields that are then defaulted.
Result<std::vector<ManifestFile>> ReadManifestList(const FileIO& io, const std::string& location);

/// The manifests of `snapshot`: its list read, or its inline manifests wrapped (their length then taken from storage).
/// Invalid when the list leads to fewer files than the snapshot's summary says: it is cut short.
Result<std::vector<ManifestFile>> ManifestsOf(const FileIO& io, const TableMetadata& metadata,
                                              const Snapshot& snapshot);

/// Reads all entries of a manifest, deleted ones too. Checked against what the list says: the counts of added, existing
/// and deleted entries, so that a manifest cut at an Avro block boundary is Invalid, and the length of the file, which
/// may only differ (manifests whose paths were rewritten) when all counts of files and rows are told and right.
/// Partition values are read by the manifest's own spec (field ids), promoted to the types of `metadata`'s current
/// schema.
Result<std::vector<ManifestEntry>> ReadManifest(const FileIO& io, const TableMetadata& metadata,
                                                const ManifestFile& manifest);

/// Writes a manifest for files of one spec and returns its manifest-list entry (location, length, counts, summaries;
/// the sequence numbers are those that a list written in snapshot `snapshot_id` with `sequence_number` gives it). A
/// kAdded entry without sequence_number inherits both numbers; one with sequence_number has that data sequence number
/// written (and counted in min_sequence_number) and inherits the file sequence number. All others must have both. In
/// v3, file.first_row_id is written for all but kAdded entries, as it is.
struct ManifestWriteRequest {
  std::string location;
  int spec_id = 0;
  bool is_deletes = false;
  int64_t snapshot_id = 0;
  int64_t sequence_number = 0;
  std::string codec;  ///< write.avro.compression-codec: "gzip" (default), "zstd", "snappy", "uncompressed"
};
Result<ManifestFile> WriteManifest(const FileIO& io, const TableMetadata& metadata, const ManifestWriteRequest& request,
                                   const std::vector<ManifestEntry>& entries);

/// Writes a manifest list for `snapshot`. In v3, data manifests without first_row_id get theirs here, counted from
/// `next_row_id`; returns the table's next row id after it.
Result<int64_t> WriteManifestList(const FileIO& io, const TableMetadata& metadata, const Snapshot& snapshot,
                                  int64_t next_row_id, std::vector<ManifestFile>* manifests);

}  // namespace calve::iceberg
