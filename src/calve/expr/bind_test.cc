#include "calve/expr/node.h"
#include "filter_testing.h"

#include <arrow/extension/uuid.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::expr {
namespace {

using testing::BoundFilter;
using testing::BoundText;
using ::testing::ElementsAre;
using testing::FieldWithId;
using ::testing::HasSubstr;

TEST(Bind, WholeNumbersFoldWhatTheyCannotHold) {
  const auto type = arrow::int32();
  EXPECT_EQ(BoundText("a = 5", type), "a = 5");
  EXPECT_EQ(BoundText("a = 5.0", type), "a = 5");
  EXPECT_EQ(BoundText("a = 50e-1", type), "a = 5");
  EXPECT_EQ(BoundText("a = '5'", type), "a = 5");
  EXPECT_EQ(BoundText("a < 2.5", type), "a <= 2");
  EXPECT_EQ(BoundText("a <= 2.5", type), "a <= 2");
  EXPECT_EQ(BoundText("a > 2.5", type), "a > 2");
  EXPECT_EQ(BoundText("a >= -2.5", type), "a > -3");
  EXPECT_EQ(BoundText("a < -2.5", type), "a <= -3");
  EXPECT_EQ(BoundText("a = 2.5", type), "FALSE");
  EXPECT_EQ(BoundText("a != 2.5", type), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a < 1e-30", type), "a <= 0");
  EXPECT_EQ(BoundText("a > -1e-30", type), "a > -1");
  EXPECT_EQ(BoundText("a = 0e99", type), "a = 0");
  EXPECT_EQ(BoundText("a <= 2147483647", type), "a <= 2147483647");
  EXPECT_EQ(BoundText("a <= 2147483647.5", type), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a < 2147483648", type), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a > 2147483648", type), "FALSE");
  EXPECT_EQ(BoundText("a > -2147483649", type), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a > -2147483648.5", type), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a < 1e999999999999999999999", type), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a < -1e999999999999999999999", type), "FALSE");
  EXPECT_EQ(BoundText("a IN (1, 2.5, 3, 1e10)", type), "a IN (1, 3)");
  EXPECT_EQ(BoundText("a IN (1, 2.5)", type), "a = 1");
  EXPECT_EQ(BoundText("a IN (2.5)", type), "FALSE");
  EXPECT_EQ(BoundText("a NOT IN (2.5)", type), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a NOT IN (2.5, 2)", type), "a != 2");
}

TEST(Bind, WholeNumbersOfOtherWidths) {
  EXPECT_EQ(BoundText("a < 128", arrow::int8()), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a > -1", arrow::uint16()), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a = 9223372036854775807", arrow::int64()), "a = 9223372036854775807");
  EXPECT_EQ(BoundText("a = 9223372036854775808", arrow::int64()), "FALSE");
  EXPECT_EQ(BoundText("a = 18446744073709551615", arrow::uint64()), "a = 18446744073709551615");
  EXPECT_EQ(BoundText("a > 18446744073709551615.5", arrow::uint64()), "FALSE");
  EXPECT_EQ(BoundText("a = 4294967295", arrow::dictionary(arrow::int8(), arrow::uint32())), "a = 4294967295");
}

TEST(Bind, DecimalsAreRescaledExactly) {
  const auto type = arrow::decimal128(9, 2);
  EXPECT_EQ(BoundText("a = 1.5", type), "a = 1.50");
  EXPECT_EQ(BoundText("a = '14.20'", type), "a = 14.20");
  EXPECT_EQ(BoundText("a < 1.005", type), "a <= 1.00");
  EXPECT_EQ(BoundText("a > -1.005", type), "a > -1.01");
  EXPECT_EQ(BoundText("a = 1.005", type), "FALSE");
  EXPECT_EQ(BoundText("a <= 9999999.99", type), "a <= 9999999.99");
  EXPECT_EQ(BoundText("a <= 10000000", type), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a = 99999999999999999999999999999999999999", arrow::decimal128(38, 0)),
            "a = 99999999999999999999999999999999999999");
  EXPECT_EQ(BoundText("a > 100000000000000000000000000000000000000", arrow::decimal128(38, 0)), "FALSE");
  EXPECT_THAT(BoundText("a = 1", arrow::decimal256(60, 2)), HasSubstr("NotImplemented: filter: column 'a' of type "
                                                                      "decimal256(60, 2): only IS NULL"));
}

TEST(Bind, FloatsTakeTheNearestNumber) {
  EXPECT_EQ(BoundText("a = 0.1", arrow::float64()), "a = 0.1");
  EXPECT_EQ(BoundText("a = 0.1", arrow::float32()), "a = 0.1");
  EXPECT_EQ(BoundText("a = -0.0", arrow::float64()), "a = 0");
  EXPECT_EQ(BoundText("a = 1e-400", arrow::float64()), "a = 0");
  EXPECT_EQ(BoundText("a < 1e400", arrow::float64()), "a <= 1.7976931348623157e+308");
  EXPECT_EQ(BoundText("a > 1e39", arrow::float32()), "a > 3.4028235e+38");
  EXPECT_EQ(BoundText("a >= -1e39", arrow::float32()), "a > '-Infinity'");
  EXPECT_EQ(BoundText("a = 1e39", arrow::float32()), "FALSE");
  EXPECT_EQ(BoundText("a <= '+inf'", arrow::float32()), "a <= 'Infinity'");
  EXPECT_EQ(BoundText("a < 70000", arrow::float16()), "a <= 65504");
}

TEST(Bind, NaNLiteralsBecomeNaNTests) {
  const auto type = arrow::float64();
  EXPECT_EQ(BoundText("a = 'NaN'", type), "a IS NAN");
  EXPECT_EQ(BoundText("a != 'nan'", type), "a IS NOT NULL AND a IS NOT NAN");
  EXPECT_EQ(BoundText("a < 'NaN'", type), "a IS NOT NULL AND a IS NOT NAN");
  EXPECT_EQ(BoundText("a <= 'NaN'", type), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a > 'NaN'", type), "FALSE");
  EXPECT_EQ(BoundText("a >= 'NaN'", type), "a IS NAN");
  EXPECT_EQ(BoundText("a IN (1, 'NaN', 2)", type), "a IN (1, 2) OR a IS NAN");
  EXPECT_EQ(BoundText("a NOT IN (1, 'NaN')", type), "a != 1 AND a IS NOT NAN");
  EXPECT_EQ(BoundText("a NOT IN ('NaN')", type), "a IS NOT NULL AND a IS NOT NAN");
}

TEST(Bind, DatesTimesAndTimestamps) {
  EXPECT_EQ(BoundText("a = '2024-01-31'", arrow::date32()), "a = DATE '2024-01-31'");
  EXPECT_EQ(BoundText("a = DATE '1969-12-31'", arrow::date32()), "a = DATE '1969-12-31'");
  EXPECT_EQ(BoundText("a < TIMESTAMP '2024-01-31 12:00'", arrow::date32()), "a <= DATE '2024-01-31'");
  EXPECT_EQ(BoundText("a = '2024-01-31'", arrow::date64()), "a = TIMESTAMP '2024-01-31 00:00:00'");
  EXPECT_EQ(BoundText("a >= '10:20:30.5'", arrow::time64(arrow::TimeUnit::MICRO)), "a >= '10:20:30.500'");
  EXPECT_EQ(BoundText("a >= '10:20:30.5'", arrow::time32(arrow::TimeUnit::SECOND)), "a > '10:20:30'");
  const auto micros = arrow::timestamp(arrow::TimeUnit::MICRO);
  EXPECT_EQ(BoundText("a = '2024-01-31'", micros), "a = TIMESTAMP '2024-01-31 00:00:00'");
  EXPECT_EQ(BoundText("a = '2024-01-31T10:20:30.000001'", micros), "a = TIMESTAMP '2024-01-31 10:20:30.000001'");
  EXPECT_EQ(BoundText("a > '1969-12-31 23:59:59.9999995'", micros), "a > TIMESTAMP '1969-12-31 23:59:59.999999'");
  EXPECT_EQ(BoundText("a < '+300000-01-01'", micros), "a IS NOT NULL");
  EXPECT_THAT(BoundText("a = '2024-01-31 10:00Z'", micros), HasSubstr("expected a time without a zone"));
  const auto zoned = arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
  EXPECT_EQ(BoundText("a = '2024-01-31 10:00:00-08:00'", zoned), "a = TIMESTAMP '2024-01-31 18:00:00Z'");
  EXPECT_EQ(BoundText("a = '2024-01-31 10:00:00'", zoned), "a = TIMESTAMP '2024-01-31 10:00:00Z'");
  EXPECT_EQ(BoundText("a = '2262-04-11 23:47:16.854775807'", arrow::timestamp(arrow::TimeUnit::NANO)),
            "a = TIMESTAMP '2262-04-11 23:47:16.854775807'");
  EXPECT_EQ(BoundText("a > '2262-04-12'", arrow::timestamp(arrow::TimeUnit::NANO)), "FALSE");
}

// A file that stores milliseconds has no value between two of them.
TEST(Bind, MicrosecondLiteralAgainstMilliseconds) {
  const auto millis = arrow::timestamp(arrow::TimeUnit::MILLI);
  EXPECT_EQ(BoundText("a < '2024-01-31 10:00:00.000001'", millis), "a <= TIMESTAMP '2024-01-31 10:00:00'");
  EXPECT_EQ(BoundText("a = '2024-01-31 10:00:00.001'", millis), "a = TIMESTAMP '2024-01-31 10:00:00.001'");
  EXPECT_EQ(BoundText("a = '2024-01-31 10:00:00.000001'", millis), "FALSE");
}

TEST(Bind, TextBytesAndUuids) {
  const auto uuid = arrow::extension::uuid();
  EXPECT_EQ(BoundText("a = 'x'", arrow::large_utf8()), "a = 'x'");
  EXPECT_EQ(BoundText("a = 'x'", arrow::binary()), "a = X'78'");
  EXPECT_EQ(BoundText("a = X'00FF'", arrow::binary_view()), "a = X'00ff'");
  EXPECT_EQ(BoundText("a LIKE 'x%'", arrow::binary()), "a LIKE 'x%'");
  EXPECT_EQ(BoundText("a LIKE '%'", arrow::utf8()), "a IS NOT NULL");
  EXPECT_EQ(BoundText("a NOT LIKE '%'", arrow::utf8()), "FALSE");
  EXPECT_EQ(BoundText("a = X'0102'", arrow::fixed_size_binary(2)), "a = X'0102'");
  EXPECT_THAT(BoundText("a = X'01'", arrow::fixed_size_binary(2)), HasSubstr("expected 2 bytes, got 1 in X'01'"));
  EXPECT_EQ(BoundText("a = 'F79C3E09-677c-4bbd-a479-3f349cb785e7'", uuid), "a = X'f79c3e09677c4bbda4793f349cb785e7'");
  EXPECT_EQ(BoundText("a = X'f79c3e09677c4bbda4793f349cb785e7'", uuid), "a = X'f79c3e09677c4bbda4793f349cb785e7'");
}

TEST(Bind, SenselessLiteralsAreErrorsThatNameColumnTypeAndLiteral) {
  EXPECT_EQ(BoundText("a = 'x'", arrow::int32()),
            "Invalid: filter: column 'a' of type int32: expected a number, got 'x'");
  EXPECT_THAT(BoundText("a = TRUE", arrow::int32()), HasSubstr("expected a number, got TRUE"));
  EXPECT_THAT(BoundText("a = 1", arrow::boolean()), HasSubstr("expected TRUE or FALSE, got 1"));
  EXPECT_THAT(BoundText("a = 1", arrow::utf8()), HasSubstr("expected text in single quotes, got 1"));
  EXPECT_THAT(BoundText("a = X'00'", arrow::utf8()), HasSubstr("expected text in single quotes, got X'00'"));
  EXPECT_THAT(BoundText("a = 5", arrow::date32()), HasSubstr("expected a date like '2024-01-31', got 5"));
  EXPECT_THAT(BoundText("a = '2024-02-30'", arrow::date32()), HasSubstr("expected a date"));
  EXPECT_THAT(BoundText("a = 'x'", arrow::float32()), HasSubstr("expected a number, 'NaN', 'Infinity'"));
  EXPECT_THAT(BoundText("a = 'f79c3e09'", arrow::extension::uuid()), HasSubstr("expected a UUID like"));
  EXPECT_THAT(BoundText("a IS NAN", arrow::int32()), HasSubstr("IS NAN takes float and double columns only"));
  EXPECT_THAT(BoundText("a LIKE 'x%'", arrow::int32()), HasSubstr("LIKE takes text and binary columns only"));
  EXPECT_THAT(BoundText("a = 1", arrow::list(arrow::int32())), HasSubstr("NotImplemented"));
  EXPECT_EQ(BoundText("a IS NULL", arrow::list(arrow::int32())), "a IS NULL");
  EXPECT_EQ(BoundText("a = 1 OR a IS NULL", arrow::null()), "a IS NULL");
}

TEST(Bind, NegationsMoveIntoTheTests) {
  const auto type = arrow::float64();
  EXPECT_EQ(BoundText("NOT a = 1", type), "a != 1");
  EXPECT_EQ(BoundText("NOT a < 1", type), "a >= 1");
  EXPECT_EQ(BoundText("NOT NOT a < 1", type), "a < 1");
  EXPECT_EQ(BoundText("NOT (a < 1 AND a IS NULL)", type), "a >= 1 OR a IS NOT NULL");
  EXPECT_EQ(BoundText("NOT (a <= 1 OR NOT a IN (1, 2))", type), "a > 1 AND a IN (1, 2)");
  EXPECT_EQ(BoundText("a NOT BETWEEN 1 AND 2", type), "a < 1 OR a > 2");
  EXPECT_EQ(BoundText("NOT a IS NAN", type), "a IS NOT NAN");
  EXPECT_EQ(BoundText("NOT a LIKE 'x%'", arrow::utf8()), "a NOT LIKE 'x%'");
  EXPECT_EQ(BoundText("NOT a = 2.5", arrow::int32()), "a IS NOT NULL");
}

std::shared_ptr<arrow::Schema> NestedSchema() {
  auto inner = arrow::struct_({FieldWithId("x", arrow::int64(), 11), FieldWithId("odd.name", arrow::utf8(), 12)});
  return arrow::schema(
      {FieldWithId("a", arrow::int32(), 1), FieldWithId("s", arrow::struct_({FieldWithId("in", inner, 10)}), 2),
       FieldWithId("dotted.top", arrow::int32(), 3), FieldWithId("l", arrow::list(arrow::int32()), 4)});
}

TEST(Bind, FindsNestedColumnsAndTheirIds) {
  const auto schema = NestedSchema();
  ASSERT_OK_AND_ASSIGN(NodePtr node,
                       BoundFilter("s.in.x = 1 AND a = 2 AND s.in.\"odd.name\" = 'z' AND a < 9", *schema));
  EXPECT_EQ(node->children[0]->column.field_id, 11);
  EXPECT_THAT(node->children[0]->column.path, ElementsAre(1, 0, 0));
  EXPECT_TRUE(node->children[0]->column.type->Equals(arrow::int64()));
  EXPECT_THAT(node->children[2]->column.path, ElementsAre(1, 0, 1));
  EXPECT_THAT(FieldIdsOf(node), ElementsAre(1, 11, 12));
  EXPECT_EQ(ColumnsOf(node).size(), 3u);
  ASSERT_OK_AND_ASSIGN(NodePtr quoted, BoundFilter("\"dotted.top\" = 1", *schema));
  EXPECT_EQ(quoted->column.field_id, 3);
  Node by_hand;
  by_hand.op = Op::kIsNull;
  by_hand.column.name = "dotted.top";
  ASSERT_OK_AND_ASSIGN(NodePtr bound, Bind(std::make_shared<Node>(by_hand), *schema));
  EXPECT_EQ(bound->column.field_id, 3);
}

TEST(Bind, ADottedNameIsAFieldOfAStructBeforeItIsAWholeName) {
  const auto inner = arrow::struct_({FieldWithId("b", arrow::int32(), 2)});
  const auto schema = arrow::schema(
      {FieldWithId("a.b", arrow::int32(), 4), FieldWithId("a", inner, 1), FieldWithId("a.c", arrow::int32(), 5)});
  ASSERT_OK_AND_ASSIGN(NodePtr nested, BoundFilter("a.b = 1", *schema));
  EXPECT_EQ(nested->column.field_id, 2);
  ASSERT_OK_AND_ASSIGN(NodePtr quoted, BoundFilter("\"a.b\" = 1", *schema));
  EXPECT_EQ(quoted->column.field_id, 4);
  ASSERT_OK_AND_ASSIGN(NodePtr whole, BoundFilter("a.c = 1", *schema));
  EXPECT_EQ(whole->column.field_id, 5);
}

TEST(Bind, UnknownColumnsAreErrorsThatListTheColumns) {
  const auto schema = NestedSchema();
  EXPECT_EQ(BoundFilter("A = 1", *schema).status().ToString(),
            "Invalid: filter: no column 'A' (columns: a, s, dotted.top, l)");
  EXPECT_EQ(BoundFilter("s.in.y = 1", *schema).status().ToString(),
            "Invalid: filter: no column 's.in.y' (columns of 's.in': x, odd.name)");
  EXPECT_THAT(BoundFilter("a.x = 1", *schema).status().message(), HasSubstr("'a' is no struct but int32"));
  EXPECT_THAT(BoundFilter("l.element = 1", *schema).status().message(), HasSubstr("'l' is no struct but list"));
}

TEST(Rebind, FindsColumnsByIdAndConvertsValues) {
  const auto schema = NestedSchema();
  ASSERT_OK_AND_ASSIGN(NodePtr node, BoundFilter("s.in.x < 5000000000 AND a = 7", *schema));
  const auto moved =
      arrow::schema({FieldWithId("other", arrow::struct_({FieldWithId("renamed", arrow::int32(), 11)}), 9),
                     FieldWithId("a2", arrow::int32(), 1)});
  ASSERT_OK_AND_ASSIGN(NodePtr rebound, Rebind(node, *moved));
  EXPECT_EQ(ToString(rebound), "s.\"in\".x IS NOT NULL AND a = 7");
  EXPECT_THAT(rebound->children[0]->column.path, ElementsAre(0, 0));
  EXPECT_THAT(rebound->children[1]->column.path, ElementsAre(1));
  const auto without = arrow::schema({FieldWithId("b", arrow::int32(), 2)});
  EXPECT_THAT(Rebind(node, *without).status().message(), HasSubstr("no column 's.in.x' with field id 11"));
}

std::string ReboundText(const std::string& text, const std::shared_ptr<arrow::DataType>& from,
                        const std::shared_ptr<arrow::DataType>& to) {
  const auto bound = BoundFilter(text, *arrow::schema({FieldWithId("a", from, 1)})).ValueOrDie();
  const auto rebound = Rebind(bound, *arrow::schema({FieldWithId("a", to, 1)}));
  return rebound.ok() ? ToString(*rebound) : rebound.status().ToString();
}

TEST(Rebind, PromotedColumnsCompareExactly) {
  EXPECT_EQ(ReboundText("a = 0.5", arrow::float64(), arrow::float32()), "a = 0.5");
  EXPECT_EQ(ReboundText("a = 0.1", arrow::float64(), arrow::float32()), "FALSE");
  EXPECT_EQ(ReboundText("a <= 0.1", arrow::float64(), arrow::float32()), "a <= 0.099999994");
  EXPECT_EQ(ReboundText("a < '2024-01-31 12:00'", arrow::timestamp(arrow::TimeUnit::MICRO), arrow::date32()),
            "a <= DATE '2024-01-31'");
  EXPECT_EQ(ReboundText("a = 1.25", arrow::decimal128(18, 2), arrow::decimal128(9, 2)), "a = 1.25");
  EXPECT_EQ(ReboundText("a > 10000000", arrow::decimal128(18, 2), arrow::decimal128(9, 2)), "FALSE");
  EXPECT_EQ(ReboundText("a IN (1, 3000000000)", arrow::int64(), arrow::int32()), "a = 1");
  EXPECT_EQ(ReboundText("a LIKE 'x%'", arrow::utf8(), arrow::large_utf8()), "a LIKE 'x%'");
  EXPECT_EQ(ReboundText("a = 'x'", arrow::utf8(), arrow::binary()), "a = X'78'");
  EXPECT_THAT(ReboundText("a = 'x'", arrow::utf8(), arrow::int32()),
              HasSubstr("type int32 does not compare with type string"));
  EXPECT_EQ(ReboundText("a >= '2024-01-31 10:00:00.0005'", arrow::timestamp(arrow::TimeUnit::MICRO),
                        arrow::timestamp(arrow::TimeUnit::MILLI)),
            "a > TIMESTAMP '2024-01-31 10:00:00'");
}

TEST(Bind, BoundFiltersPrintAsFiltersThatBindTheSame) {
  for (const auto& [text, type] : std::vector<std::pair<std::string, std::shared_ptr<arrow::DataType>>>{
           {"a IN (DATE '2024-01-31', DATE '-0001-02-03')", arrow::date32()},
           {"a < TIMESTAMP '2024-01-31 10:20:30.123456Z'", arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")},
           {"a NOT IN (X'00ff', X'')", arrow::binary()},
           {"a > '-Infinity'", arrow::float64()},
           {"a = TRUE", arrow::boolean()},
           {"a = '23:59:59.999999'", arrow::time64(arrow::TimeUnit::MICRO)}}) {
    EXPECT_EQ(BoundText(text, type), text);
    EXPECT_EQ(BoundText(BoundText(text, type), type), text);
  }
}

}  // namespace
}  // namespace calve::expr
