#pragma once

#include "calve/base/status.h"
#include "calve/iceberg/commit.h"
#include "calve/io/file_io.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace calve::testing {

using iceberg::DataFile;
using iceberg::Snapshot;
using iceberg::TableMetadata;
using iceberg::TableVersion;

/// A table store that keeps the current version in memory, and fails as it is told.
class MemoryTable : public iceberg::TableStore {
 public:
  enum class Fate {
    kSucceed,
    kConflict,     ///< another writer's commit comes first
    kUnknownDone,  ///< the swap happens, and the answer is lost
    kUnknownLost,  ///< the swap does not happen, and the answer is lost
    kFail,         ///< plain failure
  };

  MemoryTable(std::string folder, TableMetadata metadata) : folder_(std::move(folder)) {
    current_ = TableVersion{std::move(metadata), folder_ + "/metadata/v1.metadata.json"};
  }

  const FileIO& io() const override { return io_; }
  const std::string& name() const override { return name_; }
  Result<TableVersion> Load() override {
    loads += 1;
    if (loads_to_fail > 0) {
      loads_to_fail -= 1;
      return IOError("the catalog is away");
    }
    return current_;
  }
  Result<TableVersion> Swap(const TableVersion& base, const TableMetadata& next) override {
    Fate fate = Fate::kSucceed;
    if (!fates.empty()) {
      fate = fates.front();
      fates.pop_front();
    }
    if (fate == Fate::kFail) return IOError("disk full");
    if (fate == Fate::kConflict) meanwhile();
    if (base.metadata_location != current_.metadata_location) {
      return CommitError(CommitFailure::kConflict, "another version is current");
    }
    if (fate == Fate::kUnknownLost) return CommitError(CommitFailure::kStateUnknown, "no answer");
    Set(next);
    if (fate == Fate::kUnknownDone) return CommitError(CommitFailure::kStateUnknown, "no answer");
    return current_;
  }

  const TableVersion& current() const { return current_; }
  void Set(TableMetadata next) {
    version_ += 1;
    current_ = TableVersion{std::move(next), fmt::format("{}/metadata/v{}.metadata.json", folder_, version_)};
  }

  std::deque<Fate> fates;                                                ///< of the next swaps; then all succeed
  std::function<void()> meanwhile = [this] { Set(current_.metadata); };  ///< what the other writer of a kConflict does
  int loads = 0, loads_to_fail = 0;

 private:
  FileIO io_;
  std::string folder_, name_ = "db.t";
  TableVersion current_;
  int version_ = 1;
};

/// A table of (id long, cat string) in a folder of its own, and commits to it.
class CommitTest : public ::testing::Test {
 protected:
  void MakeTable(int format_version, std::map<std::string, std::string> properties = {}, bool partitioned = false) {
    iceberg::Schema schema;
    schema.fields = {{1, "id", false, iceberg::Primitive(iceberg::TypeId::kLong)},
                     {2, "cat", false, iceberg::Primitive(iceberg::TypeId::kString)}};
    iceberg::PartitionSpec spec;
    if (partitioned) spec.fields = {{2, 1000, "cat", iceberg::ParseTransform("identity").ValueOrDie()}};
    properties.try_emplace("commit.retry.min-wait-ms", "1");
    properties.try_emplace("commit.status-check.min-wait-ms", "1");
    auto metadata = iceberg::NewTableMetadata(folder_ / "t", schema, spec, format_version, std::move(properties));
    ASSERT_TRUE(metadata.ok()) << metadata.status();
    store_ = std::make_unique<MemoryTable>(folder_ / "t", std::move(*metadata));
  }

  DataFile File(const std::string& name, int64_t rows, std::optional<std::string> cat = {}) const {
    DataFile file;
    file.file_path = folder_ / ("t/data/" + name);
    file.file_format = "PARQUET";
    if (cat) file.partition = {Value(*cat)};
    file.record_count = rows;
    file.file_size_in_bytes = rows * 10;
    return file;
  }

  Result<iceberg::CommitResult> Append(std::vector<DataFile> files, const std::string& branch = "main") {
    iceberg::SnapshotChange change{.operation = "append", .added = std::move(files)};
    change.branch = branch;
    return iceberg::CommitSnapshot(*store_, store_->current(), change);
  }

  iceberg::SnapshotChange Replacing(std::vector<DataFile> removed, std::vector<DataFile> added) const {
    iceberg::SnapshotChange change{.operation = "replace", .added = std::move(added)};
    for (const DataFile& file : removed) change.removed.push_back(file.file_path);
    return change;
  }

  /// Commits delete files, as another engine would.
  void Delete(std::vector<DataFile> deletes, const std::string& operation = "overwrite") {
    const TableVersion base = store_->current();
    const TableMetadata& metadata = base.metadata;
    Snapshot snapshot;
    snapshot.snapshot_id = iceberg::NewSnapshotId(metadata);
    snapshot.parent_snapshot_id = metadata.current_snapshot_id;
    snapshot.sequence_number = metadata.last_sequence_number + 1;
    snapshot.timestamp_ms = iceberg::NextTimestampMs(metadata);
    snapshot.summary = {{"operation", operation}};
    snapshot.schema_id = 0;
    snapshot.manifest_list = fmt::format("{}/t/metadata/snap-{}.avro", folder_.path(), snapshot.snapshot_id);
    std::vector<iceberg::ManifestFile> manifests = Manifests();
    std::vector<iceberg::ManifestEntry> entries;
    for (DataFile& file : deletes) {
      entries.push_back({iceberg::EntryStatus::kAdded, snapshot.snapshot_id, {}, {}, std::move(file)});
    }
    iceberg::ManifestWriteRequest request;
    request.location = fmt::format("{}/t/metadata/deletes-{}.avro", folder_.path(), snapshot.snapshot_id);
    request.is_deletes = true;
    request.snapshot_id = snapshot.snapshot_id;
    request.sequence_number = snapshot.sequence_number;
    auto manifest = iceberg::WriteManifest(store_->io(), metadata, request, entries);
    ASSERT_TRUE(manifest.ok()) << manifest.status();
    manifests.push_back(*manifest);
    auto next_row_id = iceberg::WriteManifestList(store_->io(), metadata, snapshot, metadata.next_row_id, &manifests);
    ASSERT_TRUE(next_row_id.ok()) << next_row_id.status();
    if (metadata.format_version >= 3) {
      snapshot.first_row_id = metadata.next_row_id;
      snapshot.added_rows = *next_row_id - metadata.next_row_id;
    }
    auto next = iceberg::WithSnapshot(base, snapshot, "main", *next_row_id);
    ASSERT_TRUE(next.ok()) << next.status();
    store_->Set(std::move(*next));
  }

  /// The manifests of the current snapshot.
  std::vector<iceberg::ManifestFile> Manifests() const {
    const TableMetadata& metadata = store_->current().metadata;
    if (metadata.current_snapshot() == nullptr) return {};
    auto manifests = iceberg::ManifestsOf(store_->io(), metadata, *metadata.current_snapshot());
    EXPECT_TRUE(manifests.ok()) << manifests.status();
    return manifests.ValueOr({});
  }

  std::vector<iceberg::ManifestEntry> Entries(const iceberg::ManifestFile& manifest) const {
    auto entries = iceberg::ReadManifest(store_->io(), store_->current().metadata, manifest);
    EXPECT_TRUE(entries.ok()) << entries.status();
    return entries.ValueOr({});
  }

  /// The entries of all manifests of the current snapshot by file name.
  std::map<std::string, iceberg::ManifestEntry> EntriesByName() const {
    std::map<std::string, iceberg::ManifestEntry> by_name;
    for (const auto& manifest : Manifests()) {
      for (const auto& entry : Entries(manifest)) {
        const std::string name = std::filesystem::path(entry.file.file_path).filename();
        EXPECT_TRUE(by_name.emplace(name, entry).second) << name << " is there twice";
      }
    }
    return by_name;
  }

  std::vector<std::string> LiveFiles() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : EntriesByName()) {
      if (entry.is_live() && entry.file.content == iceberg::FileContent::kData) names.push_back(name);
    }
    return names;
  }

  /// Names of the metadata files that the snapshots name, sorted: what should be in the folder, and nothing else.
  std::vector<std::string> ReferencedFiles() const {
    const TableMetadata& metadata = store_->current().metadata;
    std::set<std::string> names;
    for (const Snapshot& snapshot : metadata.snapshots) {
      names.insert(std::filesystem::path(snapshot.manifest_list).filename());
      auto manifests = iceberg::ManifestsOf(store_->io(), metadata, snapshot);
      EXPECT_TRUE(manifests.ok()) << manifests.status();
      for (const auto& manifest : manifests.ValueOr({})) {
        names.insert(std::filesystem::path(manifest.manifest_path).filename());
      }
    }
    return {names.begin(), names.end()};
  }
  std::vector<std::string> FilesThere() const { return FileNames(folder_ / "t/metadata"); }

  TempFolder folder_;
  std::unique_ptr<MemoryTable> store_;
};

}  // namespace calve::testing
