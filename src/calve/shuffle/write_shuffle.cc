#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/shuffle.h"

#include <arrow/record_batch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace calve {

namespace {

/// Counts the rows of all tasks; tells them from the thread that drives the tasks, a few times a second.
class RowProgress {
 public:
  explicit RowProgress(const Context& context) : progress_(context.progress) {}

  void Add(int64_t rows) {
    rows_ += rows;
    const auto now = std::chrono::steady_clock::now();
    if (!progress_ || std::this_thread::get_id() != driver_ || now - told_ < std::chrono::milliseconds(250)) return;
    told_ = now;
    Progress progress;
    progress.rows = rows_;
    progress_(progress);
  }

 private:
  const std::function<void(const Progress&)>& progress_;
  std::thread::id driver_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
  std::atomic<int64_t> rows_{0};
};

Result<ShuffleTaskResult> WriteTask(const ShuffleInput& input, ShuffleTaskWriter* writer, RowProgress* progress) {
  ARROW_ASSIGN_OR_RAISE(const auto batches, input.open());
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, batches->Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(writer->Write(batch));
    progress->Add(batch->num_rows());
  }
  return writer->Commit();
}

}  // namespace

Result<std::vector<ShuffleTaskResult>> WriteShuffle(const std::string& folder,
                                                    const std::shared_ptr<arrow::Schema>& schema,
                                                    const std::vector<ShuffleInput>& inputs,
                                                    const PartitionerFactory& partitioner,
                                                    const ShuffleWriteOptions& options, const Context& context) {
  const auto count = static_cast<int64_t>(inputs.size());
  ShuffleWriteOptions task_options = options;
  task_options.memory_budget_bytes /= std::clamp<int64_t>(count, 1, ThreadsOf(context));
  task_options.memory_budget_bytes = std::max<int64_t>(task_options.memory_budget_bytes, 1);
  std::vector<ShuffleTaskResult> results(inputs.size());
  RowProgress progress(context);
  ARROW_RETURN_NOT_OK(ParallelFor(context, count, [&](int64_t i) -> Status {
    const ShuffleInput& input = inputs[static_cast<size_t>(i)];
    ARROW_ASSIGN_OR_RAISE(auto routes, partitioner(input.task));
    ARROW_ASSIGN_OR_RAISE(const auto writer, ShuffleTaskWriter::Make(folder, input.task, schema, std::move(routes),
                                                                     task_options, context));
    auto result = WriteTask(input, writer.get(), &progress);
    if (!result.ok()) return WithContext(result.status(), fmt::format("task {}", input.task));
    results[static_cast<size_t>(i)] = *std::move(result);
    return Status::OK();
  }));
  return results;
}

}  // namespace calve
