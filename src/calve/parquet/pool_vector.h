#pragma once

#include "calve/array/array_data.h"

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/bit_util.h>

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
  PoolVector(PoolVector&& other) noexcept : pool_(other.pool_) { Swap(other); }
  PoolVector& operator=(PoolVector&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~PoolVector() { Release(); }

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
    if (needed <= capacity_ && data_ != nullptr) return arrow::Status::OK();
    return Grow(std::max(needed, std::min<int64_t>(capacity_ * 2, capacity_ + kLargestStep)));
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
    if (size > size_ || data_ == nullptr) ARROW_RETURN_NOT_OK(Reserve(size - size_));
    size_ = size;
    return arrow::Status::OK();
  }

  /// There must be room; new elements are not initialized.
  void UnsafeResize(int64_t size) { size_ = size; }

  /// Drops the elements and keeps the memory.
  void Clear() { size_ = 0; }
  /// Drops the elements and the memory.
  void Release() {
    if (data_ != nullptr) pool_->Free(reinterpret_cast<uint8_t*>(data_), allocated_bytes_);
    Forget();
  }

  /// The elements as a buffer, of which at most half is room to spare; leaves this empty.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Finish() {
    if (data_ == nullptr) ARROW_RETURN_NOT_OK(Allocate(0));
    // Moving what is there costs more than a little room to spare.
    constexpr int64_t kLittle = 4096, kMuch = 16 << 20;
    const int64_t spare = allocated_bytes_ - size_bytes();
    if (spare > kMuch || spare > size_bytes() + kLittle) ARROW_RETURN_NOT_OK(Allocate(size_bytes()));
    return TakeBuffer();
  }

  /// The same; what lies in the slack behind the elements may be read.
  arrow::Result<std::shared_ptr<arrow::Buffer>> FinishWithSlack() {
    ARROW_RETURN_NOT_OK(Reserve(0));
    return TakeBuffer();
  }

 private:
  /// Doubling stops here, so that a large buffer does not hold as much again in vain.
  static constexpr int64_t kLargestStep = (int64_t{64} << 20) / static_cast<int64_t>(sizeof(T)) + 1;

  arrow::Status Grow(int64_t capacity) {
    ARROW_RETURN_NOT_OK(Allocate(capacity * static_cast<int64_t>(sizeof(T)) + kPoolVectorSlackBytes));
    capacity_ = capacity;
    return arrow::Status::OK();
  }

  /// Makes the memory hold `bytes`.
  arrow::Status Allocate(int64_t bytes) {
    const int64_t rounded = arrow::bit_util::RoundUpToMultipleOf64(bytes);
    auto* memory = reinterpret_cast<uint8_t*>(data_);
    ARROW_RETURN_NOT_OK(memory == nullptr ? pool_->Allocate(rounded, &memory)
                                          : pool_->Reallocate(allocated_bytes_, rounded, &memory));
    data_ = reinterpret_cast<T*>(memory);
    allocated_bytes_ = rounded;
    return arrow::Status::OK();
  }

  std::shared_ptr<arrow::Buffer> TakeBuffer() {
    auto buffer = OwnMemory(reinterpret_cast<uint8_t*>(data_), size_bytes(), allocated_bytes_, pool_);
    Forget();
    return buffer;
  }

  void Forget() {
    data_ = nullptr;
    size_ = capacity_ = allocated_bytes_ = 0;
  }

  void Swap(PoolVector& other) {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(allocated_bytes_, other.allocated_bytes_);
  }

  arrow::MemoryPool* pool_ = nullptr;
  T* data_ = nullptr;
  int64_t size_ = 0, capacity_ = 0;
  int64_t allocated_bytes_ = 0;
};

/// Bytes that an encoder appends to.
using ByteBuffer = PoolVector<uint8_t>;

}  // namespace calve::parquet
