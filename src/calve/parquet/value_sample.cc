#include "calve/parquet/value_sample.h"

#include "calve/parquet/dictionary_encoder.h"
#include "calve/parquet/plain_encoder.h"
#include "calve/parquet/value_hash.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

namespace calve::parquet {
namespace {

/// How often values come in a sample, as far as their hashes tell.
struct Repetition {
  double distinct = 0, once = 0, twice = 0;  ///< values: all, those that come once, those that come twice
};

template <typename T>
arrow::Result<Repetition> CountRepetition(std::span<const T> sample, arrow::MemoryPool* pool) {
  struct Slot {
    uint32_t hash, count;  ///< no count: empty
  };
  const auto slots_count = static_cast<int64_t>(std::bit_ceil(sample.size()) * 4);
  PoolVector<Slot> slots(pool);
  ARROW_RETURN_NOT_OK(slots.AppendRun(Slot{0, 0}, slots_count));
  Repetition result;
  for (const T& value : sample) {
    const uint32_t hash = HashOf(value);
    int64_t i = hash & (slots_count - 1);
    while (slots[i].count != 0 && slots[i].hash != hash) i = (i + 1) & (slots_count - 1);
    slots[i].hash = hash;
    const uint32_t count = ++slots[i].count;
    result.distinct += count == 1 ? 1 : 0;
    result.once += count == 1 ? 1 : count == 2 ? -1 : 0;
    result.twice += count == 2 ? 1 : count == 3 ? -1 : 0;
  }
  return result;
}

/// Values that a sample does not have, at least (Chao's estimate).
double Unseen(const Repetition& found) { return found.once * found.once / (2 * std::max(found.twice, 1.0)); }

/// A sample of fewer values says nothing.
constexpr size_t kFewest = 1024;

arrow::Result<double> CompressedBytes(const ByteBuffer& bytes, calve::Codec codec, std::optional<int> level) {
  ByteBuffer out(bytes.pool());
  const size_t most = calve::MaxCompressedSize(codec, static_cast<size_t>(bytes.size()));
  ARROW_RETURN_NOT_OK(out.Resize(static_cast<int64_t>(most)));
  ARROW_ASSIGN_OR_RAISE(const size_t size, calve::Compress(codec, level, bytes.span(), {out.data(), most}));
  return static_cast<double>(size);
}

}  // namespace

template <typename T>
arrow::Result<bool> DictionaryIsHopeless(std::span<const T> sample, bool fixed, int64_t limit_bytes,
                                         arrow::MemoryPool* pool) {
  if (sample.size() < kFewest) return false;
  ARROW_ASSIGN_OR_RAISE(const Repetition found, CountRepetition(sample, pool));
  const auto size = static_cast<double>(sample.size());
  const double bytes_per_value = std::max(static_cast<double>(PlainBytes(sample, fixed)) / size, 1.0);
  // Of n values drawn from N equally likely ones, n - N (1 - e^(-n/N)) repeat. A third of that, where N are as many as
  // the dictionary holds, is still taken for few enough: values are seldom equally likely.
  const double capacity = static_cast<double>(limit_bytes) / bytes_per_value;
  const double expected = size + capacity * std::expm1(-size / capacity);
  if (size - found.distinct < expected / 3) return true;
  // Where there are more values than the dictionary holds, it fills up: until then as many of all values go into it as
  // come once in the sample, and all become ids.
  if (found.distinct + Unseen(found) < 2 * capacity) return false;
  const double with_dictionary = found.once / size * bytes_per_value + std::log2(capacity) / 8;
  return with_dictionary > bytes_per_value - bytes_per_value / 20;
}

template <typename T>
arrow::Result<bool> PlainCompressesBetter(std::span<const T> sample, bool fixed, int64_t limit_bytes, int64_t count,
                                          calve::Codec codec, std::optional<int> level, arrow::MemoryPool* pool) {
  constexpr double kFewDistinct = 1.0 / 8;
  constexpr int64_t kWorthALook = 1 << 15;
  constexpr int64_t kMostBytes = 8 << 20;
  if (sample.size() < kFewest || count < kWorthALook || codec == calve::Codec::kUncompressed) return false;
  const int64_t sample_bytes = PlainBytes(sample, fixed);
  if (sample_bytes > kMostBytes) return false;
  ARROW_ASSIGN_OR_RAISE(const Repetition found, CountRepetition(sample, pool));
  const auto size = static_cast<double>(sample.size());
  if (found.distinct < size * kFewDistinct) return false;
  ByteBuffer plain(pool), entries(pool);
  ARROW_RETURN_NOT_OK(AppendPlain(sample, fixed, &plain));
  DictionaryEncoder<T> dictionary(fixed, sample_bytes, pool);
  PoolVector<uint32_t> ids(pool);
  ARROW_RETURN_NOT_OK(dictionary.Append(sample, &ids).status());
  for (int64_t id = 0; id < dictionary.size(); ++id) {
    const T value = dictionary.value(static_cast<uint32_t>(id));
    ARROW_RETURN_NOT_OK(AppendPlain(std::span<const T>(&value, 1), fixed, &entries));
  }
  ARROW_ASSIGN_OR_RAISE(const double plain_bytes, CompressedBytes(plain, codec, level));
  ARROW_ASSIGN_OR_RAISE(const double entries_bytes, CompressedBytes(entries, codec, level));
  // Ids that are packed to bits do not compress.
  const double bytes_per_entry = static_cast<double>(entries.size()) / found.distinct;
  const double values = found.distinct + Unseen(found);
  const double most = std::min(values, static_cast<double>(limit_bytes) / bytes_per_entry);
  const double new_share = std::min(found.once / size, values / static_cast<double>(count));
  const double with_dictionary = new_share * entries_bytes / found.distinct + std::log2(most) / 8;
  return plain_bytes / size < with_dictionary;
}

template arrow::Result<bool> DictionaryIsHopeless(std::span<const int32_t>, bool, int64_t, arrow::MemoryPool*);
template arrow::Result<bool> DictionaryIsHopeless(std::span<const int64_t>, bool, int64_t, arrow::MemoryPool*);
template arrow::Result<bool> DictionaryIsHopeless(std::span<const float>, bool, int64_t, arrow::MemoryPool*);
template arrow::Result<bool> DictionaryIsHopeless(std::span<const double>, bool, int64_t, arrow::MemoryPool*);
template arrow::Result<bool> DictionaryIsHopeless(std::span<const std::string_view>, bool, int64_t, arrow::MemoryPool*);

template arrow::Result<bool> PlainCompressesBetter(std::span<const int32_t>, bool, int64_t, int64_t, calve::Codec,
                                                   std::optional<int>, arrow::MemoryPool*);
template arrow::Result<bool> PlainCompressesBetter(std::span<const int64_t>, bool, int64_t, int64_t, calve::Codec,
                                                   std::optional<int>, arrow::MemoryPool*);
template arrow::Result<bool> PlainCompressesBetter(std::span<const float>, bool, int64_t, int64_t, calve::Codec,
                                                   std::optional<int>, arrow::MemoryPool*);
template arrow::Result<bool> PlainCompressesBetter(std::span<const double>, bool, int64_t, int64_t, calve::Codec,
                                                   std::optional<int>, arrow::MemoryPool*);
template arrow::Result<bool> PlainCompressesBetter(std::span<const std::string_view>, bool, int64_t, int64_t,
                                                   calve::Codec, std::optional<int>, arrow::MemoryPool*);

}  // namespace calve::parquet
