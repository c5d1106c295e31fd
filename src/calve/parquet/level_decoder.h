#pragma once

#include "calve/parquet/metadata.h"
#include "calve/parquet/rle_decoder.h"
#include "calve/parquet/validity_builder.h"

#include <cstdint>
#include <span>

namespace calve::parquet {

/// Decodes the definition or repetition levels of a page. Levels fit a byte (MakeSchemaTree sees to it).
class LevelDecoder {
 public:
  LevelDecoder() = default;

  /// Levels of a v1 page, taken from the front of `body`: length-prefixed RLE, or the deprecated BIT_PACKED. With
  /// `max_level` 0 there are none.
  static Result<LevelDecoder> FromV1(Encoding encoding, int max_level, int64_t num_values, ByteCursor* body);
  /// Levels of a v2 page: `bytes` are all RLE.
  static Result<LevelDecoder> FromV2(int max_level, std::span<const uint8_t> bytes);

  /// Decodes the next `count` levels. Invalid when there are fewer, or one is greater than the largest.
  Status Decode(int64_t count, uint8_t* out);
  /// Decodes the next `count` levels of a column whose largest level is 1 straight to its validity.
  Status DecodeValidity(int64_t count, ValidityBuilder* out);

 private:
  LevelDecoder(int max_level, std::span<const uint8_t> bytes);
  Status DecodeBitPacked(int64_t count, uint8_t* out);
  Status TooLarge(uint32_t level) const;

  int max_level_ = 0;
  RunReader runs_;
  std::span<const uint8_t> bit_packed_;  ///< the deprecated encoding; empty data(): RLE
  int64_t position_ = 0;                 ///< in bit_packed_, in levels
};

}  // namespace calve::parquet
