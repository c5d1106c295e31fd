#pragma once

#include "calve/iceberg/manifest.h"

#include <functional>

namespace calve::iceberg {

/// A table at a version: its metadata, and where that lies.
struct TableVersion {
  TableMetadata metadata;
  std::string metadata_location;
};

/// How a catalog loads and swaps a table's metadata. Implemented by the catalogs; thread-compatible.
class TableStore {
 public:
  virtual ~TableStore() = default;
  virtual const FileIO& io() const = 0;
  /// A name for messages: "db.table" or a path.
  virtual const std::string& name() const = 0;
  /// The current version, read afresh.
  virtual Result<TableVersion> Load() = 0;
  /// Writes `next` as a new metadata file and makes it current if `base` still is. Returns the new version. Fails with
  /// CommitFailure::kConflict when another version is current (nothing of ours is left then), and with kStateUnknown
  /// when it cannot be known whether the swap happened (the metadata file then stays).
  virtual Result<TableVersion> Swap(const TableVersion& base, const TableMetadata& next) = 0;
  /// OK when Swap may succeed on `version`; otherwise why not: opened by its metadata file, owned by another catalog,
  /// copied elsewhere without a path map. To be asked before data is written.
  virtual Status CheckWritable(const TableVersion& version) const { return Status::OK(); }
};

/// What a snapshot does to a table. A branch that does not exist yet is made, on top of the current snapshot.
struct SnapshotChange {
  std::string operation;  ///< "append" or "replace"
  std::vector<DataFile> added;
  /// Set: the commit fails with Invalid naming the file when an added one is a live data file already of the version
  /// committed to (after lost races too). For files whose names are not new.
  bool added_must_be_new = false;
  /// For "replace": the files taken away, by path, and the snapshot that they were planned on. The commit fails with
  /// Invalid naming the file when one of them is no longer live, is live twice, or when a delete that applies to one of
  /// them was committed since (validation of "rewrite" in the specification's terms). The added files have as many
  /// records as the removed ones.
  std::vector<std::string> removed;
  std::optional<int64_t> starting_snapshot_id;  ///< none: the head of `branch` in the version given to CommitSnapshot
  /// For "replace": the data sequence number that added files take over (use-starting-sequence-number).
  std::optional<int64_t> data_sequence_number;
  std::map<std::string, std::string> extra_summary;
  /// Table properties that the commit sets. Invalid when the table has another value for one of them by then.
  std::map<std::string, std::string> new_properties;
  std::string branch = "main";
};

struct CommitResult {
  Snapshot snapshot;
  TableVersion version;
  int attempts = 1;
};

/// Commits `change`, with retries bounded by the table's `commit.retry.*` properties: on a conflict the newest version
/// is loaded and the snapshot made again on top of it. Added files keep their names; only manifests are written again,
/// and those of lost attempts are deleted. Added data files of a failed commit are left to the caller.
///
/// An outcome that is not known is looked up (is our snapshot in the table?) before anything is tried again, and
/// reported as kStateUnknown when it cannot be. `base`: the version that the caller planned on; used for the first
/// attempt.
Result<CommitResult> CommitSnapshot(TableStore& store, const TableVersion& base, const SnapshotChange& change);

/// The next metadata for `base` with `snapshot` on `branch`: logs, refs, sequence numbers, next row id.
Result<TableMetadata> WithSnapshot(const TableVersion& base, const Snapshot& snapshot, const std::string& branch,
                                   int64_t next_row_id);

/// A new snapshot id: random, positive, not in use.
int64_t NewSnapshotId(const TableMetadata& metadata);
/// A random (version 4) UUID as text. From the operating system, so that forked processes differ.
std::string NewUuid();
/// The time of the next change to the table: now, but never before its last change.
int64_t NextTimestampMs(const TableMetadata& metadata);

/// Where data files go: `write.data.path`, else location/data; metadata files: `write.metadata.path`, else
/// location/metadata.
std::string DataLocation(const TableMetadata& metadata);
std::string MetadataLocation(const TableMetadata& metadata);

}  // namespace calve::iceberg
