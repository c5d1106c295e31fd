#include "calve/parquet/value_sample.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace calve::parquet {
namespace {

constexpr int64_t kLimit = 1 << 20;  // 131,072 values of 8 bytes

bool Hopeless(const std::vector<int64_t>& sample) {
  return DictionaryIsHopeless<int64_t>(sample, false, kLimit, arrow::default_memory_pool()).ValueOrDie();
}

std::vector<int64_t> Random(uint64_t distinct) {
  std::mt19937_64 random(distinct);
  std::vector<int64_t> sample;
  for (int i = 0; i < 4096; ++i) sample.push_back(static_cast<int64_t>(random() % distinct));
  return sample;
}

TEST(ValueSample, ManyMoreValuesThanADictionaryHolds) {
  EXPECT_TRUE(Hopeless(Random(~uint64_t{0})));
  EXPECT_TRUE(Hopeless(Random(10000000)));
}

TEST(ValueSample, ValuesThatADictionaryHolds) {
  for (uint64_t distinct : {1, 100, 5000, 100000}) EXPECT_FALSE(Hopeless(Random(distinct))) << distinct;
}

TEST(ValueSample, FrequentValuesAmongDistinctOnes) {
  auto sample = Random(~uint64_t{0});
  for (size_t i = 0; i < sample.size(); i += 2) sample[i] = 7;
  EXPECT_FALSE(Hopeless(sample));
}

// Of 4 bytes each, an id of 18 bits and every other value in the dictionary cost more.
TEST(ValueSample, FrequentValuesThatSaveNothing) {
  std::vector<int32_t> sample;
  for (int64_t value : Random(~uint64_t{0})) sample.push_back(static_cast<int32_t>(value));
  for (size_t i = 0; i < sample.size(); i += 2) sample[i] = 7;
  const auto hopeless = [&] {
    return DictionaryIsHopeless<int32_t>(sample, false, kLimit, arrow::default_memory_pool()).ValueOrDie();
  };
  EXPECT_TRUE(hopeless());
  // Three of four are the same: those that are left pay for the ids of all.
  for (size_t i = 1; i < sample.size(); i += 4) sample[i] = 7;
  EXPECT_FALSE(hopeless());
}

TEST(ValueSample, ValuesThatRepeatInPlace) {
  std::vector<int64_t> sample;
  for (int64_t i = 0; i < 4096; ++i) sample.push_back(i / 4);
  EXPECT_FALSE(Hopeless(sample));
}

bool PlainIsBetter(const std::vector<int64_t>& sample, calve::Codec codec = calve::Codec::kZstd) {
  return PlainCompressesBetter<int64_t>(sample, false, kLimit, 1 << 16, codec, 1, arrow::default_memory_pool())
      .ValueOrDie();
}

// Every other value is the same: zstd takes it for next to nothing, while an id takes 17 bits.
TEST(ValueSample, WhatCompressesBetterWithoutADictionary) {
  auto sample = Random(~uint64_t{0});
  for (size_t i = 0; i < sample.size(); i += 2) sample[i] = 7;
  EXPECT_TRUE(PlainIsBetter(sample));
  EXPECT_FALSE(PlainIsBetter(sample, calve::Codec::kUncompressed));
}

TEST(ValueSample, WhatCompressesBetterWithADictionary) {
  for (uint64_t distinct : {10, 400, 2000}) {
    auto sample = Random(distinct);
    for (int64_t& value : sample) value = static_cast<int64_t>(static_cast<uint64_t>(value) * 0x123456789ABCDEF);
    EXPECT_FALSE(PlainIsBetter(sample)) << distinct;
  }
}

// The same of other types: half of the values alike.
TEST(ValueSample, WhatCompressesBetterOfAnyType) {
  const auto numbers = Random(~uint64_t{0});
  std::vector<int32_t> small;
  std::vector<float> reals;
  std::vector<std::string> texts;
  for (size_t i = 0; i < numbers.size(); ++i) {
    small.push_back(i % 2 == 0 ? 7 : static_cast<int32_t>(numbers[i]));
    reals.push_back(static_cast<float>(small.back()));
    texts.push_back(i % 2 == 0 ? "7" : "k" + std::to_string(numbers[i] % 2000));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto is_better = [](const auto& sample) {
    using T = typename std::decay_t<decltype(sample)>::value_type;
    return PlainCompressesBetter<T>(sample, false, kLimit, 1 << 16, calve::Codec::kZstd, 1,
                                    arrow::default_memory_pool())
        .ValueOrDie();
  };
  EXPECT_TRUE(is_better(small));
  EXPECT_TRUE(is_better(reals));
  EXPECT_FALSE(is_better(views));
  // Not worth compressing only to decide.
  const std::string large(1 << 20, 'x');
  EXPECT_FALSE(is_better(std::vector<std::string_view>(4096, large)));
}

TEST(ValueSample, TooFewToTell) {
  EXPECT_FALSE(Hopeless({}));
  EXPECT_FALSE(Hopeless({1, 2, 3}));
}

}  // namespace
}  // namespace calve::parquet
