#include "calve/base/memory_budget.h"

#include <fmt/format.h>

namespace calve {

arrow::Status MemoryBudget::Take(int64_t bytes) {
  const int64_t now = in_use_ += bytes;
  if (bytes > 0 && limit_bytes_ > 0 && now > limit_bytes_) {
    in_use_ -= bytes;
    return arrow::Status::OutOfMemory(
        fmt::format("memory budget exceeded: {} bytes more asked, {} of {} in use", bytes, now - bytes, limit_bytes_));
  }
  int64_t peak = peak_;
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
  return arrow::Status::OK();
}

arrow::Status MemoryBudget::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  ARROW_RETURN_NOT_OK(Take(size));
  arrow::Status status = parent_->Allocate(size, alignment, out);
  if (!status.ok()) {
    Give(size);
    return status;
  }
  total_ += size;
  ++allocations_;
  return status;
}

arrow::Status MemoryBudget::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) {
  ARROW_RETURN_NOT_OK(Take(new_size - old_size));
  arrow::Status status = parent_->Reallocate(old_size, new_size, alignment, ptr);
  if (!status.ok()) {
    Give(new_size - old_size);
    return status;
  }
  total_ += std::max<int64_t>(new_size - old_size, 0);
  ++allocations_;
  return status;
}

void MemoryBudget::Free(uint8_t* buffer, int64_t size, int64_t alignment) {
  parent_->Free(buffer, size, alignment);
  Give(size);
}

}  // namespace calve
