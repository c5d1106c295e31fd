#include "calve/array/buffer_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace calve {
namespace {

/// Blocks hold a step of four a power of two, and this: what is asked for is often a power of two of values and room
/// for kernels to write behind them.
constexpr int64_t kSlack = 64;
constexpr int64_t kSmallest = 64;
/// Larger blocks are the parent's: few of them would fill the pool, and it may grow them without a copy.
constexpr int64_t kLargest = int64_t{8} << 20;

bool IsKept(int64_t size, int64_t alignment) {
  return size > 0 && size <= kLargest && alignment <= arrow::kDefaultBufferAlignment;
}

}  // namespace

std::shared_ptr<BufferPool> BufferPool::Make(arrow::MemoryPool* parent, int64_t max_idle_bytes,
                                             int64_t max_reused_bytes) {
  return (new BufferPool(parent, max_idle_bytes, max_reused_bytes))->NewHandle();
}

std::shared_ptr<BufferPool> BufferPool::Over(arrow::MemoryPool* pool, int64_t max_idle_bytes) {
  if (auto* buffers = dynamic_cast<BufferPool*>(pool)) return buffers->NewHandle();
  if (pool != arrow::default_memory_pool()) return Make(pool, max_idle_bytes);
  // Readers that follow each other find what the one before left. Never destroyed: arrays may live till the very end.
  constexpr int64_t kMostReused = int64_t{1} << 30;
  static auto* const shared =
      new std::shared_ptr<BufferPool>(Make(arrow::default_memory_pool(), kDefaultIdleBytes, kMostReused));
  return *shared;
}

BufferPool::BufferPool(arrow::MemoryPool* parent, int64_t max_idle_bytes, int64_t max_reused_bytes)
    : parent_(parent), max_idle_bytes_(max_idle_bytes), max_reused_bytes_(max_reused_bytes) {}

BufferPool::~BufferPool() { ReleaseUnused(); }

std::shared_ptr<BufferPool> BufferPool::NewHandle() {
  ++references_;
  ++handles_;
  return {this, [](BufferPool* pool) { pool->Release(true); }};
}

void BufferPool::Release(bool handle) {
  // Without a handle nobody will ask again: what is idle is of no use.
  if (handle && --handles_ == 0) ReleaseUnused();
  if (--references_ == 0) delete this;
}

size_t BufferPool::ClassOf(int64_t size) {
  const auto last = static_cast<uint64_t>(std::max(size - kSlack, kSmallest) - 1);
  const int power = std::bit_width(last) - 1;  // last is in [2^power, 2^(power + 1))
  return static_cast<size_t>(power) * 4 + (last >> (power - 2) & 3);
}

int64_t BufferPool::SizeOfClass(size_t size_class) {
  const size_t power = size_class / 4;
  return static_cast<int64_t>((4 + size_class % 4 + 1) << (power - 2)) + kSlack;
}

int64_t BufferPool::RoundUp(int64_t size) {
  const auto last = static_cast<uint64_t>(std::max(size - kSlack, kSmallest) - 1);
  const int shift = std::bit_width(last) - 3;
  return static_cast<int64_t>(((last >> shift) + 1) << shift) + kSlack;
}

uint8_t* BufferPool::TakeIdle(size_t size_class) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& [idle, last_asked] = idle_[size_class];
  last_asked = ++asked_;
  if (idle.empty()) return nullptr;
  uint8_t* block = idle.back();
  idle.pop_back();
  return block;
}

BufferPool::Idle* BufferPool::AskedForLeast() {
  Idle* least = nullptr;
  for (Idle& idle : idle_) {
    if (!idle.blocks.empty() && (least == nullptr || idle.last_asked < least->last_asked)) least = &idle;
  }
  return least;
}

bool BufferPool::MakeRoom(size_t size_class, int64_t bytes) {
  constexpr int kMostGone = 32;  // of one call; the next makes more room
  std::lock_guard<std::mutex> lock(mutex_);
  for (int gone = 0; gone < kMostGone && idle_bytes_ + bytes > MostIdle(); ++gone) {
    Idle* least = AskedForLeast();
    if (least == nullptr || least->last_asked >= idle_[size_class].last_asked) return false;
    const int64_t size = SizeOfClass(static_cast<size_t>(least - idle_.data()));
    parent_->Free(least->blocks.back(), size, arrow::kDefaultBufferAlignment);
    least->blocks.pop_back();
    idle_bytes_ -= size;
  }
  return idle_bytes_ + bytes <= MostIdle();
}

void BufferPool::CountUse(int64_t bytes) {
  const int64_t used = used_bytes_ += bytes;
  int64_t most = most_used_bytes_;
  while (used > most && !most_used_bytes_.compare_exchange_weak(most, used)) {
  }
}

int64_t BufferPool::MostIdle() const {
  return std::max(max_idle_bytes_, std::min<int64_t>(most_used_bytes_, max_reused_bytes_));
}

arrow::Status BufferPool::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  if (IsKept(size, alignment)) {
    const int64_t rounded = RoundUp(size);
    *out = TakeIdle(ClassOf(size));
    if (*out != nullptr) {
      idle_bytes_ -= rounded;
    } else if (!parent_->Allocate(rounded, arrow::kDefaultBufferAlignment, out).ok()) {
      ReleaseUnused();
      ARROW_RETURN_NOT_OK(parent_->Allocate(rounded, arrow::kDefaultBufferAlignment, out));
    }
    CountUse(rounded);
  } else {
    if (!parent_->Allocate(size, alignment, out).ok()) {
      ReleaseUnused();
      ARROW_RETURN_NOT_OK(parent_->Allocate(size, alignment, out));
    }
  }
  ++references_;
  return arrow::Status::OK();
}

arrow::Status BufferPool::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) {
  const bool was_kept = IsKept(old_size, alignment), will_be = IsKept(new_size, alignment);
  if (was_kept && will_be && ClassOf(old_size) == ClassOf(new_size)) return arrow::Status::OK();
  if (!was_kept && !will_be) {
    if (parent_->Reallocate(old_size, new_size, alignment, ptr).ok()) return arrow::Status::OK();
    ReleaseUnused();
    return parent_->Reallocate(old_size, new_size, alignment, ptr);
  }
  uint8_t* moved = nullptr;
  ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &moved));
  if (const int64_t size = std::min(old_size, new_size); size > 0) std::memcpy(moved, *ptr, static_cast<size_t>(size));
  Free(*ptr, old_size, alignment);
  *ptr = moved;
  return arrow::Status::OK();
}

void BufferPool::FreeKept(uint8_t* buffer, int64_t size) {
  const int64_t rounded = RoundUp(size);
  used_bytes_ -= rounded;
  const bool fits = idle_bytes_ + rounded <= MostIdle();
  if (handles_ == 0 || (!fits && !MakeRoom(ClassOf(size), rounded))) {
    return parent_->Free(buffer, rounded, arrow::kDefaultBufferAlignment);
  }
  idle_bytes_ += rounded;
  std::lock_guard<std::mutex> lock(mutex_);
  idle_[ClassOf(size)].blocks.push_back(buffer);
}

void BufferPool::Free(uint8_t* buffer, int64_t size, int64_t alignment) {
  if (IsKept(size, alignment)) {
    FreeKept(buffer, size);
  } else {
    parent_->Free(buffer, size, alignment);
  }
  Release(false);
}

void BufferPool::ReleaseUnused() {
  most_used_bytes_ = used_bytes_.load();
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t size_class = 0; size_class < kClasses; ++size_class) {
    if (idle_[size_class].blocks.empty()) continue;
    const int64_t size = SizeOfClass(size_class);
    for (uint8_t* block : idle_[size_class].blocks) {
      parent_->Free(block, size, arrow::kDefaultBufferAlignment);
      idle_bytes_ -= size;
    }
    idle_[size_class].blocks.clear();
  }
}

}  // namespace calve
