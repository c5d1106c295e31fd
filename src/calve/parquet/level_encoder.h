#pragma once

#include "calve/parquet/bit_plane.h"
#include "calve/parquet/pool_vector.h"

#include <arrow/status.h>

#include <cstdint>
#include <span>
#include <vector>

namespace calve::parquet {

/// Collects the definition or the repetition levels of a page and encodes them when it ends.
///
/// Levels are bit planes: bit i of plane k is set when level i is above k. A flat nullable column's validity bitmap is
/// its only plane, and its level stream; no level is ever an integer of its own.
class LevelEncoder {
 public:
  /// `max_level` is at most 255.
  LevelEncoder(int max_level, arrow::MemoryPool* pool);

  int64_t count() const { return count_; }
  /// Bytes of `count` levels at most, a few of headers apart.
  int64_t BytesOf(int64_t count) const { return (count * bit_width_ + 7) / 8; }
  int64_t estimated_bytes() const { return BytesOf(count_); }

  /// True when all levels until now are `level`.
  bool is_run_of(int level) const { return is_run_ && run_level_ == level; }

  /// Bits `offset` to `offset + count` of `bits`, LSB first. The largest level is 1.
  arrow::Status AppendBits(const uint8_t* bits, int64_t offset, int64_t count);
  arrow::Status AppendRun(int level, int64_t count);
  /// As many planes as the largest level, of the same size.
  arrow::Status Append(std::span<const BitPlane> planes);

  /// Appends the encoded levels, without a length before them, and forgets them. Nothing when the largest level is 0.
  arrow::Status Flush(ByteBuffer* out);
  /// Forgets the levels.
  void Clear();

 private:
  /// Puts the levels that are one run into the planes.
  arrow::Status ExpandRun();

  const int bit_width_;
  int64_t count_ = 0;
  /// All levels until now are `run_level_`, and in no plane.
  bool is_run_ = true;
  int run_level_ = 0;
  std::vector<BitPlane> planes_;
  ByteBuffer packed_;
};

}  // namespace calve::parquet
