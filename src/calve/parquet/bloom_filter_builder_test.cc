#include "calve/parquet/bloom_filter_builder.h"

#include "calve/parquet/bloom_filter.h"
#include "calve/parquet/plain_encoder.h"

#include <arrow/io/memory.h>
#include <arrow/memory_pool.h>
#include <gtest/gtest.h>
#include <parquet/bloom_filter.h>
#include <parquet/properties.h>

#include <numeric>
#include <string>
#include <vector>

namespace calve::parquet {
namespace {

arrow::MemoryPool* Pool() { return arrow::default_memory_pool(); }

std::span<const uint8_t> BytesOf(const std::vector<int64_t>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(int64_t)};
}

std::vector<int64_t> Numbers(int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1'000'000);
  return values;
}

WrittenBloomFilter Build(int64_t bytes, double fpp, const std::vector<int64_t>& values) {
  BloomFilterBuilder builder(bytes, fpp, sizeof(int64_t), Pool());
  EXPECT_TRUE(builder.Add(BytesOf(values), static_cast<int64_t>(values.size())).ok());
  return builder.Finish().ValueOrDie().value();
}

TEST(BloomFilterBuilder, SameBitsAsLibparquet) {
  const auto values = Numbers(1000);
  ::parquet::BlockSplitBloomFilter theirs;
  theirs.Init(2048);
  for (const int64_t value : values) theirs.InsertHash(theirs.Hash(value));
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  theirs.WriteTo(sink.get());
  // A rate that nothing folds under.
  const auto ours = Build(2048, 0, values);
  EXPECT_EQ(ours.header + ours.bitset->ToString(), sink->Finish().ValueOrDie()->ToString());
}

TEST(BloomFilterBuilder, StringsAndFixedValues) {
  const std::vector<std::string_view> values = {"", "a", "a longer value than the others, of several words", "a"};
  ByteBuffer plain(Pool());
  ASSERT_TRUE(AppendPlain(std::span<const std::string_view>(values), false, &plain).ok());
  BloomFilterBuilder builder(1024, 0, 0, Pool());
  ASSERT_TRUE(builder.Add(plain.span(), 4).ok());
  ::parquet::BlockSplitBloomFilter theirs;
  theirs.Init(1024);
  for (const auto value : values) {
    const ::parquet::ByteArray bytes(value);
    theirs.InsertHash(theirs.Hash(&bytes));
  }
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  theirs.WriteTo(sink.get());
  const auto ours = builder.Finish().ValueOrDie().value();
  EXPECT_EQ(ours.header + ours.bitset->ToString(), sink->Finish().ValueOrDie()->ToString());
}

/// libparquet's reader finds every value in a folded filter, and others about as often as was asked for.
TEST(BloomFilterBuilder, FoldedToWhatTheValuesNeed) {
  for (const int64_t count : {1, 10, 1000, 30000}) {
    const double fpp = 0.01;
    const auto values = Numbers(count);
    const auto filter = Build(1 << 20, fpp, values);
    auto source =
        std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(filter.header + filter.bitset->ToString()));
    const auto theirs = ::parquet::BlockSplitBloomFilter::Deserialize(::parquet::ReaderProperties(), source.get());
    for (const int64_t value : values) ASSERT_TRUE(theirs.FindHash(theirs.Hash(value)));
    ::parquet::BlockSplitBloomFilter at_once;
    at_once.Init(static_cast<uint32_t>(filter.bitset->size()));
    for (const int64_t value : values) at_once.InsertHash(at_once.Hash(value));
    auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
    at_once.WriteTo(sink.get());
    EXPECT_EQ(filter.header + filter.bitset->ToString(), sink->Finish().ValueOrDie()->ToString());
    int64_t passed = 0;
    constexpr int64_t kOthers = 100000;
    for (int64_t i = 0; i < kOthers; ++i) passed += theirs.FindHash(theirs.Hash(i - 2 * kOthers)) ? 1 : 0;
    EXPECT_LE(passed, kOthers * fpp * 1.3) << count;
    // No more than twice what the values need, which is the next power of two.
    EXPECT_LE(filter.bitset->size(), 2 * BloomFilterBytes(count, fpp, 1 << 20)) << count;
    EXPECT_LT(filter.bitset->size(), 1 << 20);
  }
}

TEST(BloomFilterBuilder, NothingWithoutValuesAndAnewEachTime) {
  BloomFilterBuilder builder(1024, 0.05, sizeof(int64_t), Pool());
  EXPECT_FALSE(builder.Finish().ValueOrDie().has_value());
  ASSERT_TRUE(builder.Add(BytesOf({1}), 1).ok());
  const auto first = builder.Finish().ValueOrDie().value();
  EXPECT_EQ(first.bitset->size(), 32);
  ASSERT_TRUE(builder.Add(BytesOf({2}), 1).ok());
  EXPECT_FALSE(builder.Finish().ValueOrDie()->bitset->Equals(*first.bitset));
}

TEST(BloomFilterBuilder, SizesAreThoseOfLibparquet) {
  for (const int64_t ndv : {1, 100, 12345, 1'000'000}) {
    for (const double fpp : {0.001, 0.01, 0.05, 0.2}) {
      EXPECT_EQ(BloomFilterBytes(ndv, fpp, 128 << 20),
                ::parquet::BlockSplitBloomFilter::OptimalNumOfBytes(static_cast<uint32_t>(ndv), fpp))
          << ndv << " " << fpp;
    }
  }
  EXPECT_EQ(BloomFilterBytes(1'000'000, 0.01, 1000), 512);
}

}  // namespace
}  // namespace calve::parquet
