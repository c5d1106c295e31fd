#pragma once

#include "calve/array/buffer_pool.h"
#include "calve/base/operation_pool.h"

#include <cstdint>
#include <memory>

namespace calve {

/// How much memory that nobody holds a reader may keep for its next batches: no more than a part of the budget.
int64_t IdleBytesOf(const Context& context);

/// What a reader takes its memory from. It outlives the reader's batches by itself.
struct ReadMemory {
  explicit ReadMemory(const Context& context);
  /// A handle on the pool of the context's budget; null: it has none.
  std::shared_ptr<OperationPool> budget;
  /// What batches are made of, used again when they are dropped.
  std::shared_ptr<BufferPool> buffers;
};

}  // namespace calve
