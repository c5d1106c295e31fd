#include "calve/parquet/value_sample.h"

#include "calve/parquet/plain_encoder.h"
#include "calve/parquet/value_hash.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

namespace calve::parquet {
namespace {

/// The number of values whose hash was there before.
template <typename T>
arrow::Result<int64_t> CountRepeated(std::span<const T> sample, arrow::MemoryPool* pool) {
  const auto slots_count = static_cast<int64_t>(std::bit_ceil(sample.size()) * 4);
  PoolVector<uint32_t> slots(pool);  // hashes; 0: empty
  ARROW_RETURN_NOT_OK(slots.AppendRun(0, slots_count));
  int64_t repeated = 0;
  for (const T& value : sample) {
    const uint32_t hash = HashOf(value) | 1;
    int64_t i = (hash >> 1) & (slots_count - 1);
    while (slots[i] != 0 && slots[i] != hash) i = (i + 1) & (slots_count - 1);
    repeated += slots[i] == hash ? 1 : 0;
    slots[i] = hash;
  }
  return repeated;
}

}  // namespace

template <typename T>
arrow::Result<bool> DictionaryIsHopeless(std::span<const T> sample, bool fixed, int64_t limit_bytes,
                                         arrow::MemoryPool* pool) {
  constexpr size_t kFewest = 1024;
  if (sample.size() < kFewest) return false;
  ARROW_ASSIGN_OR_RAISE(const int64_t repeated, CountRepeated(sample, pool));
  const auto size = static_cast<double>(sample.size());
  const double bytes_per_value = static_cast<double>(PlainBytes(sample, fixed)) / size;
  // Of n values drawn from N equally likely ones, n - N (1 - e^(-n/N)) repeat. A third of that, where N are as many as
  // the dictionary holds, is still taken for few enough: values are seldom equally likely.
  const double capacity = static_cast<double>(limit_bytes) / std::max(bytes_per_value, 1.0);
  const double expected = size + capacity * std::expm1(-size / capacity);
  return static_cast<double>(repeated) < expected / 3;
}

template arrow::Result<bool> DictionaryIsHopeless(std::span<const int32_t>, bool, int64_t, arrow::MemoryPool*);
template arrow::Result<bool> DictionaryIsHopeless(std::span<const int64_t>, bool, int64_t, arrow::MemoryPool*);
template arrow::Result<bool> DictionaryIsHopeless(std::span<const float>, bool, int64_t, arrow::MemoryPool*);
template arrow::Result<bool> DictionaryIsHopeless(std::span<const double>, bool, int64_t, arrow::MemoryPool*);
template arrow::Result<bool> DictionaryIsHopeless(std::span<const std::string_view>, bool, int64_t, arrow::MemoryPool*);

}  // namespace calve::parquet
