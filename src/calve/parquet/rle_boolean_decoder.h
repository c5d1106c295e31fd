#pragma once

#include "calve/parquet/rle_decoder.h"
#include "calve/parquet/value_decoder.h"

namespace calve::parquet {

/// Booleans of encoding RLE: a 4-byte length, then runs of bit width 1.
class RleBooleanDecoder : public FixedDecoder {
 public:
  explicit RleBooleanDecoder(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  Status Decode(int64_t count, uint8_t* out) override;
  Status Skip(int64_t count) override;

 private:
  Status Start();

  std::span<const uint8_t> bytes_;
  bool started_ = false;
  RunReader runs_;
};

}  // namespace calve::parquet
