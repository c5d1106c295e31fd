#include "calve/expr/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace calve {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Value, NumbersCompareByValue) {
  EXPECT_EQ(Compare(int32_t{1}, int32_t{2}), std::partial_ordering::less);
  EXPECT_EQ(Compare(int64_t{-1}, int64_t{-1}), std::partial_ordering::equivalent);
  EXPECT_EQ(Compare(-0.0, 0.0), std::partial_ordering::equivalent);
  EXPECT_EQ(Compare(arrow::Decimal128(-5), arrow::Decimal128(3)), std::partial_ordering::less);
  EXPECT_EQ(Compare(arrow::Decimal128(1, 0), arrow::Decimal128(0, 7)), std::partial_ordering::greater);
}

TEST(Value, StringsCompareByUnsignedBytes) {
  EXPECT_EQ(Compare(std::string("a"), std::string("\xc3\xa9")), std::partial_ordering::less);
  EXPECT_EQ(Compare(std::string("a\0b", 3), std::string("a")), std::partial_ordering::greater);
  EXPECT_EQ(Compare(std::string(""), std::string("")), std::partial_ordering::equivalent);
}

TEST(Value, NullNanAndMixedAlternativesAreUnordered) {
  EXPECT_EQ(Compare(Value(), Value()), std::partial_ordering::unordered);
  EXPECT_EQ(Compare(kNan, kNan), std::partial_ordering::unordered);
  EXPECT_EQ(Compare(int32_t{1}, int64_t{1}), std::partial_ordering::unordered);
  EXPECT_TRUE(IsNaN(kNan));
  EXPECT_TRUE(IsNaN(std::nanf("")));
  EXPECT_FALSE(IsNaN(1.0));
  EXPECT_FALSE(IsNaN(Value()));
}

TEST(Value, SameValueAndItsHashTellKeysApart) {
  EXPECT_TRUE(SameValue(Value(), Value()));
  EXPECT_TRUE(SameValue(kNan, -kNan));
  EXPECT_EQ(HashValue(kNan), HashValue(-kNan));
  EXPECT_FALSE(SameValue(-0.0, 0.0));
  EXPECT_FALSE(SameValue(-0.0f, 0.0f));
  EXPECT_NE(HashValue(-0.0), HashValue(0.0));
  EXPECT_FALSE(SameValue(int32_t{1}, int64_t{1}));
  EXPECT_TRUE(SameValue(std::string("x"), std::string("x")));
  EXPECT_EQ(HashValue(arrow::Decimal128(7)), HashValue(arrow::Decimal128(7)));
}

}  // namespace
}  // namespace calve
