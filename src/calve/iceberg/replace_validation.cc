#include "calve/iceberg/replace_validation.h"

#include "calve/base/status.h"
#include "calve/iceberg/partition_key.h"

#include <unordered_map>

namespace calve::iceberg {
namespace {

/// Field id of `file_path` in position delete files.
constexpr int kDeleteFilePathFieldId = 2147483546;

/// Finds the replaced files that a delete file applies to ("Scan Planning", the scope rules of deletes).
class ReplacedIndex {
 public:
  ReplacedIndex(const TableMetadata& metadata, const Replacement& replacement, const std::vector<ReplacedFile>& files)
      : metadata_(metadata), replacement_(replacement), files_(files) {
    for (const ReplacedFile& file : files) {
      by_path_[file.file.file_path] = &file;
      by_partition_[PartitionKey::Of(file.file)].push_back(&file);
    }
  }

  /// A replaced file that `entry` makes it impossible to replace, or null.
  const ReplacedFile* FindConflict(const ManifestEntry& entry) const {
    const int64_t sequence_number = entry.sequence_number.value_or(0);
    if (entry.file.content == FileContent::kEqualityDeletes) return FindEqualityConflict(entry.file, sequence_number);
    return FindPositionConflict(entry.file, sequence_number);
  }

 private:
  const ReplacedFile* FindEqualityConflict(const DataFile& deletes, int64_t sequence_number) const {
    const PartitionSpec* spec = metadata_.FindSpec(deletes.spec_id);
    const bool global = spec != nullptr && spec->unpartitioned();
    const bool still_applies = replacement_.data_sequence_number &&
                               sequence_number > *replacement_.data_sequence_number &&
                               (global || replacement_.keeps_spec);
    if (still_applies) return nullptr;
    auto applies = [&](const ReplacedFile& file) { return file.sequence_number < sequence_number; };
    if (global) return FindIn(files_, applies);
    return FindInPartition(deletes, applies);
  }

  const ReplacedFile* FindPositionConflict(const DataFile& deletes, int64_t sequence_number) const {
    auto applies = [&](const ReplacedFile& file) {
      return file.sequence_number <= sequence_number && MayName(deletes, file.file.file_path);
    };
    if (deletes.referenced_data_file) {
      auto found = by_path_.find(*deletes.referenced_data_file);
      return found != by_path_.end() && found->second->sequence_number <= sequence_number ? found->second : nullptr;
    }
    return FindInPartition(deletes, applies);
  }

  /// False when the bounds of the delete file's paths exclude `path`.
  static bool MayName(const DataFile& deletes, const std::string& path) {
    auto lower = deletes.lower_bounds.find(kDeleteFilePathFieldId);
    auto upper = deletes.upper_bounds.find(kDeleteFilePathFieldId);
    if (lower != deletes.lower_bounds.end() && path < lower->second) return false;
    return upper == deletes.upper_bounds.end() || path <= upper->second;
  }

  template <typename Files, typename Applies>
  static const ReplacedFile* FindIn(const Files& files, const Applies& applies) {
    for (const auto& file : files) {
      if (applies(file)) return &file;
    }
    return nullptr;
  }

  template <typename Applies>
  const ReplacedFile* FindInPartition(const DataFile& deletes, const Applies& applies) const {
    auto found = by_partition_.find(PartitionKey::Of(deletes));
    if (found == by_partition_.end()) return nullptr;
    for (const ReplacedFile* file : found->second) {
      if (applies(*file)) return file;
    }
    return nullptr;
  }

  const TableMetadata& metadata_;
  const Replacement& replacement_;
  const std::vector<ReplacedFile>& files_;
  std::unordered_map<std::string, const ReplacedFile*> by_path_;
  std::unordered_map<PartitionKey, std::vector<const ReplacedFile*>, PartitionKeyHash> by_partition_;
};

/// Checks the deletes that `snapshot` itself added.
Status CheckSnapshot(const FileIO& io, const TableMetadata& metadata, const Snapshot& snapshot,
                     const ReplacedIndex& index) {
  ARROW_ASSIGN_OR_RAISE(std::vector<ManifestFile> manifests, ManifestsOf(io, metadata, snapshot));
  for (const ManifestFile& manifest : manifests) {
    if (!manifest.is_deletes || manifest.added_snapshot_id != snapshot.snapshot_id) continue;
    ARROW_ASSIGN_OR_RAISE(std::vector<ManifestEntry> entries, ReadManifest(io, metadata, manifest));
    for (const ManifestEntry& entry : entries) {
      if (entry.status != EntryStatus::kAdded || entry.snapshot_id != snapshot.snapshot_id) continue;
      const ReplacedFile* conflict = index.FindConflict(entry);
      if (conflict == nullptr) continue;
      return Invalid("conflict: snapshot {} deleted rows of {} after the rewrite was planned (by {})",
                     snapshot.snapshot_id, conflict->file.file_path, entry.file.file_path);
    }
  }
  return Status::OK();
}

}  // namespace

Status CheckNoNewDeletes(const FileIO& io, const TableMetadata& metadata, const Snapshot& head,
                         const Replacement& replacement, const std::vector<ReplacedFile>& replaced) {
  if (metadata.format_version < 2) return Status::OK();
  const ReplacedIndex index(metadata, replacement, replaced);
  const Snapshot* snapshot = &head;
  while (snapshot->snapshot_id != replacement.starting_snapshot_id) {
    if (snapshot->operation() != "replace") {
      ARROW_RETURN_NOT_OK(CheckSnapshot(io, metadata, *snapshot, index));
    }
    if (!snapshot->parent_snapshot_id && !replacement.starting_snapshot_id) return Status::OK();
    const Snapshot* parent =
        snapshot->parent_snapshot_id ? metadata.FindSnapshot(*snapshot->parent_snapshot_id) : nullptr;
    if (parent == nullptr) {
      return Invalid(
          "conflict: the history between the snapshot planned on ({}) and the current one ({}) is gone: {} has no "
          "parent",
          replacement.starting_snapshot_id.value_or(-1), head.snapshot_id, snapshot->snapshot_id);
    }
    snapshot = parent;
  }
  return Status::OK();
}

}  // namespace calve::iceberg
