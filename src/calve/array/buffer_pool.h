#pragma once

#include <arrow/memory_pool.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace calve {

/// A memory pool that keeps what is given back and hands it out again, still warm in the caches and mapped.
///
/// Sizes are rounded up to 64 bytes more than one of four steps a power of two, so memory of about the size asked for
/// is found again. At most `max_idle_bytes` are kept, in blocks of up to 8 MiB, or as much as was in use at once, up to
/// `max_reused_bytes`, where that is more: who holds a table and drops it will hold the next, and fresh memory comes
/// cleared page by page. Where that is too little, what goes is of the sizes that were asked for longest ago. What is
/// idle counts as allocated from the parent, and is given up when the parent refuses an allocation. Arrays may outlive
/// the reader that made them: handles and live allocations are counted together, and the last of them to go deletes the
/// pool. Thread-safe.
class BufferPool final : public arrow::MemoryPool {
 public:
  static constexpr int64_t kDefaultIdleBytes = int64_t{64} << 20;

  /// The parent outlives everything allocated here.
  static std::shared_ptr<BufferPool> Make(arrow::MemoryPool* parent, int64_t max_idle_bytes = kDefaultIdleBytes,
                                          int64_t max_reused_bytes = 0);
  /// `pool` itself where it is a BufferPool; over Arrow's default pool, the one that the process shares, which may keep
  /// as much as was in use at once, up to 1 GiB; else a new one that keeps `max_idle_bytes`.
  static std::shared_ptr<BufferPool> Over(arrow::MemoryPool* pool, int64_t max_idle_bytes = kDefaultIdleBytes);

  using MemoryPool::Allocate;
  using MemoryPool::Free;
  using MemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) override;
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override;
  void ReleaseUnused() override;

  int64_t bytes_allocated() const override { return parent_->bytes_allocated(); }
  int64_t max_memory() const override { return parent_->max_memory(); }
  int64_t total_bytes_allocated() const override { return parent_->total_bytes_allocated(); }
  int64_t num_allocations() const override { return parent_->num_allocations(); }
  std::string backend_name() const override { return parent_->backend_name(); }

  int64_t idle_bytes() const { return idle_bytes_; }
  /// What an allocation of `size` bytes takes.
  static int64_t RoundUp(int64_t size);

 private:
  struct Handle;
  static constexpr size_t kClasses = 256;

  BufferPool(arrow::MemoryPool* parent, int64_t max_idle_bytes, int64_t max_reused_bytes);
  ~BufferPool() override;
  std::shared_ptr<BufferPool> NewHandle();
  void Release(bool handle);
  /// The idle blocks of a size.
  struct Idle {
    std::vector<uint8_t*> blocks;
    int64_t last_asked = 0;  ///< when one was asked for: a count of what was
  };

  uint8_t* TakeIdle(size_t size_class);
  /// Gives up blocks of the sizes that were asked for longest ago, until `bytes` of this size may be kept; false when
  /// there is none that was asked for less lately.
  bool MakeRoom(size_t size_class, int64_t bytes);
  Idle* AskedForLeast();
  void FreeKept(uint8_t* buffer, int64_t size);
  /// Counts `bytes` as in use.
  void CountUse(int64_t bytes);
  int64_t MostIdle() const;
  static size_t ClassOf(int64_t size);
  static int64_t SizeOfClass(size_t size_class);

  arrow::MemoryPool* parent_;
  const int64_t max_idle_bytes_, max_reused_bytes_;
  std::atomic<int64_t> references_{0}, handles_{0};
  std::atomic<int64_t> idle_bytes_{0};
  std::atomic<int64_t> used_bytes_{0}, most_used_bytes_{0};  ///< of blocks that would be kept
  std::mutex mutex_;
  std::array<Idle, kClasses> idle_;
  int64_t asked_ = 0;  ///< blocks, so far
};

}  // namespace calve
