#pragma once

#include "calve/iceberg/partition.h"
#include "calve/iceberg/schema.h"

#include <map>

namespace calve::iceberg {

struct SortField {
  int source_id = 0;
  Transform transform;
  bool ascending = true;
  bool nulls_first = true;
  std::shared_ptr<const nlohmann::json> unknown;  ///< members that calve does not interpret, written back
};

struct SortOrder {
  int order_id = 0;
  std::vector<SortField> fields;
};

/// A snapshot ("Snapshots").
struct Snapshot {
  int64_t snapshot_id = 0;
  std::optional<int64_t> parent_snapshot_id;
  int64_t sequence_number = 0;  ///< 0 in format v1
  int64_t timestamp_ms = 0;
  std::string manifest_list;                   ///< location; empty in v1 snapshots that list their manifests inline
  std::vector<std::string> manifests;          ///< v1, inline
  std::map<std::string, std::string> summary;  ///< with "operation"
  std::optional<int> schema_id;
  std::optional<int64_t> first_row_id;            ///< v3
  std::optional<int64_t> added_rows;              ///< v3
  std::shared_ptr<const nlohmann::json> unknown;  ///< members that calve does not interpret, written back

  std::string operation() const;  ///< "append", "replace", "overwrite", "delete", or "" when not told
};

/// A branch or tag ("Snapshot References").
struct SnapshotRef {
  int64_t snapshot_id = 0;
  bool is_branch = true;
  std::optional<int64_t> min_snapshots_to_keep;
  std::optional<int64_t> max_snapshot_age_ms;
  std::optional<int64_t> max_ref_age_ms;
  std::shared_ptr<const nlohmann::json> unknown;  ///< members that calve does not interpret, written back
};

struct LogEntry {
  int64_t timestamp_ms = 0;
  int64_t snapshot_id = 0;    ///< snapshot-log
  std::string metadata_file;  ///< metadata-log
};

/// A table's metadata, format v1 to v3 ("Table Metadata", Appendix C).
///
/// Parsed leniently where old writers left things out (v1 without schemas, partition-specs, sort-orders, uuid) and
/// strictly where leniency could give wrong rows. Members that calve does not interpret are kept in `unknown` and
/// written back.
struct TableMetadata {
  int format_version = 2;
  std::string table_uuid;
  std::string location;
  int64_t last_sequence_number = 0;
  int64_t last_updated_ms = 0;
  int last_column_id = 0;
  std::vector<Schema> schemas;
  int current_schema_id = 0;
  std::vector<PartitionSpec> partition_specs;
  int default_spec_id = 0;
  int last_partition_id = 999;
  std::map<std::string, std::string> properties;
  std::optional<int64_t> current_snapshot_id;
  std::vector<Snapshot> snapshots;
  std::vector<LogEntry> snapshot_log;
  std::vector<LogEntry> metadata_log;
  std::vector<SortOrder> sort_orders;
  int default_sort_order_id = 0;
  std::map<std::string, SnapshotRef> refs;
  int64_t next_row_id = 0;  ///< v3
  std::shared_ptr<const nlohmann::json> unknown;

  const Schema& schema() const;       ///< the current one
  const PartitionSpec& spec() const;  ///< the default one
  const Schema* FindSchema(int id) const;
  const PartitionSpec* FindSpec(int id) const;
  const Snapshot* FindSnapshot(int64_t id) const;
  const Snapshot* current_snapshot() const;  ///< null for an empty table
  /// The property, or `otherwise`.
  std::string Property(const std::string& key, const std::string& otherwise) const;
  /// A property as a number or boolean; Invalid names the property when it does not parse.
  Result<int64_t> IntProperty(const std::string& key, int64_t otherwise) const;
  Result<bool> BoolProperty(const std::string& key, bool otherwise) const;
};

/// Parses metadata JSON, gzipped or not (told by its first bytes). Invalid names the member that is missing or wrong.
/// A format version over 3 is NotImplemented.
Result<TableMetadata> ParseTableMetadata(std::string_view bytes);

/// Writes metadata JSON in the table's own format version.
Result<std::string> ToJsonText(const TableMetadata& metadata);

/// New metadata for a new table: ids assigned afresh, one schema, spec 0, sort order 0.
Result<TableMetadata> NewTableMetadata(const std::string& location, const Schema& schema, const PartitionSpec& spec,
                                       int format_version, std::map<std::string, std::string> properties);

/// Which snapshot a scan reads: at most one is set; none means the current one.
struct SnapshotSelector {
  std::optional<int64_t> snapshot_id;
  std::optional<std::string> ref;
  std::optional<int64_t> as_of_ms;  ///< the snapshot that was current at this time, by the snapshot log
};

/// The selected snapshot; null for an empty table without selection. Invalid says what was asked and what there is.
Result<const Snapshot*> SelectSnapshot(const TableMetadata& metadata, const SnapshotSelector& selector);

/// The schema a scan of `snapshot` uses: the snapshot's own when it was selected by id, tag or time; the table's
/// current one for the current snapshot and branches.
const Schema& ScanSchema(const TableMetadata& metadata, const Snapshot* snapshot, const SnapshotSelector& selector);

}  // namespace calve::iceberg
