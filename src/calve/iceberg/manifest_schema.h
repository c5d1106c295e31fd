#pragma once

#include "calve/iceberg/type.h"

namespace calve::iceberg {

/// A column of manifests or manifest lists: its field id, and its name for files that carry no ids.
struct Column {
  int id;
  std::string_view name;
};

namespace columns {

// manifest_entry
inline constexpr Column kStatus{0, "status"};
inline constexpr Column kSnapshotId{1, "snapshot_id"};
inline constexpr Column kDataFile{2, "data_file"};
inline constexpr Column kSequenceNumber{3, "sequence_number"};
inline constexpr Column kFileSequenceNumber{4, "file_sequence_number"};

// data_file
inline constexpr Column kFilePath{100, "file_path"};
inline constexpr Column kFileFormat{101, "file_format"};
inline constexpr Column kPartition{102, "partition"};
inline constexpr Column kRecordCount{103, "record_count"};
inline constexpr Column kFileSize{104, "file_size_in_bytes"};
inline constexpr Column kBlockSize{105, "block_size_in_bytes"};
inline constexpr Column kColumnSizes{108, "column_sizes"};
inline constexpr Column kValueCounts{109, "value_counts"};
inline constexpr Column kNullValueCounts{110, "null_value_counts"};
inline constexpr Column kNanValueCounts{137, "nan_value_counts"};
inline constexpr Column kLowerBounds{125, "lower_bounds"};
inline constexpr Column kUpperBounds{128, "upper_bounds"};
inline constexpr Column kKeyMetadata{131, "key_metadata"};
inline constexpr Column kSplitOffsets{132, "split_offsets"};
inline constexpr Column kContent{134, "content"};
inline constexpr Column kEqualityIds{135, "equality_ids"};
inline constexpr Column kSortOrderId{140, "sort_order_id"};
inline constexpr Column kFirstRowId{142, "first_row_id"};
inline constexpr Column kReferencedDataFile{143, "referenced_data_file"};
inline constexpr Column kContentOffset{144, "content_offset"};
inline constexpr Column kContentSize{145, "content_size_in_bytes"};

// manifest_file
inline constexpr Column kManifestPath{500, "manifest_path"};
inline constexpr Column kManifestLength{501, "manifest_length"};
inline constexpr Column kPartitionSpecId{502, "partition_spec_id"};
inline constexpr Column kAddedSnapshotId{503, "added_snapshot_id"};
inline constexpr Column kAddedFiles{504, "added_files_count"};
inline constexpr Column kExistingFiles{505, "existing_files_count"};
inline constexpr Column kDeletedFiles{506, "deleted_files_count"};
inline constexpr Column kPartitions{507, "partitions"};
inline constexpr Column kAddedRows{512, "added_rows_count"};
inline constexpr Column kExistingRows{513, "existing_rows_count"};
inline constexpr Column kDeletedRows{514, "deleted_rows_count"};
inline constexpr Column kManifestSequenceNumber{515, "sequence_number"};
inline constexpr Column kMinSequenceNumber{516, "min_sequence_number"};
inline constexpr Column kManifestContent{517, "content"};
inline constexpr Column kManifestKeyMetadata{519, "key_metadata"};
inline constexpr Column kManifestFirstRowId{520, "first_row_id"};

// field_summary
inline constexpr Column kContainsNull{509, "contains_null"};
inline constexpr Column kSummaryLowerBound{510, "lower_bound"};
inline constexpr Column kSummaryUpperBound{511, "upper_bound"};
inline constexpr Column kContainsNan{518, "contains_nan"};

}  // namespace columns

/// The fields of `manifest_entry` in a manifest of `format_version`, in the order in which Iceberg Java writes them.
/// `partition` is the struct of partition values.
std::vector<Field> ManifestEntryFields(int format_version, TypePtr partition);

/// The fields of `manifest_file` in a manifest list of `format_version`.
std::vector<Field> ManifestFileFields(int format_version);

/// The Avro codec of `write.avro.compression-codec`; "" is the default, gzip. Invalid names an unknown one.
Result<std::string> AvroCodecOf(const std::string& iceberg_name);

}  // namespace calve::iceberg
