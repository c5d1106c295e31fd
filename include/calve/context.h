#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace arrow {
class MemoryPool;
class StopToken;
namespace internal {
class Executor;
}
}  // namespace arrow

namespace calve {

/// What long work has done so far; passed to Context::progress.
struct Progress {
  int64_t rows = 0;         ///< rows done
  int64_t bytes = 0;        ///< bytes done, of `total_bytes`
  int64_t total_bytes = 0;  ///< bytes to do, 0 when unknown
};

/// Where an operation takes its memory and threads from, and how it is watched and stopped.
///
/// The objects pointed to are owned by the caller and outlive the operation. A default Context uses Arrow's default
/// memory pool and CPU thread pool, has no limit and cannot be cancelled.
struct Context {
  /// All Arrow buffers come from here. Null: arrow::default_memory_pool().
  arrow::MemoryPool* pool = nullptr;
  /// Runs the parallel parts. Null: arrow::internal::GetCpuThreadPool().
  arrow::internal::Executor* executor = nullptr;
  /// Number of tasks that may run at once on `executor`; 1 keeps all work on the calling thread, 0 means the
  /// executor's capacity.
  int threads = 0;
  /// Bytes of buffers that one operation may hold at a time; 0: no limit. Work that cannot go on within it fails with
  /// OutOfMemory that names the budget.
  int64_t memory_budget_bytes = 0;
  /// Polled between batches; when stop is requested the operation returns Cancelled and leaves nothing half-made.
  /// Null: cannot be cancelled.
  const arrow::StopToken* stop = nullptr;
  /// Called from the thread that drives the operation, at most a few times a second. Empty: not called.
  std::function<void(const Progress&)> progress;
};

}  // namespace calve
