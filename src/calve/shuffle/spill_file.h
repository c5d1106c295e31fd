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
  /// Calls `visit` with the bytes of [begin, end), a part at a time.
  template <typename Visit>
  arrow::Status Read(int64_t begin, int64_t end, Visit visit) {
    buffer_.resize(kBufferSize);
    while (begin < end) {
      const int64_t size = std::min<int64_t>(end - begin, kBufferSize);
      ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadFully(file_, begin, size, buffer_.data(), location_));
      if (got != size) return arrow::Status::IOError("cannot read ", location_, ": it was cut short");
      ARROW_RETURN_NOT_OK(visit(std::span<const uint8_t>(buffer_.data(), static_cast<size_t>(size))));
      begin += size;
    }
    return arrow::Status::OK();
  }

 private:
  SpillFile(FileDescriptor file, std::string location) : file_(std::move(file)), location_(std::move(location)) {}
  arrow::Status WriteOut(std::span<const uint8_t> more);  ///< what is buffered, and then `more`

  FileDescriptor file_;
  std::string location_;
  int64_t written_ = 0;
  std::vector<uint8_t> buffer_;
};

}  // namespace calve::shuffle
