#include "calve/parquet/chunk_bytes.h"

#include "calve/array/array_data.h"
#include "calve/base/status.h"

#include <algorithm>

namespace calve::parquet {

arrow::Result<std::span<const uint8_t>> ChunkBytes::Peek(int64_t size) {
  size = std::min(size, remaining());
  const bool inside = window_ != nullptr && position_ + size <= window_offset_ + window_->size();
  if (!inside) ARROW_RETURN_NOT_OK(ReadWindow(BytesToRead(size)));
  const int64_t skipped = position_ - window_offset_;
  return std::span<const uint8_t>(window_->data() + skipped, static_cast<size_t>(window_->size() - skipped));
}

/// A window that ends inside a page has that part of it copied to the next.
int64_t ChunkBytes::BytesToRead(int64_t size) const {
  int64_t window = window_bytes_;
  if (page_bytes_ > 0 && page_bytes_ <= window_bytes_) {
    const int64_t page = page_bytes_ + page_bytes_ / 64;  // they differ a little
    window = std::max(window / page, int64_t{1}) * page;
  }
  return std::min(std::max(size, window), remaining());
}

arrow::Status ChunkBytes::ReadWindow(int64_t size) {
  StageTimer timer(counters_ == nullptr ? nullptr : &counters_->io_ns);
  const auto before = std::move(window_);
  std::span<const uint8_t> at_hand;
  if (before != nullptr && position_ < window_offset_ + before->size()) {
    const auto passed = static_cast<size_t>(position_ - window_offset_);
    at_hand = std::span(before->data(), static_cast<size_t>(before->size())).subspan(passed);
  }
  int64_t read_bytes = 0;
  if (ranges_ != nullptr) {
    ARROW_ASSIGN_OR_RAISE(window_, ranges_->Read({position_, size}, &read_bytes));
  }
  if (window_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(window_, ReadFile(at_hand, size));
    read_bytes = size - static_cast<int64_t>(at_hand.size());
  }
  window_offset_ = position_;
  if (window_->size() < size) {
    return IOError("{} bytes at byte {} of the file, {} expected", window_->size(), position_, size);
  }
  if (counters_ != nullptr) counters_->bytes_read += read_bytes;
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ChunkBytes::ReadFile(std::span<const uint8_t> first, int64_t size) {
  if (file_->supports_zero_copy()) return file_->ReadAt(position_, size);
  ARROW_ASSIGN_OR_RAISE(auto buffer, NewBuffer(size, pool_));
  std::copy(first.begin(), first.end(), buffer->mutable_data());
  const auto begin = static_cast<int64_t>(first.size());
  ARROW_ASSIGN_OR_RAISE(const int64_t got,
                        file_->ReadAt(position_ + begin, size - begin, buffer->mutable_data() + begin));
  return begin + got == size ? std::move(buffer) : arrow::SliceBuffer(std::move(buffer), 0, begin + got);
}

}  // namespace calve::parquet
