#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace calve {

namespace iceberg {
class TableStore;
struct TableVersion;
}  // namespace iceberg

/// An Iceberg table, as its catalog found it. A handle: cheap to copy, pinned to the version it was loaded at.
class Table {
 public:
  Table(std::shared_ptr<iceberg::TableStore> store, std::shared_ptr<const iceberg::TableVersion> version);

  /// "namespace.table", or the path it was opened by.
  const std::string& name() const;
  const std::string& metadata_location() const;
  /// The current schema; fields carry their ids under "PARQUET:field_id".
  arrow::Result<std::shared_ptr<arrow::Schema>> schema() const;
  int format_version() const;
  std::optional<int64_t> current_snapshot_id() const;
  const std::map<std::string, std::string>& properties() const;

  /// The same table at its newest version.
  arrow::Result<Table> Refresh() const;

  /// The table's metadata as JSON text.
  arrow::Result<std::string> MetadataJson() const;
  /// One row a snapshot: committed_at, snapshot_id, parent_id, sequence_number, operation, manifest_list, summary.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Snapshots() const;
  /// One row a ref: name, type, snapshot_id, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Refs() const;
  /// One row a live file of a snapshot (default: the current one): content, file_path, file_format, spec_id, partition,
  /// record_count, file_size_in_bytes, sequence_number, and the metrics by column name as text.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Files(std::optional<int64_t> snapshot_id = {}) const;
  /// One row a manifest of a snapshot: content, path, length, partition_spec_id, added_snapshot_id, sequence_number,
  /// counts.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Manifests(std::optional<int64_t> snapshot_id = {}) const;

  const std::shared_ptr<iceberg::TableStore>& store() const { return store_; }
  const std::shared_ptr<const iceberg::TableVersion>& version() const { return version_; }

 private:
  std::shared_ptr<iceberg::TableStore> store_;
  std::shared_ptr<const iceberg::TableVersion> version_;
};

/// The Arrow form of an Iceberg schema given as JSON ("Schemas", Appendix C), with its ids under "PARQUET:field_id".
arrow::Result<std::shared_ptr<arrow::Schema>> ArrowSchemaFromJson(std::string_view json);

}  // namespace calve
