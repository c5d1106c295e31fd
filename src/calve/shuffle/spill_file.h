#pragma once

#include "calve/io/local_file.h"

#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace calve::shuffle {

/// Blocks of spilled rows, in a file without a name: it is gone when it is closed, however that comes about.
class SpillFile {
 public:
  static constexpr size_t kBufferSize = 256 << 10;
  static constexpr size_t kLargeWrite = 64 << 10;  ///< is not copied to the buffer

  /// In `folder`, which exists.
  static arrow::Result<std::unique_ptr<SpillFile>> Make(const std::string& folder);

  int64_t size() const { return written_ + static_cast<int64_t>(buffer_.size()); }
  arrow::Status Append(std::span<const uint8_t> bytes);
  /// Writes out what is buffered; before reading.
  arrow::Status Flush();

  struct Range {
    int64_t begin = 0, end = 0;
  };
  /// Calls `visit` with the bytes of `ranges`, one after another, as many at a time as the buffer holds. They go to
  /// byte `position` of a file, and are cut where that comes to multiples of the buffer's size: the system keeps what
  /// is written so in fewer and larger pieces.
  template <typename Visit>
  arrow::Status Read(std::span<const Range> ranges, int64_t position, Visit visit) {
    buffer_.resize(kBufferSize);
    size_t held = 0;
    for (Range left : ranges) {
      while (left.begin < left.end) {
        const size_t room = kBufferSize - static_cast<size_t>(position) % kBufferSize - held;
        const int64_t size = std::min(left.end - left.begin, static_cast<int64_t>(room));
        ARROW_RETURN_NOT_OK(ReadAt(left.begin, size, buffer_.data() + held));
        held += static_cast<size_t>(size);
        left.begin += size;
        if (static_cast<int64_t>(room) > size) break;
        ARROW_RETURN_NOT_OK(visit(std::span<const uint8_t>(buffer_.data(), held)));
        position += static_cast<int64_t>(held);
        held = 0;
      }
    }
    return held == 0 ? arrow::Status::OK() : visit(std::span<const uint8_t>(buffer_.data(), held));
  }

 private:
  SpillFile(FileDescriptor file, std::string location) : file_(std::move(file)), location_(std::move(location)) {}
  arrow::Status ReadAt(int64_t begin, int64_t size, uint8_t* out) const;
  arrow::Status WriteOut(std::span<const uint8_t> more);  ///< what is buffered, and then `more`

  FileDescriptor file_;
  std::string location_;
  int64_t written_ = 0;
  std::vector<uint8_t> buffer_;
};

}  // namespace calve::shuffle
