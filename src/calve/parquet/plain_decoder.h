#pragma once

#include "calve/parquet/value_decoder.h"

#include "calve/base/byte_cursor.h"

namespace calve::parquet {

/// PLAIN values of one width, back to back.
class PlainFixedDecoder : public FixedDecoder {
 public:
  PlainFixedDecoder(int64_t width, std::span<const uint8_t> bytes) : width_(width), cursor_(bytes) {}
  Status Decode(int64_t count, uint8_t* out) override;
  Status Skip(int64_t count) override;
  Result<const uint8_t*> TakeInPlace(int64_t count) override;

 private:
  Result<std::span<const uint8_t>> Take(int64_t count);

  int64_t width_;
  ByteCursor cursor_;
};

/// PLAIN booleans: one bit each, LSB first.
class PlainBooleanDecoder : public FixedDecoder {
 public:
  explicit PlainBooleanDecoder(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  Status Decode(int64_t count, uint8_t* out) override;
  Status Skip(int64_t count) override;

 private:
  std::span<const uint8_t> bytes_;
  int64_t position_ = 0;
};

/// PLAIN byte arrays: a 4-byte length and the bytes.
class PlainBinaryDecoder : public BinaryDecoder {
 public:
  explicit PlainBinaryDecoder(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  int64_t BytesAtMost(int64_t count) const override;
  Status Decode(int64_t count, BinaryValues* out) override;
  Status DecodeViews(int64_t count, const std::shared_ptr<arrow::Buffer>& page, ViewValues* out) override;
  Status Skip(int64_t count) override;

 private:
  Result<int64_t> BytesOf(int64_t count) const;
  Status CutShort(size_t position) const;

  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
};

}  // namespace calve::parquet
