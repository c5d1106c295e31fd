#pragma once

#include "calve/parquet/delta_binary_packed_decoder.h"
#include "calve/parquet/value_decoder.h"

#include <string>

namespace calve::parquet {

/// The strings of DELTA_BYTE_ARRAY: how many bytes of its predecessor each begins with, and the rest. Checked whole by
/// Make, so that Take runs unchecked.
class PrefixedStrings {
 public:
  /// Nothing in it.
  PrefixedStrings() : PrefixedStrings({}, {}, {}) {}
  /// `max_values`: values of the page, nulls included.
  static Result<PrefixedStrings> Make(std::span<const uint8_t> bytes, int64_t max_values);

  static constexpr int64_t kBatch = 1024;

  int64_t count() const { return count_; }      ///< not yet taken
  int64_t largest() const { return largest_; }  ///< bytes of the longest
  int64_t total() const { return total_; }      ///< bytes of those not yet taken

  /// Decodes the lengths of the next `count` <= kBatch strings; Invalid when there are fewer. Returns their bytes.
  Result<int64_t> NextLengths(int64_t count);
  /// Bytes of string `i` of those.
  int32_t length(int64_t i) const { return prefixes_[i] + suffixes_[i]; }
  /// Writes those strings back to back. `out` has room for kPoolVectorSlackBytes more.
  void Take(uint8_t* out);
  /// Passes over the next `count` strings; Invalid when there are fewer.
  Status Skip(int64_t count);

 private:
  PrefixedStrings(std::span<const uint8_t> prefixes, std::span<const uint8_t> suffixes, std::span<const uint8_t> data);
  Status Check(uint64_t count);

  DeltaBinaryPackedDecoder<int32_t> prefix_decoder_, suffix_decoder_;
  ByteCursor data_;
  int64_t count_ = 0, largest_ = 0, total_ = 0;
  int64_t batch_count_ = 0, batch_bytes_ = 0;
  int32_t prefixes_[kBatch], suffixes_[kBatch];
  std::string last_;
};

/// DELTA_BYTE_ARRAY of byte arrays.
class DeltaByteArrayDecoder : public BinaryDecoder {
 public:
  explicit DeltaByteArrayDecoder(PrefixedStrings strings) : strings_(std::move(strings)) {}
  int64_t BytesAtMost(int64_t count) const override;
  Status Decode(int64_t count, BinaryValues* out) override;
  Status Skip(int64_t count) override { return strings_.Skip(count); }

 private:
  PrefixedStrings strings_;
};

/// DELTA_BYTE_ARRAY of values of one width.
class DeltaFixedDecoder : public FixedDecoder {
 public:
  DeltaFixedDecoder(int64_t width, PrefixedStrings strings) : width_(width), strings_(std::move(strings)) {}
  Status Decode(int64_t count, uint8_t* out) override;
  Status Skip(int64_t count) override { return strings_.Skip(count); }

 private:
  int64_t width_;
  PrefixedStrings strings_;
};

}  // namespace calve::parquet
