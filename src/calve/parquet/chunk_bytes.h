#pragma once

#include "calve/io/range_reader.h"
#include "calve/parquet/read_counters.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <span>

namespace calve::parquet {

/// The bytes of a column chunk, front to back, read from its file in windows: memory stays flat over a chunk of any
/// length. No byte is read twice.
class ChunkBytes {
 public:
  /// The range lies inside the file. The file, the pool and `counters` (null: nothing is counted) outlive this. Reads
  /// go for `window_bytes` at least.
  ChunkBytes(arrow::io::RandomAccessFile* file, int64_t offset, int64_t size_bytes, int64_t window_bytes,
             arrow::MemoryPool* pool, ReadCounters* counters = nullptr)
      : file_(file),
        pool_(pool),
        counters_(counters),
        position_(offset),
        end_(offset + size_bytes),
        window_bytes_(window_bytes) {}

  /// Takes what lies in its reads from `ranges`, the rest from the file.
  void ReadThrough(std::shared_ptr<RangeReader> ranges) { ranges_ = std::move(ranges); }

  int64_t position() const { return position_; }  ///< in the file
  int64_t remaining() const { return end_ - position_; }

  /// At least min(size, remaining()) of the next bytes, and more where they are at hand. Valid until the next call, and
  /// as long as memory() of now is held. IOError when the file gives fewer.
  arrow::Result<std::span<const uint8_t>> Peek(int64_t size);
  /// What holds the bytes that Peek() returned last.
  const std::shared_ptr<arrow::Buffer>& memory() const { return window_; }
  void Skip(int64_t size) { position_ += size; }
  /// Reads go for whole pages of about `size` bytes each from here on, where the window holds one.
  void ExpectPages(int64_t size) { page_bytes_ = size; }
  /// Goes on at `position`, not before the present one, with bytes up to `end`.
  void SeekTo(int64_t position, int64_t end) {
    position_ = position;
    end_ = end;
  }

 private:
  int64_t BytesToRead(int64_t size) const;
  arrow::Status ReadWindow(int64_t size);
  /// `first`: what is at hand of the `size` bytes.
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadFile(std::span<const uint8_t> first, int64_t size);

  arrow::io::RandomAccessFile* file_;
  arrow::MemoryPool* pool_;
  ReadCounters* counters_;
  int64_t position_, end_;
  int64_t window_bytes_;
  int64_t page_bytes_ = 0;
  std::shared_ptr<RangeReader> ranges_;
  std::shared_ptr<arrow::Buffer> window_;
  int64_t window_offset_ = 0;
};

}  // namespace calve::parquet
