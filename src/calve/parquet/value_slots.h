#pragma once

#include <arrow/util/bit_util.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace calve::parquet {

/// Slots [start, start + length) of an array, counted from the array's offset.
struct SlotRange {
  int64_t start, length;
};

/// Where the values of a leaf lie: in the slots of `ranges`, one range after another, for which a bit is set.
struct ValueSlots {
  std::span<const SlotRange> ranges;
  const uint8_t* bits = nullptr;  ///< LSB first; null: all slots have values
  int64_t bits_offset = 0;
  int64_t count = 0;  ///< values
};

/// `count` bits (1 to 64) from bit `offset` on, the others 0. Only the bytes that hold them are read.
inline uint64_t LoadBits(const uint8_t* bits, int64_t offset, int64_t count) {
  const auto shift = static_cast<int>(offset % 8);
  const int64_t bytes = (shift + count + 7) / 8;
  uint64_t word = 0;
  std::memcpy(&word, bits + offset / 8, static_cast<size_t>(bytes < 8 ? bytes : 8));
  word >>= shift;
  if (bytes == 9) word |= uint64_t{bits[offset / 8 + 8]} << (64 - shift);
  return count == 64 ? word : word & ((uint64_t{1} << count) - 1);
}

/// Calls `visit(slot)` for every value, slots counted from the array's offset.
template <typename Visit>
void ForEachValue(const ValueSlots& slots, Visit&& visit) {
  int64_t bit = slots.bits_offset;
  for (const SlotRange& range : slots.ranges) {
    const int64_t end = range.start + range.length;
    if (slots.bits == nullptr) {
      for (int64_t i = range.start; i < end; ++i) visit(i);
      continue;
    }
    for (int64_t i = range.start; i < end; i += 64) {
      const int64_t count = end - i < 64 ? end - i : 64;
      uint64_t word = LoadBits(slots.bits, bit, count);
      bit += count;
      if (word == ~uint64_t{0}) {
        for (int64_t j = i; j < i + 64; ++j) visit(j);
        continue;
      }
      for (; word != 0; word &= word - 1) visit(i + std::countr_zero(word));
    }
  }
}

}  // namespace calve::parquet
