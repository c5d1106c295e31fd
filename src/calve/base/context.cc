#include "calve/base/context.h"

#include <arrow/memory_pool.h>
#include <arrow/util/cancel.h>
#include <arrow/util/future.h>
#include <arrow/util/thread_pool.h>

#include <atomic>
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

arrow::Status ParallelFor(const Context& context, int64_t count,
                          const std::function<arrow::Status(int64_t)>& task) {
  const int workers = static_cast<int>(std::min<int64_t>(ThreadsOf(context), count));
  if (workers <= 1) {
    for (int64_t i = 0; i < count; ++i) {
      ARROW_RETURN_NOT_OK(CheckStop(context));
      ARROW_RETURN_NOT_OK(task(i));
    }
    return arrow::Status::OK();
  }
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  int64_t failed_index = count;
  arrow::Status failure;
  auto worker = [&]() -> arrow::Status {
    for (int64_t i = next++; i < count && !failed; i = next++) {
      arrow::Status status = CheckStop(context);
      if (status.ok()) status = task(i);
      if (status.ok()) continue;
      failed = true;
      std::lock_guard<std::mutex> lock(mutex);
      if (i < failed_index) {
        failed_index = i;
        failure = std::move(status);
      }
    }
    return arrow::Status::OK();
  };
  std::vector<arrow::Future<>> futures;
  arrow::Status submitted;
  for (int w = 1; w < workers && submitted.ok(); ++w) {
    auto future = ExecutorOf(context)->Submit(worker);
    submitted = future.status();
    if (submitted.ok()) futures.push_back(arrow::Future<>(future.MoveValueUnsafe()));
  }
  ARROW_UNUSED(worker());
  for (auto& future : futures) future.Wait();
  ARROW_RETURN_NOT_OK(submitted);
  return failure;
}

}  // namespace calve
