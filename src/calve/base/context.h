#pragma once

#include "calve/context.h"

#include <arrow/status.h>

#include <cstdint>

namespace calve {

/// The pool of `context`, or Arrow's default one.
arrow::MemoryPool* PoolOf(const Context& context);

/// The number of tasks that may run at once, at least 1.
int ThreadsOf(const Context& context);

/// Cancelled when stop was requested, otherwise OK.
arrow::Status CheckStop(const Context& context);

/// Runs `task(i)` for i in [0, count), at most ThreadsOf(context) at a time, on this thread and the executor of
/// `context`, and waits for all. After the first failure no further task starts; of the failures, that of the smallest
/// index is returned. With one thread the tasks run in order. May be called from a task of the same executor: this
/// thread takes part, so it never waits for one that has not begun.
arrow::Status ParallelFor(const Context& context, int64_t count, const std::function<arrow::Status(int64_t)>& task);

}  // namespace calve
