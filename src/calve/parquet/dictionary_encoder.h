#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

namespace calve::parquet {

/// Gives each distinct value an id, in the order of first sight, and keeps the values as the dictionary page has them
/// (PLAIN). Floating-point values are distinct when their bits are. T as in ValueGatherer, without booleans.
template <typename T>
class DictionaryEncoder {
 public:
  /// `fixed`: FIXED_LEN_BYTE_ARRAY. The page never grows over `limit_bytes`.
  DictionaryEncoder(bool fixed, int64_t limit_bytes, arrow::MemoryPool* pool)
      : fixed_(fixed), limit_bytes_(limit_bytes), page_(pool), starts_(pool), slots_(pool) {}

  int64_t size() const { return size_; }
  int64_t page_bytes() const { return page_.size(); }
  int64_t memory_bytes() const { return page_.capacity_bytes() + starts_.capacity_bytes() + slots_.capacity_bytes(); }
  int64_t limit_bytes() const { return limit_bytes_; }
  void set_limit_bytes(int64_t bytes) { limit_bytes_ = bytes; }
  /// Bits of an id now, at least 1.
  int bit_width() const;

  /// Appends the ids of `values` to `ids`. False when the dictionary is full:
  /// then only the values before the first that has no room have ids.
  arrow::Result<bool> Append(std::span<const T> values, PoolVector<uint32_t>* ids);
  /// The value of an id; into the page where it is bytes.
  T value(uint32_t id) const;

  /// The dictionary page's bytes. Forgets all values.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Finish();
  void Reset();

 private:
  /// Of numbers of 4 bytes `key` is the number itself, else a hash of the value.
  struct Slot {
    uint32_t key;
    uint32_t id_plus_one;  ///< 0: empty
  };

  static uint32_t KeyOf(const T& value, uint32_t hash);
  static uint32_t HashOfKey(uint32_t key);
  /// True when so many more values may make it too full.
  bool IsCrowdedWith(int64_t more) const { return (size_ + more) * 8 > slots_.size() * 5; }
  arrow::Status Grow();
  Slot* Find(const T& value, uint32_t hash);
  arrow::Status Insert(const T& value, uint32_t key, Slot* slot);
  int64_t AddedBytes(const T& value) const;
  arrow::Result<bool> AppendBlock(std::span<const T> values, const uint32_t* hashes, uint32_t* ids, int64_t* count);
  void AppendNumbers(std::span<const T> values, const uint32_t* hashes, uint32_t* ids)
    requires std::is_arithmetic_v<T>;

  const bool fixed_;
  int64_t limit_bytes_;
  int64_t size_ = 0;
  ByteBuffer page_;
  PoolVector<int64_t> starts_;  ///< of byte arrays: where the bytes of each id begin, and where the last end
  PoolVector<Slot> slots_;      ///< open addressing, a power of two, at most five eighths full
};

}  // namespace calve::parquet
