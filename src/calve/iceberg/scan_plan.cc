// Planning, in three steps:
//
//   1. manifests that hold no live files, or none that may match, are left out by what the manifest list says of them;
//   2. the others are read in parallel, and their files kept or skipped by partition values, then by bounds;
//   3. deletes are attached to the data files that are left.
#include "calve/iceberg/scan_plan.h"

#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/iceberg/delete_index.h"
#include "calve/iceberg/file_filter.h"

#include <unordered_set>

namespace calve::iceberg {
namespace {

struct ReadResult {
  std::vector<FileScanTask> tasks;
  std::vector<PlannedDelete> deletes;
  PlanCounts counts;
};

int64_t LiveFiles(const ManifestFile& manifest) {
  return manifest.added_files_count.value_or(0) + manifest.existing_files_count.value_or(0);
}

void Add(const PlanCounts& from, PlanCounts* to) {
  to->data_files_total += from.data_files_total;
  to->data_files_skipped += from.data_files_skipped;
  to->data_files_skipped_by_partition += from.data_files_skipped_by_partition;
  to->data_files_skipped_by_bounds += from.data_files_skipped_by_bounds;
}

void CountSkippedManifest(const ManifestFile& manifest, PlanCounts* counts) {
  ++counts->manifests_skipped;
  if (manifest.is_deletes) return;
  counts->data_files_total += LiveFiles(manifest);
  counts->data_files_skipped += LiveFiles(manifest);
  counts->data_files_skipped_by_partition += LiveFiles(manifest);
}

void TakeDataFile(ManifestEntry&& entry, const FileFilter& filter, ReadResult* result) {
  ++result->counts.data_files_total;
  const auto decision = filter.Decide(entry.file);
  if (decision != FileFilter::Decision::kKeep) {
    ++result->counts.data_files_skipped;
    const bool by_partition = decision == FileFilter::Decision::kSkipByPartition;
    ++(by_partition ? result->counts.data_files_skipped_by_partition : result->counts.data_files_skipped_by_bounds);
    return;
  }
  FileScanTask task;
  task.sequence_number = entry.sequence_number.value_or(0);
  task.file_sequence_number = entry.file_sequence_number.value_or(task.sequence_number);
  task.first_row_id = entry.file.first_row_id;
  task.residual = filter.ResidualFor(entry.file);
  task.file = std::move(entry.file);
  result->tasks.push_back(std::move(task));
}

void TakeDeleteFile(ManifestEntry&& entry, const FileFilter& filter, ReadResult* result) {
  if (filter.Decide(entry.file) != FileFilter::Decision::kKeep) return;
  if (entry.file.content == FileContent::kEqualityDeletes && !filter.MightDelete(entry.file)) return;
  const int64_t sequence_number = entry.sequence_number.value_or(0);
  result->deletes.push_back({std::make_shared<const DataFile>(std::move(entry.file)), sequence_number});
}

Status ReadFiles(const FileIO& io, const TableMetadata& metadata, const ManifestFile& manifest,
                 const FileFilter& filter, ReadResult* result) {
  if (!manifest.key_metadata.empty()) {
    return NotImplemented("encrypted manifests are not supported yet (manifest {})", manifest.manifest_path);
  }
  ARROW_ASSIGN_OR_RAISE(auto entries, ReadManifest(io, metadata, manifest));
  for (ManifestEntry& entry : entries) {
    if (!entry.is_live()) continue;
    entry.file.spec_id = manifest.partition_spec_id;
    const bool is_delete = entry.file.content != FileContent::kData;
    if (is_delete != manifest.is_deletes) {
      return Invalid("manifest {} is listed as one of {} files, but names {} as {}", manifest.manifest_path,
                     manifest.is_deletes ? "delete" : "data", entry.file.file_path, is_delete ? "deletes" : "data");
    }
    if (is_delete) {
      TakeDeleteFile(std::move(entry), filter, result);
    } else {
      TakeDataFile(std::move(entry), filter, result);
    }
  }
  return Status::OK();
}

// The manifests to read, in the order of the list.
Result<std::vector<ManifestFile>> SelectManifests(std::vector<ManifestFile> manifests, FileFilter* filter,
                                                  PlanCounts* counts) {
  std::vector<ManifestFile> selected;
  counts->manifests_total = static_cast<int64_t>(manifests.size());
  for (ManifestFile& manifest : manifests) {
    ARROW_RETURN_NOT_OK(
        WithContext(filter->AddSpec(manifest.partition_spec_id), fmt::format("manifest {}", manifest.manifest_path)));
    if (manifest.might_have_live_files() && filter->MightMatch(manifest)) {
      selected.push_back(std::move(manifest));
    } else {
      CountSkippedManifest(manifest, counts);
    }
  }
  counts->manifests_read = static_cast<int64_t>(selected.size());
  return selected;
}

void AttachDeletes(const DeleteIndex& index, ScanPlan* plan) {
  std::unordered_set<const DataFile*> seen;
  for (FileScanTask& task : plan->tasks) {
    task.deletes = index.Find(task.file, task.sequence_number);
    for (const PlannedDelete& deletes : task.deletes) seen.insert(deletes.file.get());
    plan->counts.bytes_planned += task.file.file_size_in_bytes;
    plan->counts.rows_planned += task.file.record_count;
  }
  plan->counts.delete_files = static_cast<int64_t>(seen.size());
}

}  // namespace

Result<ScanPlan> PlanScan(const FileIO& io, const TableMetadata& metadata, const Snapshot* snapshot,
                          const Schema& schema, const expr::NodePtr& filter, const Context& context) {
  ScanPlan plan;
  plan.snapshot = snapshot;
  if (snapshot == nullptr) return plan;
  ARROW_ASSIGN_OR_RAISE(auto manifests, ManifestsOf(io, metadata, *snapshot));
  FileFilter file_filter(metadata, schema, filter);
  ARROW_ASSIGN_OR_RAISE(auto selected, SelectManifests(std::move(manifests), &file_filter, &plan.counts));

  std::vector<ReadResult> results(selected.size());
  ARROW_RETURN_NOT_OK(ParallelFor(context, static_cast<int64_t>(selected.size()), [&](int64_t i) {
    return ReadFiles(io, metadata, selected[i], file_filter, &results[i]);
  }));

  DeleteIndex index(metadata, schema);
  for (ReadResult& result : results) {
    Add(result.counts, &plan.counts);
    std::move(result.tasks.begin(), result.tasks.end(), std::back_inserter(plan.tasks));
    for (PlannedDelete& deletes : result.deletes) ARROW_RETURN_NOT_OK(index.Add(std::move(deletes)));
  }
  AttachDeletes(index, &plan);
  return plan;
}

}  // namespace calve::iceberg
