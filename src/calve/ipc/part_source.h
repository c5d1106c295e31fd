#pragma once

#include "calve/ipc/byte_source.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace calve::ipc {

/// Bytes from here and there, as one stream. The parts outlive it.
class PartSource final : public ByteSource {
 public:
  using Part = std::span<const uint8_t>;
  explicit PartSource(std::span<const Part> parts) : parts_(parts) { SkipEmpty(); }

  arrow::Result<int64_t> Read(uint8_t* out, int64_t size) override {
    int64_t done = 0;
    while (done < size && !parts_.empty()) {
      const Part some = Take(static_cast<size_t>(size - done));
      std::memcpy(out + done, some.data(), some.size());
      done += static_cast<int64_t>(some.size());
    }
    return done;
  }
  const uint8_t* Borrow(int64_t size) override {
    if (parts_.empty() || static_cast<size_t>(size) > parts_.front().size() - at_) return nullptr;
    return Take(static_cast<size_t>(size)).data();
  }
  int64_t MostLeft() const override {
    int64_t left = -static_cast<int64_t>(at_);
    for (const Part& part : parts_) left += static_cast<int64_t>(part.size());
    return left;
  }

 private:
  /// Up to `size` bytes, of one part.
  Part Take(size_t size) {
    const Part taken = parts_.front().subspan(at_, std::min(size, parts_.front().size() - at_));
    at_ += taken.size();
    SkipEmpty();
    return taken;
  }
  void SkipEmpty() {
    while (!parts_.empty() && at_ == parts_.front().size()) {
      parts_ = parts_.subspan(1);
      at_ = 0;
    }
  }

  std::span<const Part> parts_;
  size_t at_ = 0;
};

}  // namespace calve::ipc
