#include "calve/pipeline/rewrite_groups.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/iceberg/partition_key.h"
#include "calve/pipeline/table_files.h"
#include "calve/pipeline/write_options.h"

#include <unordered_map>
#include <unordered_set>

namespace calve::pipeline {
namespace {

using iceberg::FileScanTask;
using iceberg::PartitionKey;

/// The tasks of each partition, partitions in the order in which they are met. Files of other specs than the current
/// one have no partition among those that are written: they go together.
std::vector<std::vector<FileScanTask>> ByPartition(const iceberg::TableMetadata& metadata,
                                                   std::vector<FileScanTask> tasks) {
  std::vector<std::vector<FileScanTask>> result;
  std::unordered_map<PartitionKey, size_t, iceberg::PartitionKeyHash> index;
  for (FileScanTask& task : tasks) {
    const bool is_current = task.file.spec_id == metadata.spec().spec_id;
    PartitionKey key = is_current ? PartitionKey::Of(task.file) : PartitionKey{-1, {}};
    auto [place, is_new] = index.emplace(std::move(key), result.size());
    if (is_new) result.emplace_back();
    result[place->second].push_back(std::move(task));
  }
  return result;
}

/// A file that stands twice in a plan would be read twice and taken away once: its rows would be doubled for good.
Status CheckLiveOnce(const iceberg::ScanPlan& plan) {
  std::unordered_set<std::string_view> seen;
  for (const FileScanTask& task : plan.tasks) {
    if (seen.insert(task.file.file_path).second) continue;
    return Invalid("data file {} is live twice in snapshot {}", task.file.file_path, plan.snapshot->snapshot_id);
  }
  return Status::OK();
}

/// Adds sizes or rows of manifests, which may say anything.
Status AddTo(int64_t* total, int64_t value, const FileScanTask& task, const char* what) {
  const auto sum = CheckedAdd(*total, value);
  if (!sum) return Invalid("data file {}: with its {} of {} the sum leaves 64 bits", task.file.file_path, what, value);
  *total = *sum;
  return Status::OK();
}

Result<RewriteGroup> Describe(const iceberg::TableMetadata& metadata, const std::vector<FileScanTask>& tasks,
                              const BinPackSizes& sizes) {
  RewriteGroup group;
  if (tasks[0].file.spec_id == metadata.spec().spec_id) {
    ARROW_ASSIGN_OR_RAISE(group.partition, PartitionText(metadata, tasks[0].file));
  }
  for (const FileScanTask& task : tasks) {
    group.files.push_back(task.file.file_path);
    group.file_sizes_bytes.push_back(task.file.file_size_in_bytes);
    ARROW_RETURN_NOT_OK(AddTo(&group.bytes, task.file.file_size_in_bytes, task, "size"));
    ARROW_RETURN_NOT_OK(AddTo(&group.rows, task.file.record_count, task, "record count"));
  }
  group.expected_output_files = sizes.ExpectedOutputFiles(group.bytes);
  return group;
}

Status GroupPartition(const iceberg::TableMetadata& metadata, std::vector<FileScanTask> tasks,
                      const BinPackSizes& sizes, PlannedRewrite* planned) {
  std::vector<int64_t> file_sizes;
  for (const FileScanTask& task : tasks) file_sizes.push_back(task.file.file_size_in_bytes);
  for (const auto& members : BinPack(file_sizes, sizes)) {
    PlannedRewrite::Group group;
    for (size_t member : members) group.tasks.push_back(std::move(tasks[member]));
    ARROW_ASSIGN_OR_RAISE(auto description, Describe(metadata, group.tasks, sizes));
    group.roll_bytes = sizes.RollBytes(description.bytes);
    planned->plan.groups.push_back(std::move(description));
    planned->groups.push_back(std::move(group));
  }
  return Status::OK();
}

Result<const iceberg::Snapshot*> BranchHead(const iceberg::TableMetadata& metadata, const std::string& branch) {
  iceberg::SnapshotSelector selector;
  if (branch != "main" || metadata.refs.contains(branch)) selector.ref = branch;
  return iceberg::SelectSnapshot(metadata, selector);
}

}  // namespace

Result<PlannedRewrite> PlanGroups(const Table& table, const RewriteOptions& options, const Context& context) {
  const auto& metadata = table.version()->metadata;
  ARROW_ASSIGN_OR_RAISE(const int64_t table_target_bytes, TargetFileSizeOf(metadata));
  ARROW_ASSIGN_OR_RAISE(const auto sizes, BinPackSizes::Make(options, table_target_bytes));
  PlannedRewrite planned;
  planned.plan.target_file_size_bytes = sizes.target_bytes;
  ARROW_ASSIGN_OR_RAISE(planned.snapshot, BranchHead(metadata, options.branch));

  const auto io = IoOf(table);
  auto plan_scan = [&](const expr::NodePtr& filter) {
    return iceberg::PlanScan(*io, metadata, planned.snapshot, metadata.schema(), filter, context);
  };
  ARROW_ASSIGN_OR_RAISE(auto plan, plan_scan(nullptr));
  planned.plan.files_total = static_cast<int64_t>(plan.tasks.size());
  for (const auto& task : plan.tasks) {
    ARROW_RETURN_NOT_OK(AddTo(&planned.plan.bytes_total, task.file.file_size_in_bytes, task, "size"));
  }
  if (!options.filter.always_true()) {
    ARROW_ASSIGN_OR_RAISE(const auto schema, iceberg::ToArrow(metadata.schema()));
    ARROW_ASSIGN_OR_RAISE(const auto filter, expr::Bind(options.filter.root(), *schema));
    ARROW_ASSIGN_OR_RAISE(plan, plan_scan(filter));
  }
  ARROW_RETURN_NOT_OK(iceberg::CheckSupported(plan));
  ARROW_RETURN_NOT_OK(CheckLiveOnce(plan));
  for (auto& tasks : ByPartition(metadata, std::move(plan.tasks))) {
    ARROW_RETURN_NOT_OK(GroupPartition(metadata, std::move(tasks), sizes, &planned));
  }
  return planned;
}

}  // namespace calve::pipeline
