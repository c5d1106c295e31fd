#include "calve/iceberg/manifest_merge.h"

#include "calve/base/status.h"

#include <algorithm>
#include <map>

namespace calve::iceberg {
namespace {

bool CanMerge(const ManifestFile& manifest) { return !manifest.is_deletes && manifest.key_metadata.empty(); }

/// Cuts `manifests` into runs of at most `target` bytes, filled from the end: the run that is left short is the first
/// one, which the next commit adds to.
std::vector<std::vector<ManifestFile>> PackFromEnd(std::vector<ManifestFile> manifests, int64_t target) {
  std::vector<std::vector<ManifestFile>> runs;
  int64_t size_bytes = 0;
  for (auto manifest = manifests.rbegin(); manifest != manifests.rend(); ++manifest) {
    if (runs.empty() || size_bytes + manifest->manifest_length > target) {
      runs.emplace_back();
      size_bytes = 0;
    }
    size_bytes += manifest->manifest_length;
    runs.back().push_back(std::move(*manifest));
  }
  for (auto& run : runs) std::reverse(run.begin(), run.end());
  std::reverse(runs.begin(), runs.end());
  return runs;
}

/// Nothing when no entry of the run is carried over.
Result<std::optional<ManifestFile>> MergeRun(CommitFiles* files, const TableMetadata& metadata,
                                             const AttemptIds& attempt, const std::vector<ManifestFile>& run) {
  std::vector<ManifestEntry> merged;
  for (const ManifestFile& manifest : run) {
    ARROW_ASSIGN_OR_RAISE(std::vector<ManifestEntry> entries, ReadManifest(files->io(), metadata, manifest));
    for (ManifestEntry& entry : entries) {
      std::optional<ManifestEntry> carried = CarryOver(std::move(entry), attempt.snapshot_id);
      if (carried) merged.push_back(std::move(*carried));
    }
  }
  if (merged.empty()) return std::nullopt;
  return files->WriteDataManifest(metadata, attempt, run.front().partition_spec_id, merged);
}

}  // namespace

std::optional<ManifestEntry> CarryOver(ManifestEntry entry, int64_t snapshot_id) {
  const bool of_this_snapshot = entry.snapshot_id == snapshot_id;
  if (entry.status == EntryStatus::kDeleted && !of_this_snapshot) return std::nullopt;
  if (entry.status == EntryStatus::kAdded && !of_this_snapshot) entry.status = EntryStatus::kExisting;
  if (entry.status != EntryStatus::kAdded) return entry;
  // What this snapshot adds inherits its numbers from the new manifest, as before. A data sequence number that differs
  // from the file's was given explicitly and stays.
  if (entry.sequence_number == entry.file_sequence_number) entry.sequence_number.reset();
  entry.file_sequence_number.reset();
  entry.file.first_row_id.reset();
  return entry;
}

Result<MergePolicy> MergePolicy::Of(const TableMetadata& metadata) {
  MergePolicy policy;
  ARROW_ASSIGN_OR_RAISE(policy.enabled, metadata.BoolProperty("commit.manifest-merge.enabled", policy.enabled));
  ARROW_ASSIGN_OR_RAISE(policy.min_count, metadata.IntProperty("commit.manifest.min-count-to-merge", policy.min_count));
  ARROW_ASSIGN_OR_RAISE(policy.target_size_bytes,
                        metadata.IntProperty("commit.manifest.target-size-bytes", policy.target_size_bytes));
  return policy;
}

Result<std::vector<ManifestFile>> MergeManifests(CommitFiles* files, const TableMetadata& metadata,
                                                 const AttemptIds& attempt, const MergePolicy& policy,
                                                 std::vector<ManifestFile> manifests, int64_t* replaced) {
  if (!policy.enabled || manifests.empty()) return manifests;
  const std::string newest = manifests.front().manifest_path;
  std::map<int, std::vector<ManifestFile>, std::greater<>> by_spec;
  std::vector<ManifestFile> kept;
  for (ManifestFile& manifest : manifests) {
    (CanMerge(manifest) ? by_spec[manifest.partition_spec_id] : kept).push_back(std::move(manifest));
  }
  std::vector<ManifestFile> merged;
  for (auto& [spec_id, group] : by_spec) {
    for (std::vector<ManifestFile>& run : PackFromEnd(std::move(group), policy.target_size_bytes)) {
      const bool waits = run.front().manifest_path == newest && static_cast<int64_t>(run.size()) < policy.min_count;
      if (run.size() == 1 || waits) {
        std::move(run.begin(), run.end(), std::back_inserter(merged));
        continue;
      }
      Result<std::optional<ManifestFile>> manifest = MergeRun(files, metadata, attempt, run);
      if (manifest.status().IsNotImplemented()) {
        // Partition values of a type that no schema tells any more: a commit does not depend on merging them.
        std::move(run.begin(), run.end(), std::back_inserter(merged));
        continue;
      }
      ARROW_RETURN_NOT_OK(manifest.status());
      if (*manifest) merged.push_back(std::move(**manifest));
      *replaced += std::count_if(run.begin(), run.end(),
                                 [&](const ManifestFile& m) { return m.added_snapshot_id != attempt.snapshot_id; });
    }
  }
  std::move(kept.begin(), kept.end(), std::back_inserter(merged));
  return merged;
}

}  // namespace calve::iceberg
