#include "calve/expr/bounds.h"

#include "calve/expr/evaluate.h"
#include "filter_testing.h"

#include <arrow/extension/uuid.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace calve::expr {
namespace {

using testing::ArrayOf;
using testing::BatchOf;
using testing::BoundFilter;
using testing::FieldWithId;

/// "may" or "no" (MightMatch), and "all" when AllMatch too.
std::string Decided(const std::string& filter, const std::shared_ptr<arrow::DataType>& type,
                    const ColumnBounds& bounds) {
  const auto node = BoundFilter(filter, *arrow::schema({FieldWithId("a", type, 1)})).ValueOrDie();
  const BoundsLookup lookup = [&](const ColumnRef&) { return bounds; };
  const bool might = MightMatch(node, lookup);
  const bool all = AllMatch(node, lookup);
  EXPECT_TRUE(might || !all) << filter;
  return all ? "all" : might ? "may" : "no";
}

TEST(Bounds, EachTestOfAnIntegerColumn) {
  const auto type = arrow::int32();
  const ColumnBounds bounds{int32_t{10}, int32_t{20}, 100, 0, std::nullopt};
  const std::pair<const char*, const char*> cases[] = {{"a = 9", "no"},
                                                       {"a = 10", "may"},
                                                       {"a = 20", "may"},
                                                       {"a = 21", "no"},
                                                       {"a != 9", "all"},
                                                       {"a != 10", "may"},
                                                       {"a < 10", "no"},
                                                       {"a < 11", "may"},
                                                       {"a < 21", "all"},
                                                       {"a < 20", "may"},
                                                       {"a <= 9", "no"},
                                                       {"a <= 10", "may"},
                                                       {"a <= 20", "all"},
                                                       {"a > 20", "no"},
                                                       {"a > 19", "may"},
                                                       {"a > 9", "all"},
                                                       {"a >= 21", "no"},
                                                       {"a >= 20", "may"},
                                                       {"a >= 10", "all"},
                                                       {"a IN (1, 30)", "no"},
                                                       {"a IN (1, 15)", "may"},
                                                       {"a NOT IN (1, 30)", "all"},
                                                       {"a NOT IN (15, 30)", "may"},
                                                       {"a IS NULL", "no"},
                                                       {"a IS NOT NULL", "all"},
                                                       {"a < 10 OR a > 20", "no"},
                                                       {"a < 11 AND a > 9", "may"},
                                                       {"a > 9 AND a < 21", "all"},
                                                       {"a < 9 OR a > 9", "all"},
                                                       {"a = 9 AND a > 9", "no"},
                                                       {"TRUE", "all"},
                                                       {"FALSE", "no"}};
  for (const auto& [filter, expected] : cases) EXPECT_EQ(Decided(filter, type, bounds), expected) << filter;
  const ColumnBounds one{int32_t{7}, int32_t{7}, 3, 0, std::nullopt};
  EXPECT_EQ(Decided("a = 7", type, one), "all");
  EXPECT_EQ(Decided("a != 7", type, one), "no");
  EXPECT_EQ(Decided("a IN (1, 7)", type, one), "all");
  EXPECT_EQ(Decided("a NOT IN (1, 7)", type, one), "no");
}

TEST(Bounds, NullCounts) {
  const auto type = arrow::int32();
  const ColumnBounds some{int32_t{1}, int32_t{2}, 10, 3, std::nullopt};
  EXPECT_EQ(Decided("a < 5", type, some), "may");
  EXPECT_EQ(Decided("a IS NULL", type, some), "may");
  EXPECT_EQ(Decided("a IS NOT NULL", type, some), "may");
  const ColumnBounds only{{}, {}, 10, 10, std::nullopt};
  for (const char* filter : {"a = 5", "a != 5", "a < 5", "a IN (1, 2)", "a NOT IN (1, 2)", "a IS NOT NULL"}) {
    EXPECT_EQ(Decided(filter, type, only), "no") << filter;
  }
  EXPECT_EQ(Decided("a IS NULL", type, only), "all");
  const ColumnBounds unknown{int32_t{1}, int32_t{2}, std::nullopt, std::nullopt, std::nullopt};
  EXPECT_EQ(Decided("a < 5", type, unknown), "may");
  EXPECT_EQ(Decided("a > 5", type, unknown), "no");
  EXPECT_EQ(Decided("a IS NULL", type, unknown), "may");
  for (const char* filter : {"a = 5", "a IS NULL", "a IS NOT NULL"}) {
    EXPECT_EQ(Decided(filter, type, ColumnBounds{}), "may") << filter;
  }
}

TEST(Bounds, NothingKnownOfAColumnDecidesNothing) {
  const auto node = BoundFilter("a = 1", *arrow::schema({FieldWithId("a", arrow::int32(), 1)})).ValueOrDie();
  const BoundsLookup lookup = [](const ColumnRef&) { return std::nullopt; };
  EXPECT_TRUE(MightMatch(node, lookup));
  EXPECT_FALSE(AllMatch(node, lookup));
}

TEST(Bounds, NaNRowsBesideEqualBounds) {
  const auto type = arrow::float64();
  const ColumnBounds with_nan{3.0, 3.0, 3, 0, 1};  // [3, NaN, 3]
  EXPECT_EQ(Decided("a != 3", type, with_nan), "may");
  EXPECT_EQ(Decided("a > 3", type, with_nan), "may");
  EXPECT_EQ(Decided("a >= 4", type, with_nan), "may");
  EXPECT_EQ(Decided("a NOT IN (3, 4)", type, with_nan), "may");
  EXPECT_EQ(Decided("a = 3", type, with_nan), "may");
  EXPECT_EQ(Decided("a <= 3", type, with_nan), "may");
  EXPECT_EQ(Decided("a < 3", type, with_nan), "no");
  EXPECT_EQ(Decided("a >= 3", type, with_nan), "all");
  EXPECT_EQ(Decided("a = 'NaN'", type, with_nan), "may");
  const ColumnBounds unknown{3.0, 3.0, 3, 0, std::nullopt};
  EXPECT_EQ(Decided("a != 3", type, unknown), "may");
  EXPECT_EQ(Decided("a IS NAN", type, unknown), "may");
  EXPECT_EQ(Decided("a = 3", type, unknown), "may");
  const ColumnBounds without{3.0, 3.0, 3, 0, 0};
  EXPECT_EQ(Decided("a != 3", type, without), "no");
  EXPECT_EQ(Decided("a > 3", type, without), "no");
  EXPECT_EQ(Decided("a = 3", type, without), "all");
  EXPECT_EQ(Decided("a IS NAN", type, without), "no");
  EXPECT_EQ(Decided("a IS NOT NAN", type, without), "all");
  const ColumnBounds only{{}, {}, 3, 0, 3};
  EXPECT_EQ(Decided("a < 3", type, only), "no");
  EXPECT_EQ(Decided("a > 3", type, only), "may");
  EXPECT_EQ(Decided("a IS NOT NAN", type, only), "no");
  EXPECT_EQ(Decided("a IS NAN", type, only), "all");
  EXPECT_EQ(Decided("a = 3", type, ColumnBounds{{}, {}, 3, 1, 2}), "no");
}

TEST(Bounds, NaNBoundsAreNotBelieved) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ColumnBounds& bounds :
       {ColumnBounds{nan, nan, 3, 0, 1}, ColumnBounds{nan, 5.0, 3, 0, 1}, ColumnBounds{1.0, nan, 3, 0, 1}}) {
    EXPECT_EQ(Decided("a < -100", arrow::float64(), bounds), "may");
    EXPECT_EQ(Decided("a = 100", arrow::float64(), bounds), "may");
  }
}

TEST(Bounds, NegativeZeroAndZeroAreOneValue) {
  const auto type = arrow::float64();
  for (const auto& [lower, upper] :
       std::vector<std::pair<double, double>>{{0.0, 0.0}, {-0.0, -0.0}, {-0.0, 0.0}, {0.0, -0.0}}) {
    const ColumnBounds bounds{lower, upper, 2, 0, 0};
    EXPECT_EQ(Decided("a = 0.0", type, bounds), "all");
    EXPECT_EQ(Decided("a = -0.0", type, bounds), "all");
    EXPECT_EQ(Decided("a >= 0.0", type, bounds), "all");
    EXPECT_EQ(Decided("a <= -0.0", type, bounds), "all");
    EXPECT_EQ(Decided("a < 0.0", type, bounds), "no");
    EXPECT_EQ(Decided("a > -0.0", type, bounds), "no");
    EXPECT_EQ(Decided("a IN (-0.0, 7)", type, bounds), "all");
  }
}

TEST(Bounds, TruncatedTextBounds) {
  const auto type = arrow::utf8();
  // Rows between "aaaaaaaaaaaaaaaa..." and "aaaaaaaaaaaaaaa\xc3\xa9...": cut at 16 characters, the upper one
  // incremented.
  const ColumnBounds bounds{std::string("aaaaaaaaaaaaaaaa"), std::string("aaaaaaaaaaaaaaa\xc3\xaa"), 5, 0,
                            std::nullopt};
  EXPECT_EQ(Decided("a = 'aaaaaaaaaaaaaaaab'", type, bounds), "may");
  EXPECT_EQ(Decided("a = 'aaaaaaaaaaaaaaa\xc3\xa9zz'", type, bounds), "may");
  EXPECT_EQ(Decided("a LIKE 'aaaaaaaaaaaaaaa\xc3\xa9z%'", type, bounds), "may");
  EXPECT_EQ(Decided("a LIKE 'aaaaaaaaaaaaaaaaaaaaaaaa%'", type, bounds), "may");
  EXPECT_EQ(Decided("a LIKE 'aaa%'", type, bounds), "all");
  EXPECT_EQ(Decided("a NOT LIKE 'aaa%'", type, bounds), "no");
  EXPECT_EQ(Decided("a LIKE 'b%'", type, bounds), "no");
  EXPECT_EQ(Decided("a NOT LIKE 'b%'", type, bounds), "all");
  EXPECT_EQ(Decided("a LIKE 'Z%'", type, bounds), "no");
  EXPECT_EQ(Decided("a NOT LIKE 'aaaaaaaaaaaaaaaa%'", type, bounds), "may");
  EXPECT_EQ(Decided("a != 'aaaaaaaaaaaaaaaa'", type, bounds), "may");
}

TEST(Bounds, BoundsThatCannotBeRightAreNotBelieved) {
  EXPECT_EQ(Decided("a = 100", arrow::int32(), ColumnBounds{int32_t{5}, int32_t{1}, 3, 0, std::nullopt}), "may");
  EXPECT_EQ(Decided("a = 100", arrow::int32(), ColumnBounds{int64_t{1}, int64_t{5}, 3, 0, std::nullopt}), "may");
  EXPECT_EQ(Decided("a = 100", arrow::int32(), ColumnBounds{int32_t{1}, int32_t{200}, -3, -3, std::nullopt}), "may");
  EXPECT_EQ(Decided("a = 100", arrow::int32(), ColumnBounds{int32_t{1}, {}, 3, 7, std::nullopt}), "may");
  EXPECT_EQ(Decided("a = 0", arrow::int32(), ColumnBounds{int32_t{1}, {}, 3, 7, std::nullopt}), "no");
}

TEST(Bounds, UuidsOrderedByAnySigns) {
  const auto type = arrow::extension::uuid();
  const auto uuid = [](char first) { return std::string(1, first) + std::string(15, '\1'); };
  // Written by signed halves: 0x80.. is below 0x10.. there. Both orders must agree to skip.
  const ColumnBounds by_signed{uuid('\x80'), uuid('\x10'), 9, 0, std::nullopt};
  EXPECT_EQ(Decided("a = X'05010101010101010101010101010101'", type, by_signed), "may");
  EXPECT_EQ(Decided("a = X'20010101010101010101010101010101'", type, by_signed), "may");
  const ColumnBounds plain{uuid('\x10'), uuid('\x20'), 9, 0, std::nullopt};
  EXPECT_EQ(Decided("a = X'05010101010101010101010101010101'", type, plain), "no");
  EXPECT_EQ(Decided("a = X'15010101010101010101010101010101'", type, plain), "may");
  EXPECT_EQ(Decided("a > X'80010101010101010101010101010101'", type, plain), "may");
}

// ---- Random data under random filters.

template <typename T>
T Pick(const std::vector<T>& from, std::mt19937& random) {
  return from[random() % from.size()];
}

struct RandomColumn {
  std::shared_ptr<arrow::DataType> type;
  std::vector<std::string> json;      // values as JSON
  std::vector<std::string> literals;  // values and others as filter text
};

std::string RandomTest(const RandomColumn& column, std::mt19937& random) {
  const bool floating = column.type->id() == arrow::Type::DOUBLE;
  const bool text = column.type->id() == arrow::Type::STRING;
  const auto literal = [&] { return Pick(column.literals, random); };
  switch (random() % 9) {
    case 0:
      return "a IS NULL";
    case 1:
      return "a IS NOT NULL";
    case 2:
      return floating ? "a IS NAN" : "a = " + literal();
    case 3:
      return floating ? "a IS NOT NAN" : "a != " + literal();
    case 4:
      return "a IN (" + literal() + ", " + literal() + ")";
    case 5:
      return "a NOT IN (" + literal() + ", " + literal() + ")";
    case 6:
      if (text) {
        std::string prefix = literal();
        prefix.insert(prefix.size() - 1, "%");
        return (random() % 2 == 0 ? "a LIKE " : "a NOT LIKE ") + prefix;
      }
      [[fallthrough]];
    default:
      return "a " + Pick<std::string>({"=", "!=", "<", "<=", ">", ">="}, random) + " " + literal();
  }
}

std::string RandomFilter(const RandomColumn& column, int depth, std::mt19937& random) {
  if (depth == 0 || random() % 3 == 0) return RandomTest(column, random);
  const std::string left = RandomFilter(column, depth - 1, random);
  const std::string right = RandomFilter(column, depth - 1, random);
  if (random() % 4 == 0) return "NOT (" + left + ")";
  return "(" + left + (random() % 2 == 0 ? " AND " : " OR ") + right + ")";
}

Value ValueAt(const arrow::Array& array, int64_t i) {
  switch (array.type_id()) {
    case arrow::Type::INT32:
      return static_cast<const arrow::Int32Array&>(array).Value(i);
    case arrow::Type::DOUBLE:
      return static_cast<const arrow::DoubleArray&>(array).Value(i);
    default:
      return static_cast<const arrow::StringArray&>(array).GetString(i);
  }
}

/// The bounds of `array`, sometimes wider than the data, sometimes with parts left out.
ColumnBounds BoundsOf(const arrow::Array& array, std::mt19937& random) {
  ColumnBounds bounds;
  int64_t nans = 0;
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsNull(i)) continue;
    const Value value = ValueAt(array, i);
    if (IsNaN(value)) {
      ++nans;
      continue;
    }
    if (IsNull(bounds.lower) || Compare(value, bounds.lower) < 0) bounds.lower = value;
    if (IsNull(bounds.upper) || Compare(value, bounds.upper) > 0) bounds.upper = value;
  }
  if (auto* text = std::get_if<std::string>(&bounds.lower); text != nullptr && random() % 2 == 0)
    text->resize(text->size() / 2);
  if (auto* text = std::get_if<std::string>(&bounds.upper); text != nullptr && random() % 2 == 0) *text += "\x7f";
  if (auto* number = std::get_if<int32_t>(&bounds.lower); number != nullptr && random() % 2 == 0) *number -= 1;
  if (auto* number = std::get_if<double>(&bounds.upper); number != nullptr && random() % 2 == 0) *number += 1;
  if (random() % 8 == 0) bounds.lower = {};
  if (random() % 8 == 0) bounds.upper = {};
  if (random() % 4 != 0) bounds.value_count = array.length();
  if (random() % 4 != 0) bounds.null_count = array.null_count();
  if (random() % 4 != 0) bounds.nan_count = nans;
  return bounds;
}

TEST(Bounds, NeverSkipWhatTheRowFilterKeeps) {
  const std::vector<RandomColumn> columns = {
      {arrow::int32(), {"null", "-2", "-1", "0", "1", "2", "3"}, {"-3", "-1", "0", "0.5", "1", "2", "4", "1e10"}},
      {arrow::float64(),
       {"null", "NaN", "-1", "-0.0", "0.0", "1", "2.5", "Inf", "-Inf"},
       {"-1", "-0.0", "0", "0.5", "2.5", "'NaN'", "'Infinity'", "'-Infinity'", "1e999"}},
      {arrow::utf8(),
       {"null", "\"\"", "\"a\"", "\"ab\"", "\"abc\"", "\"\xc3\xa9\"", "\"b\""},
       {"''", "'a'", "'ab'", "'abd'", "'b'", "'\xc3\xa9'", "'zz'"}}};
  std::mt19937 random(20240131);
  int skipped = 0;
  int decided = 0;
  for (int round = 0; round < 6000; ++round) {
    const RandomColumn& column = columns[round % columns.size()];
    std::string json = "[";
    const int rows = static_cast<int>(random() % 5);
    for (int i = 0; i < rows; ++i) json += (i > 0 ? ", " : "") + Pick(column.json, random);
    const auto array = ArrayOf(column.type, json + "]");
    const auto batch = BatchOf("a", array);
    const std::string filter = RandomFilter(column, 3, random);
    const auto node = BoundFilter(filter, *batch->schema()).ValueOrDie();
    const auto mask = Evaluate(node, *batch, arrow::default_memory_pool()).ValueOrDie();
    const ColumnBounds bounds = BoundsOf(*array, random);
    const BoundsLookup lookup = [&](const ColumnRef&) { return bounds; };
    if (!MightMatch(node, lookup)) {
      ++skipped;
      ASSERT_EQ(mask->true_count(), 0) << filter << " over " << json;
    }
    if (AllMatch(node, lookup)) {
      ++decided;
      ASSERT_EQ(mask->true_count(), rows) << filter << " over " << json;
    }
  }
  EXPECT_GT(skipped, 500);
  EXPECT_GT(decided, 500);
}

}  // namespace
}  // namespace calve::expr
