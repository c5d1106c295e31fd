#include "calve/base/operation_pool.h"

#include "calve/base/context.h"

namespace calve {

std::shared_ptr<OperationPool> OperationPool::Make(const Context& context) {
  auto* pool = new OperationPool(PoolOf(context), context.memory_budget_bytes);
  return {pool, [](OperationPool* p) { p->Release(); }};
}

arrow::Status OperationPool::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  ARROW_RETURN_NOT_OK(MemoryBudget::Allocate(size, alignment, out));
  ++references_;
  return arrow::Status::OK();
}

void OperationPool::Free(uint8_t* buffer, int64_t size, int64_t alignment) {
  MemoryBudget::Free(buffer, size, alignment);
  Release();
}

void OperationPool::Release() {
  if (--references_ == 0) delete this;
}

Context ContextWithPool(const Context& context, arrow::MemoryPool* pool) {
  Context result = context;
  result.pool = pool;
  result.memory_budget_bytes = 0;
  return result;
}

int64_t BudgetBytesOf(const Context& context) {
  if (context.memory_budget_bytes > 0) return context.memory_budget_bytes;
  const auto* budget = dynamic_cast<const MemoryBudget*>(context.pool);
  return budget != nullptr ? budget->limit_bytes() : 0;
}

}  // namespace calve
