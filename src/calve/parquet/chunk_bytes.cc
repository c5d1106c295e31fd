#include "calve/parquet/chunk_bytes.h"

#include "calve/base/status.h"

#include <algorithm>

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
  StageTimer timer(counters_ == nullptr ? nullptr : &counters_->io_ns);
  int64_t read_bytes = 0;
  if (ranges_ != nullptr) {
    ARROW_ASSIGN_OR_RAISE(window_, ranges_->Read({position_, size}, &read_bytes));
  }
  if (window_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(window_, ReadFile(size));
    read_bytes = size;
  }
  window_offset_ = position_;
  if (window_->size() < size) {
    return IOError("{} bytes at byte {} of the file, {} expected", window_->size(), position_, size);
  }
  if (counters_ != nullptr) counters_->bytes_read += read_bytes;
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ChunkBytes::ReadFile(int64_t size) {
  if (file_->supports_zero_copy()) return file_->ReadAt(position_, size);
  ARROW_ASSIGN_OR_RAISE(auto buffer, buffers_->Take(size));
  ARROW_ASSIGN_OR_RAISE(const int64_t got, file_->ReadAt(position_, size, buffer->mutable_data()));
  ARROW_RETURN_NOT_OK(buffer->Resize(got, /*shrink_to_fit=*/false));
  return buffer;
}

}  // namespace calve::parquet
