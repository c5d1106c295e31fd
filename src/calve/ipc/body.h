#pragma once

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace calve::ipc {

/// What the memory of a block's bodies hangs on: one exactly sized allocation of its own, a buffer of the input's, or
/// both. Nothing is filled with zeros.
class Body {
 public:
  Body() = default;
  explicit Body(std::shared_ptr<arrow::Buffer> input) : input_(std::move(input)) {}
  static arrow::Result<Body> Allocate(arrow::MemoryPool* pool, int64_t size);

  /// Allocates for a body that has no memory of its own yet.
  arrow::Status Add(arrow::MemoryPool* pool, int64_t size);

  Body(Body&& other) noexcept { *this = std::move(other); }
  Body& operator=(Body&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(input_, other.input_);
    return *this;
  }
  ~Body() { Free(); }

  uint8_t* data() const { return data_; }
  int64_t size() const { return size_; }
  void Free();

 private:
  arrow::MemoryPool* pool_ = nullptr;
  uint8_t* data_ = nullptr;
  int64_t size_ = 0;
  std::shared_ptr<arrow::Buffer> input_;
};

}  // namespace calve::ipc
