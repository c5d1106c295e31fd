#include "calve/rewrite.h"

#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/pipeline/file_set.h"
#include "calve/pipeline/rewrite_groups.h"
#include "calve/pipeline/rolling_writer.h"
#include "calve/pipeline/table_files.h"
#include "calve/pipeline/write_options.h"

#include <arrow/record_batch.h>

#include <chrono>
#include <mutex>

namespace calve {

using pipeline::PlannedRewrite;
using pipeline::RollingWriter;

namespace {

/// Groups are written at once up to this many; each needs memory of its own.
constexpr int kMaxConcurrentGroups = 5;
/// What a group should have of the budget at least before a further one is written beside it.
constexpr int64_t kGroupBudgetBytes = int64_t{128} << 20;

class Stopwatch {
 public:
  double Seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// What became of a group: the files written for it, or why there are none.
struct GroupOutcome {
  std::vector<iceberg::DataFile> files;
  Status status;
};

class Rewrite {
 public:
  Rewrite(const Table& table, const RewriteOptions& options, const Context& context)
      : table_(table),
        options_(options),
        context_(context),
        pool_(OperationPool::Make(context)),
        base_(table.version()),
        meter_(context) {}

  Result<RewriteResult> Run() {
    ARROW_RETURN_NOT_OK(table_.store()->CheckWritable(*base_));
    Stopwatch planning;
    ARROW_ASSIGN_OR_RAISE(planned_, pipeline::PlanGroups(table_, options_, context_));
    result_.plan_seconds = planning.Seconds();
    if (!planned_.groups.empty()) {
      ARROW_RETURN_NOT_OK(Prepare());
      ARROW_RETURN_NOT_OK(options_.partial_progress_enabled ? RunInParts() : RunWhole());
    }
    result_.peak_memory_bytes = pool_->max_memory();
    return result_;
  }

 private:
  const iceberg::TableMetadata& metadata() const { return table_.version()->metadata; }

  Status Prepare() {
    concurrency_ = std::min({ThreadsOf(context_), kMaxConcurrentGroups, static_cast<int>(planned_.groups.size())});
    if (pool_->limit_bytes() > 0) {
      concurrency_ = static_cast<int>(std::clamp<int64_t>(pool_->limit_bytes() / kGroupBudgetBytes, 1, concurrency_));
    }
    const bool lineage = metadata().format_version >= 3;
    ARROW_ASSIGN_OR_RAISE(setup_,
                          pipeline::WriteSetup::Make(pipeline::IoOf(table_), metadata(), lineage, concurrency_, pool_));
    ARROW_ASSIGN_OR_RAISE(const auto columns, pipeline::FileColumns(metadata().schema()));
    ARROW_ASSIGN_OR_RAISE(read_.output, pipeline::TargetsOf(columns, pipeline::DefaultKind::kInitial));
    if (lineage) {
      read_.output.push_back(*pipeline::MetadataColumn("_row_id"));
      read_.output.push_back(*pipeline::MetadataColumn("_last_updated_sequence_number"));
    }
    read_.rules.missing_by_name_is_error = true;
    read_.identify = pipeline::IdentifyByTable(metadata(), read_.output);
    outcomes_.resize(planned_.groups.size());
    for (const auto& group : planned_.plan.groups) total_bytes_ += group.bytes;
    return Status::OK();
  }

  Status RunWhole() {
    Status status = WriteGroups(0, planned_.groups.size());
    if (status.ok()) status = FirstFailure(0, planned_.groups.size());
    if (status.ok()) status = CheckStop(context_);
    if (!status.ok()) {
      Discard(0, planned_.groups.size());
      return status;
    }
    return Commit(0, planned_.groups.size());
  }

  Status RunInParts() {
    if (options_.partial_progress_max_commits <= 0) {
      return Invalid("partial-progress.max-commits: {} is not positive", options_.partial_progress_max_commits);
    }
    const size_t count = planned_.groups.size();
    const auto commits = static_cast<size_t>(options_.partial_progress_max_commits);
    const size_t step = (count + commits - 1) / commits;
    Status first_failure;
    for (size_t begin = 0; begin < count; begin += step) {
      const size_t end = std::min(count, begin + step);
      Status status = WriteGroups(begin, end);
      if (status.ok()) status = CheckStop(context_);
      if (!status.ok()) {
        Discard(begin, end);
        return status;
      }
      const Status group_failure = FirstFailure(begin, end);
      for (size_t i = begin; i < end; ++i) NoteFailure(outcomes_[i].status);
      status = Commit(begin, end);
      NoteFailure(status);
      if (first_failure.ok()) first_failure = status.ok() ? group_failure : status;
      // What may have been committed is not to be written again.
      if (CommitFailureOf(status) == CommitFailure::kStateUnknown) return status;
    }
    return result_.snapshot_ids.empty() ? first_failure : Status::OK();
  }

  /// Writes the groups of [begin, end), a few at once. A group's failure is its outcome; with partial progress the
  /// others go on.
  Status WriteGroups(size_t begin, size_t end) {
    Stopwatch writing;
    Context across = context_;
    across.threads = concurrency_;
    Status status = ParallelFor(across, static_cast<int64_t>(end - begin), [&](int64_t i) {
      const size_t index = begin + static_cast<size_t>(i);
      auto written = WriteGroup(index);
      GroupOutcome& outcome = outcomes_[index];
      outcome.status = written.status();
      if (written.ok()) outcome.files = *std::move(written);
      const bool go_on = options_.partial_progress_enabled && !outcome.status.IsCancelled();
      return go_on ? Status::OK() : outcome.status;
    });
    result_.write_seconds += writing.Seconds();
    return status;
  }

  Result<std::vector<iceberg::DataFile>> WriteGroup(size_t index) {
    const PlannedRewrite::Group& group = planned_.groups[index];
    Context within = context_;
    within.threads = std::max(1, ThreadsOf(context_) / concurrency_);
    within.progress = nullptr;
    ARROW_ASSIGN_OR_RAISE(auto inputs, pipeline::FilesOfPlan(metadata(), group.tasks, /*with_filter=*/false));
    ARROW_ASSIGN_OR_RAISE(auto files, pipeline::FileSet::Open(setup_.io, std::move(inputs), read_, pool_, within));
    pipeline::WriteSetup setup = setup_;
    setup.target_file_size_bytes = group.roll_bytes;
    ARROW_ASSIGN_OR_RAISE(auto writer, RollingWriter::Make(setup, static_cast<int64_t>(index), within));
    int64_t reported_bytes = 0;
    const int64_t group_bytes = planned_.plan.groups[index].bytes;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(auto batch, files->Next());
      const auto& counts = files->counts();
      const double share = batch == nullptr || counts.bytes_total == 0
                               ? 1.0
                               : static_cast<double>(counts.bytes_read) / static_cast<double>(counts.bytes_total);
      const auto now_bytes = static_cast<int64_t>(share * static_cast<double>(group_bytes));
      Report(batch == nullptr ? 0 : batch->num_rows(), now_bytes - reported_bytes);
      reported_bytes = now_bytes;
      if (batch == nullptr) break;
      ARROW_RETURN_NOT_OK(writer->Write(batch));
    }
    ARROW_RETURN_NOT_OK(CheckRows(index, files->counts().rows_read, writer->rows_written()));
    ARROW_ASSIGN_OR_RAISE(auto written, writer->Close());
    return written;
  }

  /// Nothing is replaced by fewer or more rows than it had.
  Status CheckRows(size_t index, int64_t rows_read, int64_t rows_written) const {
    const int64_t expected = planned_.plan.groups[index].rows;
    if (rows_read == expected && rows_written == expected) return Status::OK();
    return Invalid("group {} of {} files (first: {}): {} rows were read and {} written, its manifests say {}", index,
                   planned_.groups[index].tasks.size(), planned_.groups[index].tasks[0].file.file_path, rows_read,
                   rows_written, expected);
  }

  void Report(int64_t rows, int64_t bytes) {
    if (!context_.progress) return;
    std::lock_guard<std::mutex> lock(progress_mutex_);
    progress_.rows += rows;
    progress_.bytes += bytes;
    progress_.total_bytes = total_bytes_;
    meter_.Report(progress_, progress_.bytes >= total_bytes_);
  }

  Status FirstFailure(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) ARROW_RETURN_NOT_OK(outcomes_[i].status);
    return Status::OK();
  }

  void NoteFailure(const Status& status) {
    if (status.ok()) return;
    result_.failures.push_back(status.message());
    if (result_.first_failure.empty()) result_.first_failure = status.message();
  }

  void Discard(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      pipeline::DeleteFiles(*setup_.io, outcomes_[i].files);
      outcomes_[i].files.clear();
    }
  }

  /// Commits the groups of [begin, end) that were written.
  Status Commit(size_t begin, size_t end) {
    iceberg::SnapshotChange change;
    change.operation = "replace";
    change.branch = options_.branch;
    change.starting_snapshot_id = planned_.snapshot->snapshot_id;
    if (options_.use_starting_sequence_number && metadata().format_version >= 2) {
      change.data_sequence_number = planned_.snapshot->sequence_number;
    }
    RewriteResult part;
    for (size_t i = begin; i < end; ++i) {
      if (!outcomes_[i].status.ok()) {
        ++part.failed_groups;
        continue;
      }
      for (const auto& task : planned_.groups[i].tasks) change.removed.push_back(task.file.file_path);
      for (const auto& file : outcomes_[i].files) {
        change.added.push_back(file);
        part.added_bytes += file.file_size_in_bytes;
        part.added_file_sizes_bytes.push_back(file.file_size_in_bytes);
      }
      part.rewritten_bytes += planned_.plan.groups[i].bytes;
      part.rows += planned_.plan.groups[i].rows;
    }
    part.rewritten_files = static_cast<int64_t>(change.removed.size());
    part.added_files = static_cast<int64_t>(change.added.size());
    result_.failed_groups += part.failed_groups;
    if (change.removed.empty()) return Status::OK();
    Stopwatch committing;
    auto committed = iceberg::CommitSnapshot(*table_.store(), *base_, change);
    result_.commit_seconds += committing.Seconds();
    if (!committed.ok()) {
      if (CommitFailureOf(committed.status()) != CommitFailure::kStateUnknown) Discard(begin, end);
      result_.failed_groups += static_cast<int64_t>(end - begin) - part.failed_groups;
      return committed.status();
    }
    result_.snapshot_ids.push_back(committed->snapshot.snapshot_id);
    base_ = std::make_shared<const iceberg::TableVersion>(std::move(committed->version));
    Add(part);
    return Status::OK();
  }

  void Add(const RewriteResult& part) {
    result_.rewritten_files += part.rewritten_files;
    result_.added_files += part.added_files;
    result_.rewritten_bytes += part.rewritten_bytes;
    result_.added_bytes += part.added_bytes;
    result_.rows += part.rows;
    result_.added_file_sizes_bytes.insert(result_.added_file_sizes_bytes.end(), part.added_file_sizes_bytes.begin(),
                                          part.added_file_sizes_bytes.end());
  }

  const Table& table_;
  const RewriteOptions& options_;
  const Context& context_;
  std::shared_ptr<OperationPool> pool_;
  std::shared_ptr<const iceberg::TableVersion> base_;
  PlannedRewrite planned_;
  pipeline::WriteSetup setup_;
  pipeline::FileSetOptions read_;
  int concurrency_ = 1;
  std::vector<GroupOutcome> outcomes_;
  RewriteResult result_;

  std::mutex progress_mutex_;
  pipeline::ProgressMeter meter_;
  Progress progress_;
  int64_t total_bytes_ = 0;
};

}  // namespace

Result<RewritePlan> PlanRewrite(const Table& table, const RewriteOptions& options, const Context& context) {
  ARROW_ASSIGN_OR_RAISE(auto planned, pipeline::PlanGroups(table, options, context));
  return std::move(planned.plan);
}

Result<RewriteResult> RewriteDataFiles(const Table& table, const RewriteOptions& options, const Context& context) {
  return Rewrite(table, options, context).Run();
}

}  // namespace calve
