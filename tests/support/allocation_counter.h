#pragma once

#include <arrow/memory_pool.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

namespace calve::testing {

/// What was allocated since the counter was reset: by operator new on this thread (a program that counts replaces it,
/// see replace_operator_new.h) and from the pool.
struct Allocations {
  int64_t count = 0, bytes = 0, live = 0, peak = 0;

  void Add(int64_t size) {
    ++count;
    bytes += size;
    live += size;
    peak = std::max(peak, live);
  }
};

/// Of operator new, while it counts; null: it does not.
extern thread_local Allocations* new_allocations;

/// Counts into an Allocations, over the default pool.
class CountingPool final : public arrow::MemoryPool {
 public:
  explicit CountingPool(Allocations* allocations) : allocations_(allocations) {}
  using MemoryPool::Allocate;
  using MemoryPool::Free;
  using MemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    allocations_->Add(size);
    in_use_ += size;
    return parent_->Allocate(size, alignment, out);
  }
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) override {
    allocations_->Add(new_size);
    allocations_->live -= old_size;
    in_use_ += new_size - old_size;
    return parent_->Reallocate(old_size, new_size, alignment, ptr);
  }
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override {
    allocations_->live -= size;
    in_use_ -= size;
    parent_->Free(buffer, size, alignment);
  }
  int64_t bytes_allocated() const override { return in_use_; }
  int64_t total_bytes_allocated() const override { return allocations_->bytes; }
  int64_t num_allocations() const override { return allocations_->count; }
  std::string backend_name() const override { return parent_->backend_name(); }

 private:
  Allocations* allocations_;
  std::atomic<int64_t> in_use_{0};
  arrow::MemoryPool* parent_ = arrow::default_memory_pool();
};

/// Counts operator new on this thread while it lives.
class CountNew {
 public:
  explicit CountNew(Allocations* into) { new_allocations = into; }
  ~CountNew() { new_allocations = nullptr; }
  CountNew(const CountNew&) = delete;
  CountNew& operator=(const CountNew&) = delete;
};

}  // namespace calve::testing
