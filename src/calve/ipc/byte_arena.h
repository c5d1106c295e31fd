#pragma once

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace calve::ipc {

/// Every message and every buffer of a body takes a multiple of this.
inline constexpr int64_t kAlignment = 64;

inline int64_t RoundUpToAlignment(int64_t size) { return (size + kAlignment - 1) & ~(kAlignment - 1); }

/// Bytes that grow at their end and are not zero-filled first. Memory is kept when it is cleared. Pointers into it hold
/// until it grows.
class ByteArena {
 public:
  /// Bytes behind the end that may be written over, though not kept.
  static constexpr int64_t kSlack = 64;

  explicit ByteArena(arrow::MemoryPool* pool) : pool_(pool) {}
  ByteArena(const ByteArena&) = delete;
  ~ByteArena() { Release(); }

  int64_t size() const { return size_; }
  int64_t capacity() const { return capacity_; }
  uint8_t* data() { return data_; }
  std::span<const uint8_t> bytes() const { return {data_, static_cast<size_t>(size_)}; }

  /// Keeps the first `size` bytes.
  void Truncate(int64_t size) { size_ = size; }
  void Release() {
    if (data_ != nullptr) pool_->Free(data_, capacity_, kAlignment);
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  /// Room for `size` more bytes at the end, which are not written yet.
  arrow::Result<uint8_t*> Extend(int64_t size) {
    if (size_ + size + kSlack > capacity_) ARROW_RETURN_NOT_OK(Grow(size_ + size + kSlack));
    uint8_t* at = data_ + size_;
    size_ += size;
    return at;
  }

  arrow::Status Append(std::span<const uint8_t> bytes) {
    ARROW_ASSIGN_OR_RAISE(uint8_t* at, Extend(static_cast<int64_t>(bytes.size())));
    if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
    return arrow::Status::OK();
  }

  /// Zeros up to the next multiple of kAlignment.
  arrow::Status Pad() {
    const int64_t padding = RoundUpToAlignment(size_) - size_;
    ARROW_ASSIGN_OR_RAISE(uint8_t* at, Extend(padding));
    std::memset(at, 0, static_cast<size_t>(padding));
    return arrow::Status::OK();
  }

 private:
  arrow::Status Grow(int64_t needed) {
    const int64_t capacity = RoundUpToAlignment(std::max(needed, capacity_ + capacity_ / 2));
    ARROW_RETURN_NOT_OK(data_ == nullptr ? pool_->Allocate(capacity, kAlignment, &data_)
                                         : pool_->Reallocate(capacity_, capacity, kAlignment, &data_));
    capacity_ = capacity;
    return arrow::Status::OK();
  }

  arrow::MemoryPool* pool_;
  uint8_t* data_ = nullptr;
  int64_t size_ = 0, capacity_ = 0;
};

}  // namespace calve::ipc
