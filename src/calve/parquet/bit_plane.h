#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/status.h>

#include <cstdint>

namespace calve::parquet {

/// A growing row of bits in whole 64-bit words, LSB first. Those behind the last are 0.
class BitPlane {
 public:
  explicit BitPlane(arrow::MemoryPool* pool) : words_(pool) {}

  int64_t size() const { return size_; }
  int64_t words_count() const { return words_.size(); }
  uint64_t* words() { return words_.data(); }
  const uint64_t* words() const { return words_.data(); }
  const uint8_t* bytes() const { return reinterpret_cast<const uint8_t*>(words_.data()); }
  int64_t CountSet() const;

  /// Bits [offset, offset + count) of `bits`, LSB first. Only the bytes that hold them are read.
  arrow::Status Append(const uint8_t* bits, int64_t offset, int64_t count);
  arrow::Status AppendRun(bool bit, int64_t count);
  /// `size` bits that the caller fills, those behind them 0.
  arrow::Status Resize(int64_t size);
  void Clear() {
    words_.Clear();
    size_ = 0;
  }
  void Release() {
    words_.Release();
    size_ = 0;
  }

 private:
  PoolVector<uint64_t> words_;
  int64_t size_ = 0;
};

}  // namespace calve::parquet
