#pragma once

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace calve::parquet {

/// Bytes behind a PoolVector's capacity that may be read and written: kernels copy in whole vectors.
inline constexpr int64_t kPoolVectorSlackBytes = 64;

/// A growing array of plain values in memory of an arrow::MemoryPool, whose refusal is a Status and not an exception.
template <typename T>
class PoolVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit PoolVector(arrow::MemoryPool* pool) : pool_(pool) {}

  arrow::MemoryPool* pool() const { return pool_; }
  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t size_bytes() const { return size_ * static_cast<int64_t>(sizeof(T)); }
  int64_t capacity_bytes() const { return capacity_ * static_cast<int64_t>(sizeof(T)); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }
  std::span<const T> span() const { return {data_, static_cast<size_t>(size_)}; }

  /// Makes room for `additional` more elements, and for the slack behind them even when there are none.
  arrow::Status Reserve(int64_t additional) {
    const int64_t needed = size_ + additional;
    if (needed <= capacity_ && buffer_ != nullptr) return arrow::Status::OK();
    const int64_t capacity = std::max(needed, std::min<int64_t>(capacity_ * 2, capacity_ + kLargestStep));
    if (buffer_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(buffer_, arrow::AllocateResizableBuffer(0, pool_));
    }
    ARROW_RETURN_NOT_OK(
        buffer_->Resize(capacity * static_cast<int64_t>(sizeof(T)) + kPoolVectorSlackBytes, /*shrink_to_fit=*/false));
    data_ = reinterpret_cast<T*>(buffer_->mutable_data());
    capacity_ = capacity;
    return arrow::Status::OK();
  }

  arrow::Status Append(const T& value) {
    if (size_ == capacity_) ARROW_RETURN_NOT_OK(Reserve(1));
    UnsafeAppend(value);
    return arrow::Status::OK();
  }
  arrow::Status Append(const T* values, int64_t count) {
    ARROW_RETURN_NOT_OK(Reserve(count));
    UnsafeAppend(values, count);
    return arrow::Status::OK();
  }
  arrow::Status AppendRun(const T& value, int64_t count) {
    ARROW_RETURN_NOT_OK(Reserve(count));
    std::fill_n(data_ + size_, count, value);
    size_ += count;
    return arrow::Status::OK();
  }
  /// There must be room.
  void UnsafeAppend(const T& value) { data_[size_++] = value; }
  void UnsafeAppend(const T* values, int64_t count) {
    if (count > 0) std::memcpy(static_cast<void*>(data_ + size_), values, static_cast<size_t>(count) * sizeof(T));
    size_ += count;
  }

  /// New elements are not initialized.
  arrow::Status Resize(int64_t size) {
    if (size > size_ || buffer_ == nullptr) ARROW_RETURN_NOT_OK(Reserve(size - size_));
    size_ = size;
    return arrow::Status::OK();
  }

  /// There must be room; new elements are not initialized.
  void UnsafeResize(int64_t size) { size_ = size; }

  /// Drops the elements and keeps the memory.
  void Clear() { size_ = 0; }
  /// Drops the elements and the memory.
  void Release() {
    buffer_.reset();
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  /// The elements as a buffer, of which at most half is room to spare; leaves this empty.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Finish() {
    if (buffer_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(buffer_, arrow::AllocateResizableBuffer(0, pool_));
    }
    // Moving what is there costs more than a little room to spare.
    constexpr int64_t kLittle = 4096, kMuch = 16 << 20;
    const int64_t spare = buffer_->capacity() - size_bytes();
    const bool shrink = spare > kMuch || spare > size_bytes() + kLittle;
    ARROW_RETURN_NOT_OK(buffer_->Resize(size_bytes(), shrink));
    std::shared_ptr<arrow::Buffer> result = std::move(buffer_);
    Release();
    return result;
  }

  /// The same; what lies in the slack behind the elements may be read.
  arrow::Result<std::shared_ptr<arrow::Buffer>> FinishWithSlack() {
    ARROW_RETURN_NOT_OK(Reserve(0));
    ARROW_RETURN_NOT_OK(buffer_->Resize(size_bytes(), /*shrink_to_fit=*/false));
    std::shared_ptr<arrow::Buffer> result = std::move(buffer_);
    Release();
    return result;
  }

 private:
  /// Doubling stops here, so that a large buffer does not hold as much again in vain.
  static constexpr int64_t kLargestStep = (int64_t{64} << 20) / static_cast<int64_t>(sizeof(T)) + 1;

  arrow::MemoryPool* pool_;
  std::unique_ptr<arrow::ResizableBuffer> buffer_;
  T* data_ = nullptr;
  int64_t size_ = 0, capacity_ = 0;
};

/// Bytes that an encoder appends to.
using ByteBuffer = PoolVector<uint8_t>;

}  // namespace calve::parquet
