#pragma once

#include "calve/base/memory_budget.h"
#include "calve/context.h"

#include <atomic>
#include <memory>

namespace calve {

/// The memory budget of one operation, which lives as long as its handles and every buffer made from it.
///
/// Batches that a scan has handed out may outlive the scan; the pool that their buffers return to must not die first.
/// So handles and live buffers are counted together, and the last of them to go deletes the pool. Thread-safe.
class OperationPool final : public MemoryBudget {
 public:
  /// A pool over PoolOf(context), bounded by its memory_budget_bytes.
  static std::shared_ptr<OperationPool> Make(const Context& context);

  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override;

 private:
  OperationPool(arrow::MemoryPool* parent, int64_t limit_bytes) : MemoryBudget(parent, limit_bytes) {}
  void Release();

  std::atomic<int64_t> references_{1};
};

/// `context` with `pool` in place of its own, and no budget beside the pool's.
Context ContextWithPool(const Context& context, arrow::MemoryPool* pool);

/// The bytes that an operation may hold by its context's budget, or by that of the pool it is given; 0: no limit.
int64_t BudgetBytesOf(const Context& context);

}  // namespace calve
