#include "calve/iceberg/snapshot_producer.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/iceberg/manifest_merge.h"
#include "calve/io/file_io.h"

#include <algorithm>
#include <set>

namespace calve::iceberg {
namespace {

/// The snapshot that a commit to `branch` builds on; null for the first one.
Result<const Snapshot*> HeadOf(const TableMetadata& metadata, const std::string& branch) {
  auto ref = metadata.refs.find(branch);
  const bool exists = ref != metadata.refs.end();
  if (exists && !ref->second.is_branch) return Invalid("'{}' is a tag: only branches can be committed to", branch);
  const std::optional<int64_t> id = exists ? std::optional(ref->second.snapshot_id) : metadata.current_snapshot_id;
  if (!id) return nullptr;
  const Snapshot* snapshot = metadata.FindSnapshot(*id);
  // Going on without a parent would lose the table's rows.
  if (snapshot == nullptr)
    return Invalid("branch '{}' points to snapshot {}, which the table does not have", branch, *id);
  return snapshot;
}

/// The parts of a file that validation and summary need; column metrics are most of its size.
DataFile WithoutMetrics(const DataFile& file) {
  DataFile slim;
  slim.file_path = file.file_path;
  slim.spec_id = file.spec_id;
  slim.partition = file.partition;
  slim.record_count = file.record_count;
  slim.file_size_in_bytes = file.file_size_in_bytes;
  return slim;
}

bool HasCounts(const ManifestFile& manifest) {
  return manifest.added_files_count && manifest.existing_files_count && manifest.deleted_files_count &&
         manifest.added_rows_count && manifest.existing_rows_count && manifest.deleted_rows_count;
}

/// Fills in the counts that lists of format v1 may leave out and later ones must have.
Status CompleteCounts(const FileIO& io, const TableMetadata& metadata, ManifestFile* manifest) {
  if (HasCounts(*manifest)) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(std::vector<ManifestEntry> entries, ReadManifest(io, metadata, *manifest));
  int64_t files[3] = {0, 0, 0}, rows[3] = {0, 0, 0};
  for (const ManifestEntry& entry : entries) {
    files[static_cast<int>(entry.status)] += 1;
    rows[static_cast<int>(entry.status)] += entry.file.record_count;
  }
  manifest->existing_files_count = files[static_cast<int>(EntryStatus::kExisting)];
  manifest->added_files_count = files[static_cast<int>(EntryStatus::kAdded)];
  manifest->deleted_files_count = files[static_cast<int>(EntryStatus::kDeleted)];
  manifest->existing_rows_count = rows[static_cast<int>(EntryStatus::kExisting)];
  manifest->added_rows_count = rows[static_cast<int>(EntryStatus::kAdded)];
  manifest->deleted_rows_count = rows[static_cast<int>(EntryStatus::kDeleted)];
  return Status::OK();
}

}  // namespace

struct SnapshotProducer::Attempt {
  const TableMetadata& metadata;
  const Snapshot* parent = nullptr;
  AttemptIds ids;
  MergePolicy merge;
  SnapshotSummary summary;
  int64_t replaced_manifests = 0;

  std::vector<ReplacedFile> replaced;
  std::unordered_set<std::string> missing;  ///< removed files not found yet
  /// Entries of manifests with removed files, waiting to be written together, by spec, and the size they had.
  struct Rewritten {
    std::vector<ManifestEntry> entries;
    int64_t source_bytes = 0;
  };
  std::map<int, Rewritten> pending;
  std::vector<ManifestFile> rewritten;
};

SnapshotProducer::SnapshotProducer(const FileIO& io, const TableVersion& planned_on, const SnapshotChange& change)
    : change_(change),
      starting_snapshot_id_(change.starting_snapshot_id),
      removed_(change.removed.begin(), change.removed.end()),
      files_(io) {
  if (change.added_must_be_new) {
    for (const DataFile& file : change.added) must_be_new_.insert(NormalizeLocation(file.file_path));
  }
  if (starting_snapshot_id_) return;
  const Snapshot* head = HeadOf(planned_on.metadata, change.branch).ValueOr(nullptr);
  if (head != nullptr) starting_snapshot_id_ = head->snapshot_id;
}

Result<TableMetadata> SnapshotProducer::Apply(const TableVersion& base) {
  const TableMetadata& metadata = base.metadata;
  if (!metadata.Property("encryption.key-id", "").empty()) return NotImplemented("writing to an encrypted table");
  ARROW_RETURN_NOT_OK(CheckAdded(metadata));
  if (snapshot_id_ == 0 || metadata.FindSnapshot(snapshot_id_) != nullptr) snapshot_id_ = NewSnapshotId(metadata);

  Attempt attempt{.metadata = metadata};
  ARROW_ASSIGN_OR_RAISE(attempt.parent, HeadOf(metadata, change_.branch));
  const std::optional<int64_t> sequence_number = CheckedAdd<int64_t>(metadata.last_sequence_number, 1);
  if (!sequence_number) return Invalid("the sequence number overflows: the last is {}", metadata.last_sequence_number);
  attempt.ids = {snapshot_id_, metadata.format_version == 1 ? 0 : *sequence_number};
  ARROW_ASSIGN_OR_RAISE(attempt.merge, MergePolicy::Of(metadata));
  ARROW_ASSIGN_OR_RAISE(std::vector<ManifestFile> kept, KeepManifests(&attempt));
  ARROW_RETURN_NOT_OK(CheckReplace(&attempt));

  ARROW_ASSIGN_OR_RAISE(std::vector<ManifestFile> manifests, AddedManifests(attempt));
  manifests.insert(manifests.end(), attempt.rewritten.begin(), attempt.rewritten.end());
  manifests.insert(manifests.end(), kept.begin(), kept.end());
  ARROW_ASSIGN_OR_RAISE(manifests, MergeManifests(&files_, metadata, attempt.ids, attempt.merge, std::move(manifests),
                                                  &attempt.replaced_manifests));
  int64_t next_row_id = metadata.next_row_id;
  ARROW_ASSIGN_OR_RAISE(Snapshot snapshot, WriteSnapshot(&attempt, std::move(manifests), &next_row_id));
  ARROW_ASSIGN_OR_RAISE(TableMetadata next, WithSnapshot(base, snapshot, change_.branch, next_row_id));
  for (const auto& [key, value] : change_.new_properties) {
    if (next.properties.emplace(key, value).first->second == value) continue;
    return Invalid("conflict: table property {} was set by another writer", key);
  }
  return next;
}

Status SnapshotProducer::CheckAdded(const TableMetadata& metadata) const {
  std::unordered_set<std::string> paths;
  for (const DataFile& file : change_.added) {
    if (file.content != FileContent::kData) return Invalid("{} is a delete file, not a data file", file.file_path);
    if (!paths.insert(file.file_path).second) return Invalid("{} is added twice", file.file_path);
    if (removed_.contains(file.file_path)) return Invalid("{} is both added and removed", file.file_path);
    if (metadata.FindSpec(file.spec_id) == nullptr) {
      return Invalid("{} has partition spec {}, which the table does not have", file.file_path, file.spec_id);
    }
  }
  return Status::OK();
}

Result<std::vector<ManifestFile>> SnapshotProducer::KeepManifests(Attempt* attempt) {
  std::vector<ManifestFile> kept;
  attempt->missing = removed_;
  if (attempt->parent == nullptr) return kept;
  ARROW_ASSIGN_OR_RAISE(std::vector<ManifestFile> manifests,
                        ManifestsOf(files_.io(), attempt->metadata, *attempt->parent));
  for (ManifestFile& manifest : manifests) {
    if (!manifest.might_have_live_files()) continue;
    ARROW_RETURN_NOT_OK(CheckAddedIsNew(*attempt, manifest));
    bool touched = false;
    ARROW_RETURN_NOT_OK(RewriteManifest(attempt, manifest, &touched));
    if (touched) continue;
    if (attempt->metadata.format_version >= 2 || attempt->parent->manifest_list.empty()) {
      ARROW_RETURN_NOT_OK(CompleteCounts(files_.io(), attempt->metadata, &manifest));
    }
    kept.push_back(std::move(manifest));
  }
  while (!attempt->pending.empty()) ARROW_RETURN_NOT_OK(FlushRewritten(attempt, attempt->pending.begin()->first));
  return kept;
}

Status SnapshotProducer::CheckAddedIsNew(const Attempt& attempt, const ManifestFile& manifest) {
  if (must_be_new_.empty() || manifest.is_deletes || without_added_.contains(manifest.manifest_path)) {
    return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(std::vector<ManifestEntry> entries, ReadManifest(files_.io(), attempt.metadata, manifest));
  for (const ManifestEntry& entry : entries) {
    if (entry.is_live() && must_be_new_.contains(NormalizeLocation(entry.file.file_path))) {
      return Invalid("{} is in the table already", entry.file.file_path);
    }
  }
  without_added_.insert(manifest.manifest_path);
  return Status::OK();
}

Status SnapshotProducer::RewriteManifest(Attempt* attempt, const ManifestFile& manifest, bool* touched) {
  // Manifests are read on when nothing is missing any more: a file may be live twice.
  if (removed_.empty() || manifest.is_deletes || without_removed_.contains(manifest.manifest_path)) {
    return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(std::vector<ManifestEntry> entries, ReadManifest(files_.io(), attempt->metadata, manifest));
  auto is_removed = [&](const ManifestEntry& entry) {
    return entry.is_live() && removed_.contains(entry.file.file_path);
  };
  *touched = std::any_of(entries.begin(), entries.end(), is_removed);
  if (!*touched) {
    without_removed_.insert(manifest.manifest_path);
    return Status::OK();
  }
  if (!manifest.key_metadata.empty())
    return NotImplemented("rewriting the encrypted manifest {}", manifest.manifest_path);
  attempt->replaced_manifests += 1;
  Attempt::Rewritten& pending = attempt->pending[manifest.partition_spec_id];
  pending.source_bytes += manifest.manifest_length;
  for (ManifestEntry& entry : entries) {
    if (is_removed(entry)) {
      // Both entries would go, and the rows of one come back.
      if (attempt->missing.erase(entry.file.file_path) == 0) {
        return Invalid("data file {} is live twice in the table: it cannot be replaced", entry.file.file_path);
      }
      attempt->replaced.push_back({WithoutMetrics(entry.file), entry.sequence_number.value_or(0)});
      attempt->summary.Remove(entry.file);
      entry.status = EntryStatus::kDeleted;
      entry.snapshot_id = attempt->ids.snapshot_id;
    }
    std::optional<ManifestEntry> carried = CarryOver(std::move(entry), attempt->ids.snapshot_id);
    if (carried) pending.entries.push_back(std::move(*carried));
  }
  if (pending.source_bytes < attempt->merge.target_size_bytes) return Status::OK();
  return FlushRewritten(attempt, manifest.partition_spec_id);
}

Status SnapshotProducer::FlushRewritten(Attempt* attempt, int spec_id) {
  auto node = attempt->pending.extract(spec_id);
  ARROW_ASSIGN_OR_RAISE(ManifestFile manifest,
                        files_.WriteDataManifest(attempt->metadata, attempt->ids, spec_id, node.mapped().entries));
  attempt->rewritten.push_back(std::move(manifest));
  return Status::OK();
}

Status SnapshotProducer::CheckReplace(Attempt* attempt) const {
  for (const DataFile& file : change_.added) attempt->summary.Add(file);
  if (removed_.empty()) return Status::OK();
  if (!attempt->missing.empty()) {
    const std::string& first = *std::min_element(attempt->missing.begin(), attempt->missing.end());
    return Invalid(
        "conflict: {} is no longer in the table{}", first,
        attempt->missing.size() == 1 ? "" : fmt::format(" (nor are {} others)", attempt->missing.size() - 1));
  }
  if (attempt->summary.added_records() != attempt->summary.removed_records()) {
    return Invalid("a replace neither adds nor loses rows: {} rows added in the place of {}",
                   attempt->summary.added_records(), attempt->summary.removed_records());
  }
  std::set<int> spec_ids;
  for (const DataFile& file : change_.added) spec_ids.insert(file.spec_id);
  for (const ReplacedFile& file : attempt->replaced) spec_ids.insert(file.file.spec_id);
  const Replacement replacement{starting_snapshot_id_, change_.data_sequence_number, spec_ids.size() == 1};
  return CheckNoNewDeletes(files_.io(), attempt->metadata, *attempt->parent, replacement, attempt->replaced);
}

Result<std::vector<ManifestFile>> SnapshotProducer::AddedManifests(const Attempt& attempt) {
  const std::pair<int, int64_t> key{attempt.metadata.format_version, attempt.ids.snapshot_id};
  if (added_manifests_.empty() || added_manifests_of_ != key) {
    std::map<int, std::vector<ManifestEntry>, std::greater<>> by_spec;
    for (const DataFile& file : change_.added) {
      ManifestEntry entry{EntryStatus::kAdded, attempt.ids.snapshot_id, std::nullopt, std::nullopt, file};
      entry.file.first_row_id.reset();
      if (attempt.metadata.format_version >= 2) entry.sequence_number = change_.data_sequence_number;
      by_spec[file.spec_id].push_back(std::move(entry));
    }
    added_manifests_.clear();
    for (const auto& [spec_id, entries] : by_spec) {
      ARROW_ASSIGN_OR_RAISE(ManifestFile manifest,
                            files_.WriteDataManifest(attempt.metadata, attempt.ids, spec_id, entries));
      added_manifests_.push_back(std::move(manifest));
    }
    added_manifests_of_ = key;
  }
  // Their entries inherit: what an attempt changes is in the list alone.
  std::vector<ManifestFile> manifests = added_manifests_;
  for (ManifestFile& manifest : manifests) {
    manifest.sequence_number = attempt.ids.sequence_number;
    manifest.min_sequence_number =
        attempt.metadata.format_version == 1 ? 0 : change_.data_sequence_number.value_or(attempt.ids.sequence_number);
  }
  return manifests;
}

Result<Snapshot> SnapshotProducer::WriteSnapshot(Attempt* attempt, std::vector<ManifestFile> manifests,
                                                 int64_t* next_row_id) {
  const TableMetadata& metadata = attempt->metadata;
  const int64_t created = std::count_if(manifests.begin(), manifests.end(), [&](const ManifestFile& manifest) {
    return manifest.added_snapshot_id == attempt->ids.snapshot_id;
  });
  attempt->summary.CountManifests(created, static_cast<int64_t>(manifests.size()) - created,
                                  attempt->replaced_manifests);
  Snapshot snapshot;
  snapshot.snapshot_id = attempt->ids.snapshot_id;
  if (attempt->parent != nullptr) snapshot.parent_snapshot_id = attempt->parent->snapshot_id;
  snapshot.sequence_number = attempt->ids.sequence_number;
  snapshot.timestamp_ms = NextTimestampMs(metadata);
  snapshot.schema_id = metadata.current_schema_id;
  snapshot.summary = attempt->summary.Build(change_.operation, attempt->parent, change_.extra_summary);
  if (metadata.format_version >= 3) snapshot.first_row_id = metadata.next_row_id;
  ARROW_ASSIGN_OR_RAISE(snapshot.manifest_list, files_.WriteList(metadata, snapshot, &manifests, next_row_id));
  if (metadata.format_version >= 3) snapshot.added_rows = *next_row_id - metadata.next_row_id;
  std::vector<std::string>& paths = manifests_of_list_[snapshot.manifest_list];
  for (const ManifestFile& manifest : manifests) paths.push_back(manifest.manifest_path);
  return snapshot;
}

void SnapshotProducer::DeleteAllBut(const Snapshot& committed) {
  auto found = manifests_of_list_.find(committed.manifest_list);
  // A list of an earlier process with our id cannot be: leave everything rather than guess.
  if (found == manifests_of_list_.end()) return;
  std::set<std::string> kept(found->second.begin(), found->second.end());
  kept.insert(committed.manifest_list);
  files_.DeleteAllBut(kept);
}

void SnapshotProducer::DeleteAll() { files_.DeleteAllBut({}); }

}  // namespace calve::iceberg
