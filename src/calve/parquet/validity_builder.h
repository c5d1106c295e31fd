#pragma once

#include "calve/parquet/pool_vector.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

namespace calve::parquet {

/// Builds an Arrow validity bitmap. Takes no memory until the first null.
class ValidityBuilder {
 public:
  explicit ValidityBuilder(arrow::MemoryPool* pool) : bits_(pool) {}

  int64_t size() const { return size_; }
  int64_t null_count() const { return null_count_; }
  /// The bits, LSB first; null when everything is valid.
  const uint8_t* bits() const { return null_count_ > 0 ? bits_.data() : nullptr; }

  /// Appends `count` bits by a Writer.
  class Writer;
  arrow::Result<Writer> Write(int64_t count);

  arrow::Status AppendRun(bool valid, int64_t count);
  /// `count` bits of `bits` from bit `first` on.
  arrow::Status AppendBits(const uint8_t* bits, int64_t first, int64_t count);
  /// Slots [first, first + count) of another.
  arrow::Status AppendFrom(const ValidityBuilder& other, int64_t first, int64_t count);

  /// Null when everything is valid. Leaves this empty.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Finish();

 private:
  arrow::Status Grow(int64_t count);

  PoolVector<uint8_t> bits_;
  int64_t size_ = 0, null_count_ = 0;
};

/// Appends short runs with the bits that are not stored yet in a register. What it was given counts once Finish() is
/// called. The builder is not touched meanwhile.
class ValidityBuilder::Writer {
 public:
  /// So many bits are put at once: eight bytes have them wherever in a byte they begin.
  static constexpr int64_t kMost = 56;

  /// The low `count` bits of `bits`, at most kMost; the others are 0.
  void Put(uint64_t bits, int64_t count) {
    word_ |= bits << used_;
    std::memcpy(out_, &word_, sizeof(word_));
    used_ += count;
    out_ += used_ / 8;
    word_ >>= used_ & ~int64_t{7};
    used_ %= 8;
  }
  void AppendRun(bool valid, int64_t count) {
    for (; count > kMost; count -= kMost) Put(valid ? ~uint64_t{0} >> (64 - kMost) : 0, kMost);
    if (count > 0) Put(valid ? ~uint64_t{0} >> (64 - count) : 0, count);
  }
  void AppendBits(const uint8_t* bits, int64_t first, int64_t count) {
    const uint8_t* const end = bits + (first + count + 7) / 8;
    const uint8_t* in = bits + first / 8;
    for (const int64_t shift = first % 8; count > 0; in += kMost / 8) {
      uint64_t word = 0;
      if (end - in >= 8) {
        std::memcpy(&word, in, sizeof(word));
      } else {
        std::memcpy(&word, in, static_cast<size_t>(end - in));
      }
      const int64_t n = std::min(count, kMost);
      Put(word >> shift & (~uint64_t{0} >> (64 - n)), n);
      count -= n;
    }
  }
  void Finish();

 private:
  friend class ValidityBuilder;

  Writer(ValidityBuilder* builder, uint8_t* begin)
      : builder_(builder), begin_(begin), out_(begin), first_(builder->size_ % 8), used_(first_) {
    word_ = first_ == 0 ? 0 : begin[0] & ((1u << first_) - 1);
  }

  ValidityBuilder* builder_;
  uint8_t *begin_, *out_;
  int64_t first_, used_;  ///< bits of begin_[0] that were there before, and of out_[0]
  uint64_t word_ = 0;
};

}  // namespace calve::parquet
