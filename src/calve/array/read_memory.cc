#include "calve/array/read_memory.h"

#include "calve/base/context.h"

#include <algorithm>

namespace calve {
namespace {

/// A caller's pool that uses memory again already is taken as it is.
std::shared_ptr<BufferPool> BuffersOver(const Context& context, OperationPool* budget) {
  const int64_t idle = IdleBytesOf(context);
  return budget == nullptr ? BufferPool::Over(PoolOf(context), idle) : BufferPool::Make(budget, idle);
}

}  // namespace

int64_t IdleBytesOf(const Context& context) {
  const int64_t budget = BudgetBytesOf(context);
  return budget == 0 ? BufferPool::kDefaultIdleBytes : std::min(budget / 8, BufferPool::kDefaultIdleBytes);
}

ReadMemory::ReadMemory(const Context& context)
    : budget(context.memory_budget_bytes > 0 ? OperationPool::Make(context) : nullptr),
      buffers(BuffersOver(context, budget.get())) {}

}  // namespace calve
