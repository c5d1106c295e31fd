#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

namespace calve::ipc {

/// Memory that is used again and again, not filled with zeros. Pointers into it hold until it grows.
class Scratch {
 public:
  /// What one bad input made it grow to beyond this is not kept.
  static constexpr int64_t kMostKept = int64_t{1} << 20;

  uint8_t* data() { return bytes_.get(); }
  const uint8_t* data() const { return bytes_.get(); }
  int64_t size() const { return size_; }
  int64_t capacity() const { return capacity_; }
  void Clear() { size_ = 0; }

  /// Room for `size` more bytes, at the end of what is there.
  uint8_t* Grow(int64_t size) {
    if (size > capacity_ - size_) {
      const int64_t capacity = std::max(size_ + size, 2 * capacity_);
      std::unique_ptr<uint8_t[]> grown(new uint8_t[static_cast<size_t>(capacity)]);
      if (size_ > 0) std::memcpy(grown.get(), bytes_.get(), static_cast<size_t>(size_));
      bytes_ = std::move(grown);
      capacity_ = capacity;
    }
    uint8_t* begin = bytes_.get() + size_;
    size_ += size;
    return begin;
  }

  void ReleaseIfLarge() {
    size_ = 0;
    if (capacity_ <= kMostKept) return;
    bytes_.reset();
    capacity_ = 0;
  }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  int64_t size_ = 0, capacity_ = 0;
};

}  // namespace calve::ipc
