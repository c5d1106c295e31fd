#pragma once

#include "calve/hash/spark_murmur3.h"
#include "calve/shuffle/spark_hash.h"
#include "calve/simd/spark_murmur3.h"

#include <arrow/array/data.h>
#include <arrow/util/bit_util.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace calve::shuffle {

/// Hashes numbers of 32 bits as Spark's ints and numbers of 64 bits as its longs, many at once. T: int32_t, int64_t.
template <typename T>
class NumberHasher final : public ValueHasher {
 public:
  explicit NumberHasher(const arrow::ArrayData& data)
      : values_(data.buffers[1] == nullptr ? nullptr : reinterpret_cast<const T*>(data.buffers[1]->data())),
        validity_(data.buffers[0] != nullptr && data.GetNullCount() != 0 ? data.buffers[0]->data() : nullptr),
        offset_(data.offset),
        length_(data.length) {}

  uint32_t Hash(int64_t i, uint32_t seed) const override {
    if (!IsValid(i)) return seed;
    if constexpr (sizeof(T) == 4) {
      return spark::HashInt(values_[offset_ + i], seed);
    } else {
      return spark::HashLong(values_[offset_ + i], seed);
    }
  }

  void HashAll(uint32_t* hashes, bool) const override {
    if (length_ == 0 || values_ == nullptr) return;  // without values there are nulls only
    if (validity_ == nullptr) return simd::SparkHash(values_ + offset_, static_cast<size_t>(length_), hashes);
    for (int64_t first = 0; first < length_; first += kSome) {
      HashSome(first, std::min(length_ - first, kSome), hashes + first);
    }
  }

 private:
  static constexpr int64_t kSome = 256;

  bool IsValid(int64_t i) const { return validity_ == nullptr || arrow::bit_util::GetBit(validity_, offset_ + i); }

  // Nulls are hashed too, and then get their seeds back.
  void HashSome(int64_t first, int64_t count, uint32_t* hashes) const {
    std::array<uint32_t, kSome> seeds;
    std::copy_n(hashes, count, seeds.begin());
    simd::SparkHash(values_ + offset_ + first, static_cast<size_t>(count), hashes);
    for (int64_t i = 0; i < count; ++i) hashes[i] = IsValid(first + i) ? hashes[i] : seeds[static_cast<size_t>(i)];
  }

  const T* values_;
  const uint8_t* validity_;
  int64_t offset_, length_;
};

}  // namespace calve::shuffle
