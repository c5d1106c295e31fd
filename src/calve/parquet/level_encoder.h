#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/status.h>

#include <cstdint>
#include <span>

namespace calve::parquet {

/// Collects the definition or the repetition levels of a page and encodes them when it ends.
///
/// Levels that are only 0 or 1 are kept as bits, so a flat nullable column's validity bitmap is its level stream and is
/// never widened.
class LevelEncoder {
 public:
  LevelEncoder(int max_level, arrow::MemoryPool* pool);

  int64_t count() const { return count_; }
  /// Bytes of `count` levels at most, a few of headers apart.
  int64_t BytesOf(int64_t count) const { return (count * bit_width_ + 7) / 8; }
  int64_t estimated_bytes() const { return BytesOf(count_); }

  /// Bits `offset` to `offset + count` of `bits`, LSB first. The largest level is 1.
  arrow::Status AppendBits(const uint8_t* bits, int64_t offset, int64_t count);
  arrow::Status AppendRun(int16_t level, int64_t count);
  arrow::Status Append(std::span<const int16_t> levels);

  /// Appends the encoded levels, without a length before them, and forgets them. Nothing when the largest level is 0.
  arrow::Status Flush(ByteBuffer* out);

 private:
  arrow::Status ReserveBits(int64_t additional);

  const int max_level_, bit_width_;
  int64_t count_ = 0;
  ByteBuffer bits_;  ///< when max_level is 1
  PoolVector<int16_t> levels_;
};

}  // namespace calve::parquet
