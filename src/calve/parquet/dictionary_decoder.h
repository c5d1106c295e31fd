#pragma once

#include "calve/parquet/dictionary.h"
#include "calve/parquet/rle_decoder.h"
#include "calve/parquet/value_decoder.h"

namespace calve::parquet {

/// The indices of a dictionary-encoded page: a byte with their bit width, then runs. Each index that is given out is
/// checked against the dictionary.
class IndexReader {
 public:
  IndexReader(std::span<const uint8_t> bytes, int64_t dictionary_count)
      : bytes_(bytes), dictionary_count_(dictionary_count) {}

  /// Gives the next indices: at least one, at most `wanted`. Either kBatch of them at most, in out[*count], or one that
  /// repeats: `*repeated`, `*count` times out[0].
  Status Next(int64_t wanted, uint32_t* out, int64_t* count, bool* repeated);
  /// Exactly `count` indices to out[count].
  Status Decode(int64_t count, uint32_t* out);
  Status Skip(int64_t count);

  static constexpr int64_t kBatch = 1024;

 private:
  Status Start();
  Status Check(uint32_t largest) const;
  Status NextRun();
  /// Gives the indices of whole runs, if those that come next are short: up to `wanted` (at most kBatch) of them.
  int64_t NextShortRuns(int64_t wanted, uint32_t* out);

  std::span<const uint8_t> bytes_;
  int64_t dictionary_count_;
  bool started_ = false;
  RunReader runs_;
  Run run_;  ///< taken from runs_ and not yet given out
};

/// Values of one width by dictionary index.
class DictionaryFixedDecoder : public FixedDecoder {
 public:
  DictionaryFixedDecoder(int64_t width, std::span<const uint8_t> bytes, const Dictionary& dictionary)
      : width_(width), dictionary_(dictionary), indices_(bytes, dictionary.count) {}
  Status Decode(int64_t count, uint8_t* out) override;
  Status Skip(int64_t count) override { return indices_.Skip(count); }

 private:
  int64_t width_;
  const Dictionary& dictionary_;
  IndexReader indices_;
};

/// Byte arrays by dictionary index.
class DictionaryBinaryDecoder : public BinaryDecoder {
 public:
  DictionaryBinaryDecoder(std::span<const uint8_t> bytes, const Dictionary& dictionary)
      : dictionary_(dictionary), indices_(bytes, dictionary.count) {}
  int64_t BytesAtMost(int64_t count) const override;
  Status Decode(int64_t count, BinaryValues* out) override;
  Status DecodeViews(int64_t count, const std::shared_ptr<arrow::Buffer>& page, ViewValues* out) override;
  Status Skip(int64_t count) override { return indices_.Skip(count); }

 private:
  void Append(const uint32_t* indices, int64_t count, BinaryValues* out) const;
  void AppendSameLengths(const uint32_t* indices, int64_t count, BinaryValues* out) const;
  template <typename Copy>
  void AppendBy(const Copy& copy, const uint32_t* indices, int64_t count, BinaryValues* out) const;

  const Dictionary& dictionary_;
  IndexReader indices_;
};

}  // namespace calve::parquet
