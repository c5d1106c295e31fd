#pragma once

#include "calve/io/coalesce.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace calve {

/// Fetches ranges of a file in merged reads: the first range asked for brings those beside it. What was read is held as
/// long as this lives. Thread-safe; who asks for bytes that another thread is reading waits for them.
class RangeReader {
 public:
  /// `reads` are sorted, as Coalesce() makes them. The file and the pool outlive this.
  RangeReader(arrow::io::RandomAccessFile* file, const std::vector<ByteRange>& reads, arrow::MemoryPool* pool);

  /// The bytes of `range`, null when it lies in none of the reads. `read_bytes` gets what was asked of the file for it,
  /// 0 when it was there. IOError when the file gives fewer bytes.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(const ByteRange& range, int64_t* read_bytes);

 private:
  struct Fetch {
    ByteRange range;
    std::mutex mutex;
    std::shared_ptr<arrow::Buffer> bytes;  // null: not read yet
  };
  Fetch* FetchOf(const ByteRange& range) const;

  arrow::io::RandomAccessFile* file_;
  arrow::MemoryPool* pool_;
  std::vector<std::unique_ptr<Fetch>> fetches_;
};

/// The bytes of `range` in a buffer of `pool`. IOError when the file ends before it does.
arrow::Result<std::shared_ptr<arrow::Buffer>> ReadRange(arrow::io::RandomAccessFile* file, const ByteRange& range,
                                                        arrow::MemoryPool* pool);

}  // namespace calve
