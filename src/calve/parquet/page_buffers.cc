#include "calve/parquet/page_buffers.h"

#include <algorithm>

namespace calve::parquet {
namespace {

/// A buffer is not given out for less than this part of what it holds.
constexpr int64_t kLargestWaste = 4;
/// Smaller buffers are given out for any size: no buffer holds less than 64 bytes, so those of tiny pages would
/// otherwise never be used again, and be looked at each time.
constexpr int64_t kSmallBytes = 4096;

}  // namespace

std::shared_ptr<PageBuffers> PageBuffers::Make(arrow::MemoryPool* pool, int64_t kept_bytes) {
  return std::shared_ptr<PageBuffers>(new PageBuffers(pool, kept_bytes));
}

arrow::Result<std::shared_ptr<arrow::ResizableBuffer>> PageBuffers::Take(int64_t size) {
  std::unique_ptr<arrow::ResizableBuffer> buffer = FindIdle(size);
  if (buffer == nullptr) {
    ARROW_ASSIGN_OR_RAISE(buffer, arrow::AllocateResizableBuffer(size, pool_));
  } else {
    ARROW_RETURN_NOT_OK(buffer->Resize(size, /*shrink_to_fit=*/false));
  }
  const auto give_back = [home = shared_from_this()](arrow::ResizableBuffer* b) {
    home->Give(std::unique_ptr<arrow::ResizableBuffer>(b));
  };
  return std::shared_ptr<arrow::ResizableBuffer>(buffer.release(), give_back);
}

int64_t PageBuffers::idle_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return idle_bytes_;
}

std::unique_ptr<arrow::ResizableBuffer> PageBuffers::FindIdle(int64_t size) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto best = idle_.end();
  // The last to come is the warmest.
  for (auto it = idle_.end(); it != idle_.begin();) {
    --it;
    const int64_t capacity = (*it)->capacity();
    if (capacity < size || capacity > std::max(size * kLargestWaste, kSmallBytes)) continue;
    if (best == idle_.end() || capacity < (*best)->capacity()) best = it;
  }
  if (best == idle_.end()) return nullptr;
  std::unique_ptr<arrow::ResizableBuffer> buffer = std::move(*best);
  idle_.erase(best);
  idle_bytes_ -= buffer->capacity();
  return buffer;
}

void PageBuffers::Give(std::unique_ptr<arrow::ResizableBuffer> buffer) {
  std::vector<std::unique_ptr<arrow::ResizableBuffer>> dropped;  // freed without the lock
  std::lock_guard<std::mutex> lock(mutex_);
  idle_bytes_ += buffer->capacity();
  idle_.push_back(std::move(buffer));
  // The oldest go first.
  while (idle_bytes_ > kept_bytes_) {
    idle_bytes_ -= idle_.front()->capacity();
    dropped.push_back(std::move(idle_.front()));
    idle_.erase(idle_.begin());
  }
}

}  // namespace calve::parquet
