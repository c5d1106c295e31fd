#pragma once

#include "calve/iceberg/commit_files.h"

namespace calve::iceberg {

/// When manifests are merged: `commit.manifest-merge.enabled`, `commit.manifest.min-count-to-merge`,
/// `commit.manifest.target-size-bytes`.
struct MergePolicy {
  bool enabled = true;
  int64_t min_count = 100;
  int64_t target_size_bytes = int64_t{8} << 20;

  static Result<MergePolicy> Of(const TableMetadata& metadata);
};

/// Merges the data manifests of one spec that together fit the target size, newest first, so that a table of many small
/// commits keeps a short list. The group that holds the newest manifest waits until it has `min_count` members. Entries
/// of the snapshot being made keep their status; those of older snapshots become EXISTING with their sequence numbers
/// written out, and what older snapshots deleted is dropped. Delete manifests, encrypted ones and those with
/// partition values of a type that is not known any more stay as they are.
///
/// `manifests`: newest first. `replaced` is advanced by the manifests of older snapshots that were merged away.
Result<std::vector<ManifestFile>> MergeManifests(CommitFiles* files, const TableMetadata& metadata,
                                                 const AttemptIds& attempt, const MergePolicy& policy,
                                                 std::vector<ManifestFile> manifests, int64_t* replaced);

/// An entry as it is written into another manifest by snapshot `snapshot_id`: see MergeManifests. Nothing when it is
/// dropped.
std::optional<ManifestEntry> CarryOver(ManifestEntry entry, int64_t snapshot_id);

}  // namespace calve::iceberg
