#pragma once

#include "calve/parquet/delta_binary_packed_decoder.h"
#include "calve/parquet/value_decoder.h"

namespace calve::parquet {

/// DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
class DeltaLengthByteArrayDecoder : public BinaryDecoder {
 public:
  /// `max_values`: values of the page, nulls included.
  static Result<std::unique_ptr<BinaryDecoder>> Make(std::span<const uint8_t> bytes, int64_t max_values);

  int64_t BytesAtMost(int64_t count) const override;
  Status Decode(int64_t count, BinaryValues* out) override;
  Status DecodeViews(int64_t count, const std::shared_ptr<arrow::Buffer>& page, ViewValues* out) override;
  Status Skip(int64_t count) override;

 private:
  DeltaLengthByteArrayDecoder(std::span<const uint8_t> lengths, std::span<const uint8_t> data)
      : lengths_(lengths), data_(data), largest_(static_cast<int64_t>(data.size())) {}
  Result<std::span<const uint8_t>> Take(const int32_t* lengths, int64_t count);
  Status FindLargest(std::span<const uint8_t> lengths);

  DeltaBinaryPackedDecoder<int32_t> lengths_;
  ByteCursor data_;
  int64_t largest_;  ///< no value is longer
};

}  // namespace calve::parquet
