#pragma once

#include <arrow/memory_pool.h>

#include <atomic>
#include <string>

namespace calve {

/// A memory pool that draws on another and refuses to hold more than a budget.
///
/// An allocation that would exceed the budget fails with OutOfMemory, naming the budget and what is in use; nothing is
/// aborted. bytes_allocated() and max_memory() count what went through this pool only. Thread-safe. The parent outlives
/// the pool, and the pool every buffer made from it.
class MemoryBudget : public arrow::MemoryPool {
 public:
  /// `limit_bytes` 0: no limit, only counting.
  MemoryBudget(arrow::MemoryPool* parent, int64_t limit_bytes) : parent_(parent), limit_bytes_(limit_bytes) {}

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) override;
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override;

  int64_t limit_bytes() const { return limit_bytes_; }
  int64_t bytes_allocated() const override { return in_use_; }
  int64_t max_memory() const override { return peak_; }
  int64_t total_bytes_allocated() const override { return total_; }
  int64_t num_allocations() const override { return allocations_; }
  std::string backend_name() const override { return parent_->backend_name(); }

 private:
  arrow::Status Take(int64_t bytes);
  void Give(int64_t bytes) { in_use_ -= bytes; }

  arrow::MemoryPool* parent_;
  const int64_t limit_bytes_;
  std::atomic<int64_t> in_use_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<int64_t> total_{0};
  std::atomic<int64_t> allocations_{0};
};

}  // namespace calve
