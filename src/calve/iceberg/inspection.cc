#include "calve/iceberg/inspection.h"

#include "calve/iceberg/row_builder.h"

#include <arrow/type.h>

namespace calve::iceberg {
namespace {

std::shared_ptr<arrow::Field> Required(const char* name, std::shared_ptr<arrow::DataType> type) {
  return arrow::field(name, std::move(type), /*nullable=*/false);
}

std::shared_ptr<arrow::Schema> SnapshotsSchema() {
  return arrow::schema({
      Required("committed_at", arrow::timestamp(arrow::TimeUnit::MILLI, "UTC")),
      Required("snapshot_id", arrow::int64()),
      arrow::field("parent_id", arrow::int64()),
      Required("sequence_number", arrow::int64()),
      arrow::field("operation", arrow::utf8()),
      arrow::field("manifest_list", arrow::utf8()),
      arrow::field("summary", arrow::map(arrow::utf8(), arrow::utf8())),
  });
}

std::shared_ptr<arrow::Schema> RefsSchema() {
  return arrow::schema({
      Required("name", arrow::utf8()),
      Required("type", arrow::utf8()),
      Required("snapshot_id", arrow::int64()),
      arrow::field("max_reference_age_in_ms", arrow::int64()),
      arrow::field("min_snapshots_to_keep", arrow::int64()),
      arrow::field("max_snapshot_age_in_ms", arrow::int64()),
  });
}

std::shared_ptr<arrow::Schema> ManifestsSchema() {
  return arrow::schema({
      Required("content", arrow::utf8()),
      Required("path", arrow::utf8()),
      Required("length", arrow::int64()),
      Required("partition_spec_id", arrow::int32()),
      Required("added_snapshot_id", arrow::int64()),
      Required("sequence_number", arrow::int64()),
      arrow::field("added_files_count", arrow::int64()),
      arrow::field("existing_files_count", arrow::int64()),
      arrow::field("deleted_files_count", arrow::int64()),
      arrow::field("added_rows_count", arrow::int64()),
      arrow::field("existing_rows_count", arrow::int64()),
      arrow::field("deleted_rows_count", arrow::int64()),
  });
}

}  // namespace

Result<std::shared_ptr<arrow::RecordBatch>> SnapshotsBatch(const TableMetadata& metadata) {
  ARROW_ASSIGN_OR_RAISE(RowBuilder rows, RowBuilder::Make(SnapshotsSchema()));
  for (const Snapshot& snapshot : metadata.snapshots) {
    rows.Time(snapshot.timestamp_ms).Long(snapshot.snapshot_id).Long(snapshot.parent_snapshot_id);
    rows.Long(snapshot.sequence_number).TextOrNull(snapshot.operation()).TextOrNull(snapshot.manifest_list);
    std::map<std::string, std::string> summary = snapshot.summary;
    summary.erase("operation");
    rows.Map(summary);
  }
  return rows.Finish();
}

Result<std::shared_ptr<arrow::RecordBatch>> RefsBatch(const TableMetadata& metadata) {
  ARROW_ASSIGN_OR_RAISE(RowBuilder rows, RowBuilder::Make(RefsSchema()));
  for (const auto& [name, ref] : metadata.refs) {
    rows.Text(name).Text(ref.is_branch ? "BRANCH" : "TAG").Long(ref.snapshot_id);
    rows.Long(ref.max_ref_age_ms).Long(ref.min_snapshots_to_keep).Long(ref.max_snapshot_age_ms);
  }
  return rows.Finish();
}

Result<std::shared_ptr<arrow::RecordBatch>> ManifestsBatch(const FileIO& io, const TableMetadata& metadata,
                                                           const Snapshot* snapshot) {
  ARROW_ASSIGN_OR_RAISE(RowBuilder rows, RowBuilder::Make(ManifestsSchema()));
  std::vector<ManifestFile> manifests;
  if (snapshot != nullptr) {
    ARROW_ASSIGN_OR_RAISE(manifests, ManifestsOf(io, metadata, *snapshot));
  }
  for (const ManifestFile& manifest : manifests) {
    rows.Text(manifest.is_deletes ? "deletes" : "data").Text(manifest.manifest_path).Long(manifest.manifest_length);
    rows.Int(manifest.partition_spec_id).Long(manifest.added_snapshot_id).Long(manifest.sequence_number);
    rows.Long(manifest.added_files_count).Long(manifest.existing_files_count).Long(manifest.deleted_files_count);
    rows.Long(manifest.added_rows_count).Long(manifest.existing_rows_count).Long(manifest.deleted_rows_count);
  }
  return rows.Finish();
}

}  // namespace calve::iceberg
