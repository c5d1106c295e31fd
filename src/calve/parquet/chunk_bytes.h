#pragma once

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <span>

namespace calve::parquet {

/// The bytes of a column chunk, front to back, read from its file in windows: memory stays flat over a chunk of any
/// length.
class ChunkBytes {
 public:
  /// The range lies inside the file. The file outlives this. Reads go for `window_bytes` at least.
  ChunkBytes(arrow::io::RandomAccessFile* file, int64_t offset, int64_t size_bytes, int64_t window_bytes,
             arrow::MemoryPool* pool)
      : file_(file), pool_(pool), position_(offset), end_(offset + size_bytes), window_bytes_(window_bytes) {}

  int64_t position() const { return position_; }  ///< in the file
  int64_t remaining() const { return end_ - position_; }

  /// At least min(size, remaining()) of the next bytes, and more where they are at hand. Valid until the next call.
  /// IOError when the file gives fewer.
  arrow::Result<std::span<const uint8_t>> Peek(int64_t size);
  void Skip(int64_t size) { position_ += size; }

 private:
  arrow::Status ReadWindow(int64_t size);

  arrow::io::RandomAccessFile* file_;
  arrow::MemoryPool* pool_;
  int64_t position_, end_;
  int64_t window_bytes_;
  std::shared_ptr<arrow::Buffer> window_;
  int64_t window_offset_ = 0;
};

}  // namespace calve::parquet
