#include "calve/table.h"

#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/iceberg/commit.h"
#include "calve/iceberg/inspection.h"

namespace calve {

using iceberg::Snapshot;

namespace {

Result<const Snapshot*> SnapshotOf(const iceberg::TableMetadata& metadata, std::optional<int64_t> snapshot_id) {
  iceberg::SnapshotSelector selector;
  selector.snapshot_id = snapshot_id;
  return iceberg::SelectSnapshot(metadata, selector);
}

}  // namespace

Table::Table(std::shared_ptr<iceberg::TableStore> store, std::shared_ptr<const iceberg::TableVersion> version)
    : store_(std::move(store)), version_(std::move(version)) {}

const std::string& Table::name() const { return store_->name(); }

const std::string& Table::metadata_location() const { return version_->metadata_location; }

Result<std::shared_ptr<arrow::Schema>> Table::schema() const { return iceberg::ToArrow(version_->metadata.schema()); }

int Table::format_version() const { return version_->metadata.format_version; }

std::optional<int64_t> Table::current_snapshot_id() const { return version_->metadata.current_snapshot_id; }

const std::map<std::string, std::string>& Table::properties() const { return version_->metadata.properties; }

Result<Table> Table::Refresh() const {
  ARROW_ASSIGN_OR_RAISE(iceberg::TableVersion version, store_->Load());
  return Table(store_, std::make_shared<const iceberg::TableVersion>(std::move(version)));
}

Result<std::string> Table::MetadataJson() const { return iceberg::ToJsonText(version_->metadata); }

Result<std::shared_ptr<arrow::RecordBatch>> Table::Snapshots() const {
  return iceberg::SnapshotsBatch(version_->metadata);
}

Result<std::shared_ptr<arrow::RecordBatch>> Table::Refs() const { return iceberg::RefsBatch(version_->metadata); }

Result<std::shared_ptr<arrow::RecordBatch>> Table::Files(std::optional<int64_t> snapshot_id) const {
  ARROW_ASSIGN_OR_RAISE(const Snapshot* snapshot, SnapshotOf(version_->metadata, snapshot_id));
  return iceberg::FilesBatch(store_->io(), version_->metadata, snapshot);
}

Result<std::shared_ptr<arrow::RecordBatch>> Table::Manifests(std::optional<int64_t> snapshot_id) const {
  ARROW_ASSIGN_OR_RAISE(const Snapshot* snapshot, SnapshotOf(version_->metadata, snapshot_id));
  return iceberg::ManifestsBatch(store_->io(), version_->metadata, snapshot);
}

}  // namespace calve
