#pragma once

#include "calve/parquet/pool_vector.h"

#include <cstdint>
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

  arrow::Status AppendRun(bool valid, int64_t count);
  /// `count` bits of `bits` from bit `first` on.
  arrow::Status AppendBits(const uint8_t* bits, int64_t first, int64_t count);
  /// Slots [first, first + count) of another.
  arrow::Status AppendFrom(const ValidityBuilder& other, int64_t first, int64_t count);

  /// Null when everything is valid. Leaves this empty.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Finish();

 private:
  arrow::Status Grow(int64_t count);
  void AppendWord(uint64_t bits, int64_t count);

  PoolVector<uint8_t> bits_;
  int64_t size_ = 0, null_count_ = 0;
};

}  // namespace calve::parquet
