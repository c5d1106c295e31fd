#include "calve/pipeline/exact_cast.h"

#include "json_arrays.h"

#include <arrow/compute/cast.h>
#include <arrow/extension/uuid.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::pipeline {
namespace {

using ::testing::HasSubstr;
using TypePtr = std::shared_ptr<arrow::DataType>;

struct Allowed {
  TypePtr from, to;
  std::string values, expected;
};

const TypePtr kUtc = arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
const TypePtr kMicros = arrow::timestamp(arrow::TimeUnit::MICRO);

TEST(ExactCast, KeepsTheValuesOfEveryPromotion) {
  const std::vector<Allowed> cases = {
      {arrow::int8(), arrow::int32(), "[-128, null, 127]", "[-128, null, 127]"},
      {arrow::uint16(), arrow::int32(), "[65535]", "[65535]"},
      {arrow::int32(), arrow::int64(), "[-2147483648, null]", "[-2147483648, null]"},
      {arrow::uint32(), arrow::int64(), "[4294967295]", "[4294967295]"},
      {arrow::float32(), arrow::float64(), "[0.5, null]", "[0.5, null]"},
      {arrow::decimal128(5, 2), arrow::decimal128(9, 2), R"(["-123.45"])", R"(["-123.45"])"},
      {arrow::date32(), kMicros, "[0, -1, null]", "[0, -86400000000, null]"},
      {arrow::date32(), arrow::timestamp(arrow::TimeUnit::NANO), "[1]", "[86400000000000]"},
      {arrow::timestamp(arrow::TimeUnit::MILLI), kMicros, "[-1, 2]", "[-1000, 2000]"},
      {arrow::timestamp(arrow::TimeUnit::NANO), kMicros, "[-1000, 2000]", "[-1, 2]"},
      {arrow::timestamp(arrow::TimeUnit::MILLI, "Europe/Paris"), kUtc, "[5]", "[5000]"},
      {arrow::time32(arrow::TimeUnit::MILLI), arrow::time64(arrow::TimeUnit::MICRO), "[7]", "[7000]"},
      {arrow::large_utf8(), arrow::utf8(), R"(["a", null])", R"(["a", null])"},
      {arrow::utf8_view(), arrow::utf8(), R"(["a long one, longer than twelve", null])",
       R"(["a long one, longer than twelve", null])"},
      {arrow::large_binary(), arrow::binary(), R"(["a"])", R"(["a"])"},
      {arrow::null(), arrow::utf8(), "[null, null]", "[null, null]"},
  };
  for (const Allowed& c : cases) {
    SCOPED_TRACE(c.from->ToString() + " -> " + c.to->ToString());
    EXPECT_TRUE(CanCastExactly(*c.from, *c.to, CastRules::kAppend));
    auto cast = CastExactly(testing::Array(c.from, c.values), c.to, arrow::default_memory_pool());
    ASSERT_TRUE(cast.ok()) << cast.status().ToString();
    testing::ExpectArray(**cast, c.to, c.expected);
  }
}

TEST(ExactCast, RefusesWhatLosesOrReinterprets) {
  const std::vector<std::pair<TypePtr, TypePtr>> cases = {
      {arrow::int64(), arrow::int32()},
      {arrow::uint64(), arrow::int64()},
      {arrow::int32(), arrow::float64()},
      {arrow::float64(), arrow::float32()},
      {arrow::decimal128(9, 2), arrow::decimal128(5, 2)},
      {arrow::decimal128(5, 2), arrow::decimal128(9, 3)},
      {arrow::utf8(), arrow::int32()},
      {arrow::int32(), arrow::utf8()},
      {arrow::binary(), arrow::utf8()},
      {arrow::utf8(), arrow::binary()},
      {kMicros, kUtc},
      {kUtc, kMicros},
      {arrow::date32(), kUtc},
      {arrow::boolean(), arrow::int32()},
      {arrow::fixed_size_binary(15), arrow::extension::uuid()},
  };
  for (const auto& [from, to] : cases) {
    EXPECT_FALSE(CanCastExactly(*from, *to, CastRules::kAppend)) << from->ToString() << " -> " << to->ToString();
  }
}

TEST(ExactCast, InPlaceEveryValueMustFit) {
  const auto nanos = arrow::timestamp(arrow::TimeUnit::NANO), millis = arrow::timestamp(arrow::TimeUnit::MILLI);
  const auto time_nanos = arrow::time64(arrow::TimeUnit::NANO), time_micros = arrow::time64(arrow::TimeUnit::MICRO);
  for (const CastRules rules : {CastRules::kInPlace, CastRules::kInPlaceV3}) {
    EXPECT_FALSE(CanCastExactly(*nanos, *kMicros, rules));
    EXPECT_FALSE(CanCastExactly(*time_nanos, *time_micros, rules));
    EXPECT_FALSE(CanCastExactly(*arrow::date64(), *arrow::date32(), rules));
    EXPECT_FALSE(CanCastExactly(*arrow::date32(), *kUtc, rules));
    EXPECT_FALSE(CanCastExactly(*kMicros, *kUtc, rules));
    EXPECT_FALSE(CanCastExactly(*arrow::binary(), *arrow::utf8(), rules));
    EXPECT_TRUE(CanCastExactly(*millis, *kMicros, rules));
    EXPECT_TRUE(CanCastExactly(*kMicros, *nanos, rules));
    EXPECT_TRUE(CanCastExactly(*arrow::time32(arrow::TimeUnit::MILLI), *time_micros, rules));
    EXPECT_TRUE(CanCastExactly(*arrow::int32(), *arrow::int64(), rules));
    EXPECT_TRUE(CanCastExactly(*arrow::float32(), *arrow::float64(), rules));
    EXPECT_TRUE(CanCastExactly(*arrow::decimal128(5, 2), *arrow::decimal128(9, 2), rules));
  }
  EXPECT_FALSE(CanCastExactly(*arrow::date32(), *kMicros, CastRules::kInPlace));
  EXPECT_TRUE(CanCastExactly(*arrow::date32(), *kMicros, CastRules::kInPlaceV3));
}

TEST(ExactCast, TablesDecideZonesAndTextOfTheirOwnFiles) {
  EXPECT_TRUE(CanCastExactly(*kMicros, *kUtc, CastRules::kRead));
  auto cast = CastExactly(testing::Array(kMicros, "[5]"), kUtc, arrow::default_memory_pool());
  ASSERT_TRUE(cast.ok());
  testing::ExpectArray(**cast, kUtc, "[5]");
  EXPECT_TRUE(CanCastExactly(*arrow::binary(), *arrow::utf8(), CastRules::kRead));
}

TEST(ExactCast, ValuesThatDoNotFitAreInvalid) {
  auto* pool = arrow::default_memory_pool();
  auto nanos = testing::Array(arrow::timestamp(arrow::TimeUnit::NANO), "[1001]");
  EXPECT_TRUE(CastExactly(nanos, kMicros, pool).status().IsInvalid());
  auto seconds = testing::Array(arrow::timestamp(arrow::TimeUnit::SECOND), "[9223372036854775807]");
  EXPECT_TRUE(CastExactly(seconds, kMicros, pool).status().IsInvalid());
  auto dates = testing::Array(arrow::date32(), "[2147483647]");
  EXPECT_THAT(CastExactly(dates, kMicros, pool).status().message(), HasSubstr("does not fit"));
  arrow::BinaryBuilder builder;
  ASSERT_TRUE(builder.Append("\xff\xfe").ok());
  auto bytes = builder.Finish().ValueOrDie();
  EXPECT_TRUE(CastExactly(bytes, arrow::utf8(), pool).status().IsInvalid());
}

TEST(ExactCast, WrapsAndUnwrapsUuids) {
  auto* pool = arrow::default_memory_pool();
  auto storage = testing::Array(arrow::fixed_size_binary(16), R"(["0123456789abcdef", null])");
  auto uuids = CastExactly(storage, arrow::extension::uuid(), pool);
  ASSERT_TRUE(uuids.ok()) << uuids.status().ToString();
  EXPECT_TRUE((*uuids)->type()->Equals(*arrow::extension::uuid()));
  auto back = CastExactly(*uuids, arrow::fixed_size_binary(16), pool);
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE((*back)->Equals(*storage));
}

TEST(ExactCast, DecodesDictionaries) {
  auto* pool = arrow::default_memory_pool();
  auto type = arrow::dictionary(arrow::int32(), arrow::large_utf8());
  auto array = arrow::json::DictArrayFromJSONString(type, "[1, null, 0]", R"(["a", "b"])").ValueOrDie();
  ASSERT_TRUE(CanCastExactly(*type, *arrow::utf8(), CastRules::kAppend));
  auto cast = CastExactly(array, arrow::utf8(), pool);
  ASSERT_TRUE(cast.ok()) << cast.status().ToString();
  testing::ExpectArray(**cast, arrow::utf8(), R"(["b", null, "a"])");
}

}  // namespace
}  // namespace calve::pipeline
