#pragma once

#include "calve/parquet/value_decoder.h"

namespace calve::parquet {

/// BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes of all, and so on.
class ByteStreamSplitDecoder : public FixedDecoder {
 public:
  ByteStreamSplitDecoder(int64_t width, std::span<const uint8_t> bytes) : width_(width), bytes_(bytes) {}
  Status Decode(int64_t count, uint8_t* out) override;
  Status Skip(int64_t count) override;

 private:
  Result<const uint8_t*> Take(int64_t count);

  int64_t width_;
  std::span<const uint8_t> bytes_;
  int64_t position_ = 0;  ///< in values
};

}  // namespace calve::parquet
