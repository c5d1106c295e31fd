#pragma once

#include <arrow/result.h>

#include <cstdint>
#include <vector>

namespace calve {

/// Bytes of a file: [offset, offset + size_bytes).
struct ByteRange {
  int64_t offset = 0, size_bytes = 0;

  int64_t end() const { return offset + size_bytes; }
  bool operator==(const ByteRange&) const = default;
};

/// What a read of a file or object costs.
struct ReadCost {
  int64_t latency_us = 0;        ///< until the first byte comes
  int64_t bytes_per_second = 0;  ///< from then on
};

/// The bytes that come in the time that another read would take to begin: a gap up to this is cheaper read than left
/// out. Negative costs count as 0, gaps beyond int64 as its end.
int64_t GapBytes(const ReadCost& cost);

/// Merges ranges that lie at most `gap_bytes` apart into reads of at most `largest_bytes`, sorted by offset. Every
/// range that is not empty lies in one of the reads; one that is larger than `largest_bytes` is a read of its own,
/// unless it lies in another. Where `largest_bytes` keeps ranges that overlap apart, the bytes they share are read
/// twice. Invalid when an offset or a size is negative, or a range ends beyond int64.
arrow::Result<std::vector<ByteRange>> Coalesce(std::vector<ByteRange> ranges, int64_t gap_bytes, int64_t largest_bytes);

}  // namespace calve
