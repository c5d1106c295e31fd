#include "calve/parquet/chunk_bounds.h"

#include <arrow/extension/uuid.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace calve::parquet {
namespace {

template <typename T>
std::string Plain(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

void ExpectValue(const Value& actual, const Value& expected) {
  EXPECT_EQ(actual.index(), expected.index());
  EXPECT_TRUE(SameValue(actual, expected));
}

const auto kMicros = arrow::timestamp(arrow::TimeUnit::MICRO);
const auto kMillis = arrow::timestamp(arrow::TimeUnit::MILLI);
const auto kNanos = arrow::timestamp(arrow::TimeUnit::NANO);

TEST(DecodeBound, MillisecondStatisticsOfAMicrosecondColumn) {
  ExpectValue(DecodeBound(PhysicalType::kInt64, *kMillis, Plain<int64_t>(1500), *kMicros, true), int64_t{1500000});
  ExpectValue(DecodeBound(PhysicalType::kInt64, *kMillis, Plain<int64_t>(-1), *kMicros, false), int64_t{-1000});
  // A product that does not fit says nothing.
  const auto huge = Plain(std::numeric_limits<int64_t>::max() / 10);
  ExpectValue(DecodeBound(PhysicalType::kInt64, *kMillis, huge, *kMicros, false), Value());
}

TEST(DecodeBound, NanosecondsAreWidenedToMicroseconds) {
  ExpectValue(DecodeBound(PhysicalType::kInt64, *kNanos, Plain<int64_t>(1999), *kMicros, true), int64_t{1});
  ExpectValue(DecodeBound(PhysicalType::kInt64, *kNanos, Plain<int64_t>(1001), *kMicros, false), int64_t{2});
  ExpectValue(DecodeBound(PhysicalType::kInt64, *kNanos, Plain<int64_t>(-1001), *kMicros, true), int64_t{-2});
  ExpectValue(DecodeBound(PhysicalType::kInt64, *kNanos, Plain<int64_t>(-1999), *kMicros, false), int64_t{-1});
}

TEST(DecodeBound, TimesOfThirtyTwoBits) {
  const auto millis = arrow::time32(arrow::TimeUnit::MILLI);
  ExpectValue(DecodeBound(PhysicalType::kInt32, *millis, Plain<int32_t>(3), *millis, true), int32_t{3});
  ExpectValue(DecodeBound(PhysicalType::kInt32, *arrow::int32(), Plain<int32_t>(3), *millis, true), Value());
}

TEST(DecodeBound, PromotedColumns) {
  ExpectValue(DecodeBound(PhysicalType::kInt32, *arrow::int32(), Plain<int32_t>(-5), *arrow::int64(), true),
              int64_t{-5});
  ExpectValue(DecodeBound(PhysicalType::kFloat, *arrow::float32(), Plain(1.5F), *arrow::float64(), true), 1.5);
  ExpectValue(DecodeBound(PhysicalType::kInt32, *arrow::date32(), Plain<int32_t>(-1), *kMicros, true),
              int64_t{-86400000000});
  ExpectValue(DecodeBound(PhysicalType::kInt32, *arrow::time32(arrow::TimeUnit::MILLI), Plain<int32_t>(3),
                          *arrow::time64(arrow::TimeUnit::MICRO), true),
              int64_t{3000});
}

TEST(DecodeBound, UnsignedNumbersAreNotNegative) {
  ExpectValue(DecodeBound(PhysicalType::kInt32, *arrow::uint32(), Plain<uint32_t>(4000000000U), *arrow::int64(), false),
              int64_t{4000000000});
  ExpectValue(DecodeBound(PhysicalType::kInt64, *arrow::uint64(), Plain<uint64_t>(1ULL << 63), *arrow::int64(), false),
              Value());
}

TEST(DecodeBound, DecimalsOfEveryPhysicalType) {
  const auto type = arrow::decimal128(38, 2);
  ExpectValue(DecodeBound(PhysicalType::kInt32, *arrow::decimal128(9, 2), Plain<int32_t>(-12345), *type, true),
              arrow::Decimal128(-12345));
  ExpectValue(DecodeBound(PhysicalType::kInt64, *arrow::decimal128(18, 2), Plain<int64_t>(12345), *type, true),
              arrow::Decimal128(12345));
  ExpectValue(
      DecodeBound(PhysicalType::kFixedLenByteArray, *arrow::decimal128(20, 2), std::string("\xff\xfe", 2), *type, true),
      arrow::Decimal128(-2));
  ExpectValue(DecodeBound(PhysicalType::kByteArray, *arrow::decimal128(20, 2), std::string(17, '\0'), *type, true),
              Value());
}

TEST(DecodeBound, ValuesOfTheWrongLengthSayNothing) {
  ExpectValue(DecodeBound(PhysicalType::kInt64, *arrow::int64(), Plain<int32_t>(1), *arrow::int64(), true), Value());
  ExpectValue(DecodeBound(PhysicalType::kBoolean, *arrow::boolean(), "", *arrow::boolean(), true), Value());
  ExpectValue(DecodeBound(PhysicalType::kFixedLenByteArray, *arrow::fixed_size_binary(4), "abc",
                          *arrow::fixed_size_binary(4), true),
              Value());
}

TEST(DecodeBound, UnsignedNumbersAboveTheSignedRange) {
  ExpectValue(DecodeBound(PhysicalType::kInt64, *arrow::uint64(), Plain<uint64_t>(1ULL << 63), *arrow::uint64(), false),
              arrow::Decimal128(0, 1ULL << 63));
  ExpectValue(
      DecodeBound(PhysicalType::kInt32, *arrow::uint32(), Plain<uint32_t>(4000000000U), *arrow::uint32(), false),
      int64_t{4000000000});
}

TEST(DecodeBound, HalfFloats) {
  ExpectValue(DecodeBound(PhysicalType::kFixedLenByteArray, *arrow::float16(), Plain<uint16_t>(0xc100),
                          *arrow::float16(), true),
              -2.5F);
  ExpectValue(DecodeBound(PhysicalType::kFixedLenByteArray, *arrow::float16(), Plain<uint16_t>(0x7e00),
                          *arrow::float16(), true),
              Value());
}

TEST(DecodeBound, NaNsAndInt96SayNothing) {
  ExpectValue(DecodeBound(PhysicalType::kDouble, *arrow::float64(), Plain(std::nan("")), *arrow::float64(), true),
              Value());
  ExpectValue(DecodeBound(PhysicalType::kFixedLenByteArray, *arrow::float16(), "ab", *arrow::float64(), true), Value());
  ExpectValue(DecodeBound(PhysicalType::kInt96, *kNanos, std::string(12, 'a'), *kMicros, true), Value());
}

TEST(DecodeBound, UuidsAreTheirBytes) {
  ExpectValue(DecodeBound(PhysicalType::kFixedLenByteArray, *arrow::extension::uuid(), "0123456789abcdef",
                          *arrow::extension::uuid(), true),
              std::string("0123456789abcdef"));
}

ColumnMetadata Chunk(PhysicalType type, Statistics statistics, int64_t values = 10) {
  ColumnMetadata chunk;
  chunk.type = type;
  chunk.num_values = values;
  chunk.statistics = std::move(statistics);
  return chunk;
}

TEST(BoundsOfChunk, UsesMinValueOnlyWithADefinedOrder) {
  Statistics statistics;
  statistics.min_value = "a";
  statistics.max_value = "z";
  statistics.null_count = 2;
  auto chunk = Chunk(PhysicalType::kByteArray, statistics);
  auto bounds = BoundsOfChunk(chunk, *arrow::utf8(), true, *arrow::utf8());
  ExpectValue(bounds.lower, std::string("a"));
  ExpectValue(bounds.upper, std::string("z"));
  EXPECT_EQ(bounds.null_count, 2);
  EXPECT_EQ(bounds.value_count, 10);
  bounds = BoundsOfChunk(chunk, *arrow::utf8(), false, *arrow::utf8());
  ExpectValue(bounds.lower, Value());
}

TEST(BoundsOfChunk, UsesDeprecatedMembersOfSignedTypesOnly) {
  Statistics statistics;
  statistics.min = Plain<int32_t>(-1);
  statistics.max = Plain<int32_t>(1);
  auto chunk = Chunk(PhysicalType::kInt32, statistics);
  ExpectValue(BoundsOfChunk(chunk, *arrow::int32(), false, *arrow::int32()).lower, int32_t{-1});
  ExpectValue(BoundsOfChunk(chunk, *arrow::uint32(), false, *arrow::int64()).lower, Value());
  statistics.min = "a";
  statistics.max = "b";
  ExpectValue(BoundsOfChunk(Chunk(PhysicalType::kByteArray, statistics), *arrow::utf8(), false, *arrow::utf8()).lower,
              Value());
}

TEST(BoundsOfChunk, ImplausibleStatisticsSayNothing) {
  Statistics statistics;
  statistics.min_value = Plain<int32_t>(2);
  statistics.max_value = Plain<int32_t>(1);
  statistics.null_count = 11;
  auto bounds = BoundsOfChunk(Chunk(PhysicalType::kInt32, statistics), *arrow::int32(), true, *arrow::int32());
  ExpectValue(bounds.lower, Value());
  ExpectValue(bounds.upper, Value());
  EXPECT_FALSE(bounds.null_count);
}

ColumnIndex Index(std::vector<std::string> min, std::vector<std::string> max) {
  ColumnIndex index;
  index.null_pages.resize(min.size());
  index.min_values = std::move(min);
  index.max_values = std::move(max);
  return index;
}

TEST(BoundsOfPage, CountsAreKnownOnlyWhenTheyStandThere) {
  auto index = Index({"a", "c"}, {"b", "d"});
  auto bounds = BoundsOfPage(index, 1, 5, PhysicalType::kByteArray, *arrow::utf8(), true, *arrow::utf8());
  ExpectValue(bounds.lower, std::string("c"));
  ExpectValue(bounds.upper, std::string("d"));
  EXPECT_EQ(bounds.value_count, 5);
  EXPECT_FALSE(bounds.null_count);
  index.null_counts = {0, 3};
  bounds = BoundsOfPage(index, 1, 5, PhysicalType::kByteArray, *arrow::utf8(), true, *arrow::utf8());
  EXPECT_EQ(bounds.null_count, 3);
}

TEST(BoundsOfPage, NullPagesHoldNullsOnly) {
  auto index = Index({"", "c"}, {"", "d"});
  index.null_pages[0] = true;
  const auto bounds = BoundsOfPage(index, 0, 5, PhysicalType::kByteArray, *arrow::utf8(), true, *arrow::utf8());
  EXPECT_EQ(bounds.null_count, 5);
  ExpectValue(bounds.lower, Value());
}

TEST(BoundsOfPage, WithoutADefinedOrderBoundsSayNothing) {
  const auto index = Index({"a"}, {"b"});
  const auto bounds = BoundsOfPage(index, 0, 5, PhysicalType::kByteArray, *arrow::utf8(), false, *arrow::utf8());
  ExpectValue(bounds.lower, Value());
}

}  // namespace
}  // namespace calve::parquet
