#include "calve/base/context.h"

#include <arrow/memory_pool.h>
#include <arrow/util/cancel.h>
#include <arrow/util/thread_pool.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace calve {

arrow::MemoryPool* PoolOf(const Context& context) {
  return context.pool != nullptr ? context.pool : arrow::default_memory_pool();
}

namespace {

arrow::internal::Executor* ExecutorOf(const Context& context) {
  return context.executor != nullptr ? context.executor : arrow::internal::GetCpuThreadPool();
}

}  // namespace

int ThreadsOf(const Context& context) {
  int capacity = context.threads > 0 ? context.threads : ExecutorOf(context)->GetCapacity();
  return std::max(capacity, 1);
}

arrow::Status CheckStop(const Context& context) {
  return context.stop != nullptr ? context.stop->Poll() : arrow::Status::OK();
}

namespace {

/// The state that the workers of one ParallelFor share. It outlives the call: a worker that the executor starts late
/// finds it closed and touches nothing else.
class TaskQueue {
 public:
  TaskQueue(const Context& context, int64_t count, const std::function<arrow::Status(int64_t)>& task)
      : context_(context), task_(task), count_(count), failed_index_(count) {}

  /// What a worker on another thread runs.
  void RunUnlessClosed() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (closed_) return;
      ++active_;
    }
    Run();
    std::lock_guard<std::mutex> lock(mutex_);
    --active_;
    idle_.notify_all();
  }

  /// Takes tasks until none is left or one has failed.
  void Run() {
    for (int64_t i = next_++; i < count_ && !failed_; i = next_++) {
      arrow::Status status = CheckStop(context_);
      if (status.ok()) status = task_(i);
      if (!status.ok()) Fail(i, std::move(status));
    }
  }

  /// Waits for the workers that have begun, and keeps the others from beginning.
  arrow::Status Close() {
    std::unique_lock<std::mutex> lock(mutex_);
    closed_ = true;
    idle_.wait(lock, [this] { return active_ == 0; });
    return failure_;
  }

 private:
  void Fail(int64_t index, arrow::Status status) {
    failed_ = true;
    std::lock_guard<std::mutex> lock(mutex_);
    if (index >= failed_index_) return;
    failed_index_ = index;
    failure_ = std::move(status);
  }

  const Context& context_;
  const std::function<arrow::Status(int64_t)>& task_;
  const int64_t count_;
  std::atomic<int64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::condition_variable idle_;
  int active_ = 0;
  bool closed_ = false;
  int64_t failed_index_;
  arrow::Status failure_;
};

}  // namespace

arrow::Status ParallelFor(const Context& context, int64_t count, const std::function<arrow::Status(int64_t)>& task) {
  auto queue = std::make_shared<TaskQueue>(context, count, task);
  const int64_t workers = std::min<int64_t>(ThreadsOf(context), count);
  for (int64_t w = 1; w < workers; ++w) {
    // An executor that takes no more work only costs parallelism: this thread runs what is left.
    if (!ExecutorOf(context)->Spawn([queue] { queue->RunUnlessClosed(); }).ok()) break;
  }
  queue->Run();
  return queue->Close();
}

}  // namespace calve
