#include "calve/parquet/statistics.h"

#include <arrow/util/utf8.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace calve::parquet {
namespace {

template <typename T>
std::string Plain(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
Bounds<T> BoundsOf(BoundOrder order, std::vector<T> values) {
  Bounds<T> bounds(order);
  bounds.Update(std::span<const T>(values));
  return bounds;
}

// Values that are referred to, in every order of sharing much with the smallest and the largest, against std::less.
TEST(Bounds, WhatStayedOnceIsCopiedWhenItDoesNotStay) {
  std::string memory(1000, 'a');
  const std::string_view value(memory);
  Bounds<std::string_view> bounds(BoundOrder::kBytes);
  bounds.Refer({&value, 1});
  bounds.Reset();
  bounds.Own();
  memory.assign(1000, 'b');
  bounds.Update({&value, 1});
  memory.assign(1000, 'z');
  EXPECT_EQ(bounds.min(), std::string(1000, 'b'));
}

TEST(Bounds, LongBytesThatStay) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> values(1 + random() % 12);
    for (std::string& value : values) {
      value.assign(random() % 700, 'm');
      for (uint64_t changes = random() % 3; changes > 0 && !value.empty(); --changes) {
        value[random() % value.size()] = static_cast<char>("\x00m\x7F\x80\xFF"[random() % 5]);
      }
    }
    const std::vector<std::string_view> views(values.begin(), values.end());
    const auto [min, max] = std::minmax_element(views.begin(), views.end());
    const std::string smallest(*min), largest(*max);
    Bounds<std::string_view> page(BoundOrder::kBytes), chunk(BoundOrder::kBytes);
    for (size_t i = 0; i < views.size(); ++i) {
      if (random() % 2 == 0) {
        page.Refer({&views[i], 1});
      } else {
        page.Update({&views[i], 1});
      }
      if (random() % 3 > 0) continue;
      chunk.Update(page);
      page.Reset();
    }
    chunk.Update(page);
    chunk.Own();
    for (std::string& value : values) std::fill(value.begin(), value.end(), '?');
    ASSERT_EQ(chunk.min(), smallest);
    ASSERT_EQ(chunk.max(), largest);
  }
}

SchemaElement Element(PhysicalType type, LogicalType::Kind kind = LogicalType::Kind::kNone) {
  SchemaElement element;
  element.type = type;
  element.logical_type.kind = kind;
  return element;
}

TEST(Bounds, SignedAndUnsignedIntegers) {
  const auto as_signed = BoundsOf<int32_t>(BoundOrder::kSigned, {-1, 0, 1});
  EXPECT_EQ(as_signed.min(), Plain<int32_t>(-1));
  EXPECT_EQ(as_signed.max(), Plain<int32_t>(1));
  const auto as_unsigned = BoundsOf<int64_t>(BoundOrder::kUnsigned, {-1, 0, 1});
  EXPECT_EQ(as_unsigned.min(), Plain<int64_t>(0));
  EXPECT_EQ(as_unsigned.max(), Plain<int64_t>(-1));
}

// Fault 10: signed zero, NaN, infinities under type-defined order.
TEST(Bounds, SignedZeros) {
  for (double zero : {0.0, -0.0}) {
    const auto bounds = BoundsOf<double>(BoundOrder::kFloat, {zero});
    EXPECT_EQ(bounds.min(), Plain(-0.0));
    EXPECT_EQ(bounds.max(), Plain(0.0));
  }
  const auto floats = BoundsOf<float>(BoundOrder::kFloat, {0.0f, 2.0f});
  EXPECT_EQ(floats.min(), Plain(-0.0f));
  EXPECT_EQ(floats.max(), Plain(2.0f));
}

TEST(Bounds, NansAreLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto bounds = BoundsOf<double>(BoundOrder::kFloat, {nan, 1, nan, -3, nan});
  EXPECT_EQ(bounds.min(), Plain(-3.0));
  EXPECT_EQ(bounds.max(), Plain(1.0));
  EXPECT_FALSE(BoundsOf<double>(BoundOrder::kFloat, {nan, nan}).has_values());
  const std::vector<double> values = {nan, 1, nan};
  EXPECT_EQ(CountNans<double>(BoundOrder::kFloat, values), 2);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto infinite = BoundsOf<double>(BoundOrder::kFloat, {nan, infinity, -infinity});
  EXPECT_EQ(infinite.min(), Plain(-infinity));
  EXPECT_EQ(infinite.max(), Plain(infinity));
}

TEST(Bounds, HalfFloats) {
  const auto half = [](uint16_t bits) { return Plain(bits); };
  const std::string nan = half(0x7E01), one = half(0x3C00), minus_two = half(0xC000), zero = half(0),
                    minus_zero = half(0x8000);
  const auto bounds = BoundsOf<std::string_view>(BoundOrder::kFloat16, {nan, one, minus_two, zero});
  EXPECT_EQ(bounds.min(), minus_two);
  EXPECT_EQ(bounds.max(), one);
  const auto zeros = BoundsOf<std::string_view>(BoundOrder::kFloat16, {zero});
  EXPECT_EQ(zeros.min(), minus_zero);
  EXPECT_EQ(zeros.max(), zero);
  EXPECT_FALSE(BoundsOf<std::string_view>(BoundOrder::kFloat16, {nan}).has_values());
}

// Fault 9: -1, 0, 1 as big-endian two's complement.
TEST(Bounds, DecimalsInBytes) {
  const std::string minus_one(9, '\xFF'), zero(9, '\0'), one = std::string(8, '\0') + '\x01';
  auto bounds = BoundsOf<std::string_view>(BoundOrder::kDecimal, {zero, one, minus_one});
  EXPECT_EQ(bounds.min(), minus_one);
  EXPECT_EQ(bounds.max(), one);
  const std::string minus_two = std::string(8, '\xFF') + '\xFE';
  bounds.Update(BoundsOf<std::string_view>(BoundOrder::kDecimal, {minus_two}));
  EXPECT_EQ(bounds.min(), minus_two);
  EXPECT_EQ(bounds.max(), one);
}

TEST(Bounds, BytesAreUnsigned) {
  const auto bounds = BoundsOf<std::string_view>(BoundOrder::kBytes, {"b", "\xFF", "a", "ab", ""});
  EXPECT_EQ(bounds.min(), "");
  EXPECT_EQ(bounds.max(), "\xFF");
}

TEST(Bounds, OrderOfEachType) {
  using Kind = LogicalType::Kind;
  EXPECT_EQ(BoundOrderOf(Element(PhysicalType::kInt32)), BoundOrder::kSigned);
  EXPECT_EQ(BoundOrderOf(Element(PhysicalType::kInt64, Kind::kDecimal)), BoundOrder::kSigned);
  SchemaElement u32 = Element(PhysicalType::kInt32, Kind::kInteger);
  u32.logical_type.is_signed = false;
  EXPECT_EQ(BoundOrderOf(u32), BoundOrder::kUnsigned);
  EXPECT_EQ(BoundOrderOf(Element(PhysicalType::kFixedLenByteArray, Kind::kDecimal)), BoundOrder::kDecimal);
  EXPECT_EQ(BoundOrderOf(Element(PhysicalType::kFixedLenByteArray, Kind::kUuid)), BoundOrder::kBytes);
  EXPECT_EQ(BoundOrderOf(Element(PhysicalType::kFixedLenByteArray, Kind::kFloat16)), BoundOrder::kFloat16);
  EXPECT_EQ(BoundOrderOf(Element(PhysicalType::kInt96)), BoundOrder::kNone);
  EXPECT_EQ(BoundOrderOf(Element(PhysicalType::kByteArray, Kind::kGeometry)), BoundOrder::kNone);
  SchemaElement interval = Element(PhysicalType::kFixedLenByteArray);
  interval.converted_type = ConvertedType::kInterval;
  EXPECT_EQ(BoundOrderOf(interval), BoundOrder::kNone);
  EXPECT_FALSE(BoundsOf<std::string_view>(BoundOrder::kNone, {"abc"}).has_values());
}

Statistics Cut(const SchemaElement& element, const std::string& min, const std::string& max) {
  Statistics statistics;
  SetBounds(element, min, max, &statistics);
  return statistics;
}

TEST(SetBounds, ShortOnesAreExact) {
  const auto statistics = Cut(Element(PhysicalType::kByteArray), std::string(64, 'a'), std::string(64, '\xFF'));
  EXPECT_EQ(statistics.min_value, std::string(64, 'a'));
  EXPECT_EQ(statistics.max_value, std::string(64, '\xFF'));
  EXPECT_EQ(statistics.is_min_value_exact, true);
  EXPECT_EQ(statistics.is_max_value_exact, true);
}

// Fault 15: long values are cut to bounds that stay valid, or left out.
TEST(SetBounds, LongBytes) {
  const auto element = Element(PhysicalType::kByteArray);
  auto statistics = Cut(element, std::string(1 << 24, 'a'), std::string(63, 'b') + std::string(100, '\xFF'));
  EXPECT_EQ(statistics.min_value, std::string(64, 'a'));
  EXPECT_EQ(statistics.is_min_value_exact, false);
  EXPECT_EQ(statistics.max_value, std::string(62, 'b') + 'c');
  EXPECT_EQ(statistics.is_max_value_exact, false);
  statistics = Cut(element, "", std::string(65, '\xFF'));
  EXPECT_EQ(statistics.min_value, "");
  EXPECT_EQ(statistics.max_value, std::nullopt);
  EXPECT_EQ(statistics.is_max_value_exact, std::nullopt);
}

TEST(SetBounds, LongTextIsCutBetweenCodePoints) {
  const auto element = Element(PhysicalType::kByteArray, LogicalType::Kind::kString);
  arrow::util::InitializeUTF8();
  // A code point of each length ends at, or crosses, byte 64.
  for (const std::string code_point : {"z", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\x7F", "\xDF\xBF",
                                       "\xEF\xBF\xBF", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    for (size_t lead = 58; lead <= 64; ++lead) {
      std::string text(lead, 'a');
      while (text.size() < 100) text += code_point;
      const auto statistics = Cut(element, text, text);
      ASSERT_TRUE(statistics.min_value && statistics.max_value);
      EXPECT_LE(statistics.min_value->size(), 64u);
      EXPECT_LE(statistics.max_value->size(), 64u);
      EXPECT_TRUE(arrow::util::ValidateUTF8(*statistics.min_value));
      EXPECT_TRUE(arrow::util::ValidateUTF8(*statistics.max_value)) << code_point << lead;
      EXPECT_LT(*statistics.min_value, text);
      EXPECT_GT(*statistics.max_value, text);
      EXPECT_EQ(statistics.is_max_value_exact, false);
    }
  }
}

TEST(SetBounds, TextWithoutALargerOneIsLeftOut) {
  const auto element = Element(PhysicalType::kByteArray, LogicalType::Kind::kString);
  std::string largest;
  while (largest.size() < 100) largest += "\xF4\x8F\xBF\xBF";
  const auto statistics = Cut(element, largest, largest);
  EXPECT_TRUE(statistics.min_value);
  EXPECT_FALSE(statistics.max_value);
}

TEST(SetBounds, TextThatIsNoUtf8IsNeverWrong) {
  const auto element = Element(PhysicalType::kByteArray, LogicalType::Kind::kString);
  for (const std::string& text : {std::string(100, '\x80'), std::string(100, '\xFF'), std::string(100, '\xC3'),
                                  std::string(63, 'a') + std::string(50, '\xE2')}) {
    const auto statistics = Cut(element, text, text);
    if (statistics.min_value) {
      EXPECT_LE(*statistics.min_value, text);
    }
    if (statistics.max_value) {
      EXPECT_GE(*statistics.max_value, text);
    }
  }
}

TEST(SetBounds, WhatCannotBeCutIsLeftOut) {
  for (const auto& element :
       {Element(PhysicalType::kByteArray, LogicalType::Kind::kJson), Element(PhysicalType::kFixedLenByteArray)}) {
    const auto statistics = Cut(element, std::string(65, 'a'), std::string(65, 'b'));
    EXPECT_FALSE(statistics.min_value);
    EXPECT_FALSE(statistics.max_value);
  }
}

}  // namespace
}  // namespace calve::parquet
