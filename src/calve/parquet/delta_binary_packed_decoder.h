#pragma once

#include "calve/parquet/rle_decoder.h"
#include "calve/parquet/value_decoder.h"

#include "calve/base/byte_cursor.h"

#include <cstdint>
#include <span>

namespace calve::parquet {

/// The head of a DELTA_BINARY_PACKED sequence.
struct DeltaHeader {
  uint64_t block_size = 0, miniblocks = 0, values_per_miniblock = 0;
  uint64_t total = 0;  ///< values, the first included
  int64_t first = 0;

  /// Invalid when the sizes contradict each other.
  static Result<DeltaHeader> Parse(ByteCursor* cursor);
};

/// Bytes that the sequence at the start of `bytes` takes, found without decoding it. Invalid when it is cut short or
/// holds more than `max_values`.
Result<size_t> DeltaBinaryPackedSize(std::span<const uint8_t> bytes, int64_t max_values);

/// DELTA_BINARY_PACKED, as int32_t or int64_t. Arithmetic wraps around; deltas of 32-bit values may take up to 64 bits,
/// as those of writers that subtract in 64 bits do.
template <typename T>
class DeltaBinaryPackedDecoder : public FixedDecoder {
 public:
  explicit DeltaBinaryPackedDecoder(std::span<const uint8_t> bytes) : cursor_(bytes) {}

  Status Decode(int64_t count, uint8_t* out) override;
  Status Skip(int64_t count) override;
  Status DecodeValues(int64_t count, T* out);

 private:
  using Unsigned = std::make_unsigned_t<T>;

  Status Start();
  Status NextMiniblock();
  void AddDeltas(int64_t count, T* out);
  void UnpackWide(Run part, Unsigned* out);

  ByteCursor cursor_;
  bool started_ = false, first_given_ = false;
  DeltaHeader header_;
  uint64_t remaining_ = 0;  ///< values not yet given
  Unsigned last_ = 0, min_delta_ = 0;
  std::span<const uint8_t> widths_;  ///< of the block's miniblocks that are not yet begun
  Run miniblock_;                    ///< what is left of the current one
  int width_ = 0;
};

extern template class DeltaBinaryPackedDecoder<int32_t>;
extern template class DeltaBinaryPackedDecoder<int64_t>;

}  // namespace calve::parquet
