#pragma once

#include <arrow/result.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace calve::ipc {

/// The bytes of an IPC stream, front to back.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Reads `size` bytes, fewer only where the stream ends. Invalid when it breaks off instead.
  virtual arrow::Result<int64_t> Read(uint8_t* out, int64_t size) = 0;
  /// The next `size` bytes where they lie, valid as long as the source; null, and nothing is passed over, when they do
  /// not lie anywhere.
  virtual const uint8_t* Borrow(int64_t) { return nullptr; }
  /// No more bytes than this can follow.
  virtual int64_t MostLeft() const = 0;
  /// Whether MostLeft() is bounded by what is there, not by what was announced.
  virtual bool is_bounded() const { return true; }
};

/// Bytes in memory.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const uint8_t> bytes) : left_(bytes) {}

  arrow::Result<int64_t> Read(uint8_t* out, int64_t size) override {
    const auto count = std::min(static_cast<size_t>(size), left_.size());
    if (count > 0) std::memcpy(out, left_.data(), count);
    left_ = left_.subspan(count);
    return static_cast<int64_t>(count);
  }
  const uint8_t* Borrow(int64_t size) override {
    if (static_cast<size_t>(size) > left_.size()) return nullptr;
    const uint8_t* bytes = left_.data();
    left_ = left_.subspan(static_cast<size_t>(size));
    return bytes;
  }
  int64_t MostLeft() const override { return static_cast<int64_t>(left_.size()); }

 private:
  std::span<const uint8_t> left_;
};

}  // namespace calve::ipc
