#include "calve/parquet/chunk_bytes.h"

#include "calve/base/status.h"

namespace calve::parquet {

arrow::Result<std::span<const uint8_t>> ChunkBytes::Peek(int64_t size) {
  size = std::min(size, remaining());
  const bool inside = window_ != nullptr && position_ + size <= window_offset_ + window_->size();
  if (!inside) ARROW_RETURN_NOT_OK(ReadWindow(std::min(std::max(size, window_bytes_), remaining())));
  const int64_t skipped = position_ - window_offset_;
  return std::span<const uint8_t>(window_->data() + skipped, static_cast<size_t>(window_->size() - skipped));
}

arrow::Status ChunkBytes::ReadWindow(int64_t size) {
  window_.reset();
  if (file_->supports_zero_copy()) {
    ARROW_ASSIGN_OR_RAISE(window_, file_->ReadAt(position_, size));
  } else {
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(size, pool_));
    ARROW_ASSIGN_OR_RAISE(const int64_t got, file_->ReadAt(position_, size, buffer->mutable_data()));
    window_ = arrow::SliceBuffer(std::move(buffer), 0, got);
  }
  window_offset_ = position_;
  if (window_->size() < size) {
    return IOError("{} bytes at byte {} of the file, {} expected", window_->size(), position_, size);
  }
  return arrow::Status::OK();
}

}  // namespace calve::parquet
