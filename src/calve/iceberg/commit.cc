#include "calve/iceberg/commit.h"

#include "calve/base/status.h"
#include "calve/iceberg/commit_retry.h"
#include "calve/iceberg/metadata_file.h"
#include "calve/iceberg/snapshot_producer.h"
#include "calve/io/file_io.h"

#include <set>

namespace calve::iceberg {
namespace {

Status CheckChange(const SnapshotChange& change) {
  if (change.operation == "append") {
    if (!change.removed.empty()) return Invalid("an append cannot remove files: {} given", change.removed.size());
    return Status::OK();
  }
  if (change.operation != "replace") return NotImplemented("snapshots with the operation '{}'", change.operation);
  if (change.removed.empty()) return Invalid("a replace must remove files: none given");
  std::set<std::string_view> removed;
  for (const std::string& file : change.removed) {
    if (!removed.insert(file).second) return Invalid("data file {} is listed twice in what is replaced", file);
  }
  return Status::OK();
}

/// The folder of a file, as text; ".." stays, and so never equals the folder that it leads to.
std::string FolderOf(const std::string& location) {
  const std::string normal = NormalizeLocation(location);
  return normal.substr(0, normal.size() - FileNameOf(normal).size());
}

/// A commit under way: the loop of attempts and what they share.
class Commit {
 public:
  Commit(TableStore& store, const TableVersion& base, const SnapshotChange& change)
      : store_(store), base_(base), producer_(store.io(), base, change) {}

  Result<CommitResult> Run() {
    Result<CommitResult> result = Attempts();
    if (result.ok()) {
      producer_.DeleteAllBut(result->snapshot);
      DeleteDroppedMetadata(result->version);
    } else if (CommitFailureOf(result.status()) != CommitFailure::kStateUnknown) {
      producer_.DeleteAll();
    }
    return result;
  }

 private:
  Result<CommitResult> Attempts() {
    ARROW_ASSIGN_OR_RAISE(RetryWait retry, RetryWait::ForCommits(base_.metadata));
    TableVersion current = base_;
    for (int attempt = 1;; ++attempt) {
      ARROW_ASSIGN_OR_RAISE(TableMetadata next, producer_.Apply(current));
      Result<TableVersion> swapped = store_.Swap(current, next);
      if (swapped.ok()) return Committed(std::move(*swapped), attempt);

      Status failure = swapped.status();
      const CommitFailure kind = CommitFailureOf(failure);
      if (kind == CommitFailure::kNone) return failure;
      if (kind == CommitFailure::kStateUnknown) {
        ARROW_ASSIGN_OR_RAISE(std::optional<TableVersion> found, LookUp(failure));
        if (found) return Committed(std::move(*found), attempt);
        // Looked up and not there: as good as a conflict.
        failure = CommitError(CommitFailure::kConflict, failure.message());
      }
      if (!retry.Next()) {
        return WithContext(failure, fmt::format("{}: commit given up after {} attempts", store_.name(), attempt));
      }
      ARROW_ASSIGN_OR_RAISE(current, Reload());
      // An attempt that was not there when it was looked up may have come through since.
      if (current.metadata.FindSnapshot(producer_.snapshot_id()) != nullptr) {
        return Committed(std::move(current), attempt);
      }
    }
  }

  Result<CommitResult> Committed(TableVersion version, int attempts) const {
    const Snapshot* snapshot = version.metadata.FindSnapshot(producer_.snapshot_id());
    if (snapshot == nullptr) return Invalid("{}: the committed metadata lacks the new snapshot", store_.name());
    CommitResult result{*snapshot, {}, attempts};
    result.version = std::move(version);
    return result;
  }

  /// The newest version, which must still be the same table.
  Result<TableVersion> Reload() {
    ARROW_ASSIGN_OR_RAISE(TableVersion version, store_.Load());
    const std::string& expected = base_.metadata.table_uuid;
    if (!expected.empty() && version.metadata.table_uuid != expected) {
      return Invalid("{}: the table was replaced by another one: uuid {}, expected {}", store_.name(),
                     version.metadata.table_uuid, expected);
    }
    return version;
  }

  /// Looks for our snapshot after an attempt with unknown outcome: the version that has it, or nothing when every look
  /// found a table without it. When no look succeeds the outcome stays unknown.
  Result<std::optional<TableVersion>> LookUp(const Status& unknown) {
    ARROW_ASSIGN_OR_RAISE(RetryWait checks, RetryWait::ForStatusChecks(base_.metadata));
    bool looked = false;
    Status last;
    do {
      Result<TableVersion> version = Reload();
      looked = version.ok();
      last = version.status();
      if (looked && version->metadata.FindSnapshot(producer_.snapshot_id()) != nullptr) {
        return std::move(*version);
      }
    } while (checks.Next());
    if (looked) return std::nullopt;
    return CommitError(
        CommitFailure::kStateUnknown,
        fmt::format("{}: it is not known whether snapshot {} was committed: {}; looking it up failed: {}",
                    store_.name(), producer_.snapshot_id(), unknown.message(), last.message()));
  }

  /// `write.metadata.delete-after-commit.enabled`: deletes metadata files that fell off the log with this commit.
  void DeleteDroppedMetadata(const TableVersion& committed) const {
    const TableMetadata& next = committed.metadata;
    Result<bool> enabled = next.BoolProperty("write.metadata.delete-after-commit.enabled", false);
    if (!enabled.ok() || !*enabled) return;
    std::set<std::string> kept;
    for (const LogEntry& entry : next.metadata_log) kept.insert(entry.metadata_file);
    const std::string folder = FolderOf(committed.metadata_location);
    for (const LogEntry& entry : base_.metadata.metadata_log) {
      const std::string& file = entry.metadata_file;
      // The log is only text: what is not a metadata file beside the new one may be anybody's.
      if (kept.contains(file) || !ParseMetadataFileName(FileNameOf(file)) || FolderOf(file) != folder) continue;
      ARROW_UNUSED(store_.io().Delete(file));
    }
  }

  TableStore& store_;
  const TableVersion base_;  // a copy: the caller's may be the store's own, which changes with the commit
  SnapshotProducer producer_;
};

}  // namespace

Result<CommitResult> CommitSnapshot(TableStore& store, const TableVersion& base, const SnapshotChange& change) {
  ARROW_RETURN_NOT_OK(CheckChange(change));
  ARROW_RETURN_NOT_OK(store.CheckWritable(base));
  return Commit(store, base, change).Run();
}

}  // namespace calve::iceberg
