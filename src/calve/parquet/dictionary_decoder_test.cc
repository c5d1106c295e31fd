#include "calve/parquet/dictionary_decoder.h"

#include "calve/parquet/dictionary.h"

#include <arrow/memory_pool.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

// Indices in many runs; the specification's vectors stand in value_decoder_test.cc.

namespace calve::parquet {
namespace {

using Bytes = std::vector<uint8_t>;

/// Indices in runs of both kinds, most of them short, written value by value as the specification has it.
struct IndexRuns {
  IndexRuns(int width, int values, uint32_t seed) : random(seed), bytes{static_cast<uint8_t>(width)} {
    while (indices.size() < 3000) random() % 2 == 0 ? Repeat(width, values) : Pack(width, values);
  }

  void Repeat(int width, int values) {
    const size_t count = random() % 8 == 0 ? 64 + random() % 100 : 1 + random() % 70;
    Header(count << 1);
    indices.insert(indices.end(), count, static_cast<int32_t>(random() % values));
    for (int i = 0; i < (width + 7) / 8; ++i) bytes.push_back(static_cast<uint8_t>(indices.back() >> (8 * i)));
  }
  void Pack(int width, int values) {
    const size_t groups = random() % 8 == 0 ? 9 + random() % 80 : 1 + random() % 12;
    Header(groups << 1 | 1);
    const size_t body = bytes.size();
    bytes.resize(body + groups * static_cast<size_t>(width));
    for (size_t i = 0; i < groups * 8; ++i) {
      indices.push_back(static_cast<int32_t>(random() % values));
      for (size_t bit = 0; bit < static_cast<size_t>(width); ++bit) {
        const size_t at = i * static_cast<size_t>(width) + bit;
        bytes[body + at / 8] |= static_cast<uint8_t>((indices.back() >> bit & 1) << at % 8);
      }
    }
  }
  void Header(size_t header) {
    last_run = bytes.size();
    for (; header >= 0x80; header >>= 7) bytes.push_back(static_cast<uint8_t>(header | 0x80));
    bytes.push_back(static_cast<uint8_t>(header));
  }

  std::mt19937 random;
  Bytes bytes;
  std::vector<int32_t> indices;
  size_t last_run = 0;
};

/// The int32 values 0 to count - 1.
std::shared_ptr<const Dictionary> Numbers(int count) {
  LeafLayout layout;
  layout.form = ValueForm::kFixed;
  layout.conversion = {4, 4, nullptr, {}};
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(numbers.data()), numbers.size() * 4);
  return MakeDictionary(layout, count, bytes, arrow::default_memory_pool()).ValueOrDie();
}

Result<std::vector<int32_t>> Decode(const Bytes& bytes, int64_t count, int64_t step, const Dictionary& dictionary) {
  DictionaryFixedDecoder decoder(sizeof(int32_t), bytes, dictionary);
  PoolVector<int32_t> out(arrow::default_memory_pool());
  ARROW_RETURN_NOT_OK(out.Resize(count));
  for (int64_t done = 0; done < count; done += step) {
    ARROW_RETURN_NOT_OK(decoder.Decode(std::min(step, count - done), reinterpret_cast<uint8_t*>(out.data() + done)));
  }
  return std::vector<int32_t>(out.data(), out.data() + count);
}

TEST(DictionaryDecoder, ShortRunsOfBothKinds) {
  for (const int width : {1, 2, 3, 4, 5, 8}) {
    const int values = (1 << width) - (width > 1 ? 1 : 0);
    const auto dictionary = Numbers(values), smaller = Numbers(values - 1);
    for (uint32_t seed = 0; seed < 5; ++seed) {
      const IndexRuns runs(width, values, seed);
      const auto count = static_cast<int64_t>(runs.indices.size());
      for (const int64_t step : {int64_t{7}, int64_t{100}, int64_t{1500}, count}) {
        EXPECT_EQ(Decode(runs.bytes, count, step, *dictionary).ValueOrDie(), runs.indices) << width;
        EXPECT_TRUE(Decode(runs.bytes, count, step, *smaller).status().IsInvalid()) << width;
      }
      for (size_t size = 0; size <= runs.last_run; ++size) {
        const Bytes cut(runs.bytes.begin(), runs.bytes.begin() + static_cast<ptrdiff_t>(size));
        ASSERT_TRUE(Decode(cut, count, count, *dictionary).status().IsInvalid()) << width << ", " << size;
      }
    }
  }
}

}  // namespace
}  // namespace calve::parquet
