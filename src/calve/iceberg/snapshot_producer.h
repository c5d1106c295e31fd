#pragma once

#include "calve/iceberg/commit.h"
#include "calve/iceberg/commit_files.h"
#include "calve/iceberg/replace_validation.h"
#include "calve/iceberg/snapshot_summary.h"

#include <map>
#include <unordered_set>

namespace calve::iceberg {

/// Makes the snapshot of one change, once an attempt, each time on top of another version of the table. The snapshot id
/// stays the same over the attempts, so that an attempt whose outcome was unknown can be recognized later.
class SnapshotProducer {
 public:
  /// `change` and `io` outlive the producer. `planned_on`: the version the caller planned on.
  SnapshotProducer(const FileIO& io, const TableVersion& planned_on, const SnapshotChange& change);

  /// Validates the change against `base`, writes its manifests and manifest list, and returns the metadata that has the
  /// snapshot.
  Result<TableMetadata> Apply(const TableVersion& base);

  /// The id of the snapshot, the same in every attempt (0 before the first).
  int64_t snapshot_id() const { return snapshot_id_; }

  /// Deletes manifests and lists that `committed`, the snapshot as the table has it, does not name.
  void DeleteAllBut(const Snapshot& committed);
  void DeleteAll();

 private:
  /// One attempt's view: what it builds on and what it has found so far.
  struct Attempt;

  Status CheckAdded(const TableMetadata& metadata) const;
  /// The manifests of the parent that stay, those with removed files replaced.
  Result<std::vector<ManifestFile>> KeepManifests(Attempt* attempt);
  /// Refuses added files that are in `manifest` already, where the change asks for it.
  Status CheckAddedIsNew(const Attempt& attempt, const ManifestFile& manifest);
  Status RewriteManifest(Attempt* attempt, const ManifestFile& manifest, bool* touched);
  Status FlushRewritten(Attempt* attempt, int spec_id);
  Status CheckReplace(Attempt* attempt) const;
  /// The manifests that hold the added files, one a spec; written once and used again by later attempts.
  Result<std::vector<ManifestFile>> AddedManifests(const Attempt& attempt);
  Result<Snapshot> WriteSnapshot(Attempt* attempt, std::vector<ManifestFile> manifests, int64_t* next_row_id);

  const SnapshotChange& change_;
  std::optional<int64_t> starting_snapshot_id_;
  std::unordered_set<std::string> removed_;  ///< paths
  int64_t snapshot_id_ = 0;
  CommitFiles files_;
  /// Manifests of the added files, and what they depend on beside the change.
  std::vector<ManifestFile> added_manifests_;
  std::pair<int, int64_t> added_manifests_of_{0, 0};  ///< format version, snapshot id
  /// Manifests, by path, that a former attempt found to hold no removed file.
  std::unordered_set<std::string> without_removed_;
  /// Normalized paths of added files that must be new, and manifests, by path, that were found to hold none of them.
  std::unordered_set<std::string> must_be_new_, without_added_;
  /// Paths of the manifests that each list names.
  std::map<std::string, std::vector<std::string>> manifests_of_list_;
};

}  // namespace calve::iceberg
