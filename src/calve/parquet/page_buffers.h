#pragma once

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace calve::parquet {

/// Memory for pages that is used again: a buffer returns here when the last pointer to it goes.
///
/// Fresh memory costs more than decompressing into it (the system clears every page of it first), so a buffer that is
/// warm is worth keeping. At most `kept_bytes` lie idle. Thread-safe. Lives as long as its handles and buffers do; the
/// memory pool lives longer.
class PageBuffers : public std::enable_shared_from_this<PageBuffers> {
 public:
  static std::shared_ptr<PageBuffers> Make(arrow::MemoryPool* pool, int64_t kept_bytes = int64_t{32} << 20);

  /// A buffer of `size` bytes, their values undefined.
  arrow::Result<std::shared_ptr<arrow::ResizableBuffer>> Take(int64_t size);

  int64_t idle_bytes() const;

 private:
  PageBuffers(arrow::MemoryPool* pool, int64_t kept_bytes) : pool_(pool), kept_bytes_(kept_bytes) {}
  std::unique_ptr<arrow::ResizableBuffer> FindIdle(int64_t size);
  void Give(std::unique_ptr<arrow::ResizableBuffer> buffer);

  arrow::MemoryPool* pool_;
  const int64_t kept_bytes_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<arrow::ResizableBuffer>> idle_;
  int64_t idle_bytes_ = 0;
};

}  // namespace calve::parquet
