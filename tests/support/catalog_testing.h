#pragma once

#include "calve/catalog.h"
#include "calve/iceberg/commit.h"
#include "temp_folder.h"

#include <arrow/type.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace calve::testing {

inline std::shared_ptr<arrow::Schema> IdAndName() {
  return arrow::schema({arrow::field("id", arrow::int64(), false), arrow::field("name", arrow::utf8())});
}

inline CatalogConfig SqlConfig(const TempFolder& folder, const std::string& name = "test") {
  CatalogConfig config;
  config.name = name;
  config.properties = {{"type", "sql"}, {"uri", "sqlite:///" + (folder / "catalog.db")}, {"warehouse", folder / "wh"}};
  return config;
}

inline CatalogConfig FilesystemConfig(const TempFolder& folder) {
  CatalogConfig config;
  config.properties = {{"type", "filesystem"}, {"warehouse", folder / "wh"}};
  return config;
}

inline std::unique_ptr<Catalog> OpenCatalog(const CatalogConfig& config) {
  auto catalog = Catalog::Open(config);
  EXPECT_TRUE(catalog.ok()) << catalog.status();
  return catalog.ok() ? std::move(*catalog) : nullptr;
}

/// Commits an append of one data file (that is only named) on top of the newest version.
inline arrow::Result<iceberg::CommitResult> AppendOne(const Table& table, const std::string& name, int64_t rows = 1) {
  ARROW_ASSIGN_OR_RAISE(Table newest, table.Refresh());
  iceberg::SnapshotChange change;
  change.operation = "append";
  iceberg::DataFile file;
  file.file_path = iceberg::DataLocation(newest.version()->metadata) + "/" + name;
  file.file_format = "PARQUET";
  file.record_count = rows;
  file.file_size_in_bytes = 100;
  change.added.push_back(std::move(file));
  return iceberg::CommitSnapshot(*newest.store(), *newest.version(), change);
}

/// Paths of the live data files of the current snapshot.
inline std::vector<std::string> LiveDataFiles(const Table& table) {
  std::vector<std::string> paths;
  const iceberg::TableMetadata& metadata = table.version()->metadata;
  if (metadata.current_snapshot() == nullptr) return paths;
  auto manifests = iceberg::ManifestsOf(table.store()->io(), metadata, *metadata.current_snapshot());
  EXPECT_TRUE(manifests.ok()) << manifests.status();
  for (const auto& manifest : manifests.ValueOr({})) {
    auto entries = iceberg::ReadManifest(table.store()->io(), metadata, manifest);
    EXPECT_TRUE(entries.ok()) << entries.status();
    for (const auto& entry : entries.ValueOr({})) {
      if (entry.is_live()) paths.push_back(entry.file.file_path);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Checks that the history of a table that only appends went to is one line, with nothing lost: every snapshot has the
/// one before as parent, sequence numbers count up, and the data files are all there.
inline void ExpectWholeHistory(const Table& table, int commits) {
  const iceberg::TableMetadata& metadata = table.version()->metadata;
  ASSERT_EQ(metadata.snapshots.size(), static_cast<size_t>(commits));
  for (size_t i = 0; i < metadata.snapshots.size(); ++i) {
    EXPECT_EQ(metadata.snapshots[i].sequence_number, static_cast<int64_t>(i) + 1);
    if (i == 0) continue;
    EXPECT_EQ(metadata.snapshots[i].parent_snapshot_id, metadata.snapshots[i - 1].snapshot_id);
  }
  EXPECT_EQ(metadata.snapshot_log.size(), static_cast<size_t>(commits));
  EXPECT_EQ(metadata.current_snapshot_id, metadata.snapshots.back().snapshot_id);
  EXPECT_EQ(LiveDataFiles(table).size(), static_cast<size_t>(commits));
}

/// Runs `work(i)` for i < count in a forked process each; all must return true.
inline void InProcesses(int count, const std::function<bool(int)>& work) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(work(i) ? 0 : 1);
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a process failed";
  }
}

/// In this process, writes beyond `bytes` of any file fail from now on, as on a full disk.
inline void LimitFileSize(rlim_t bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
}

}  // namespace calve::testing
