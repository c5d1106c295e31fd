#include "calve/expr/evaluate.h"
#include "filter_testing.h"

#include <arrow/compute/api_vector.h>
#include <arrow/extension/uuid.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::expr {
namespace {

using testing::ArrayOf;
using testing::BatchOf;
using testing::BoundFilter;
using testing::FieldWithId;
using ::testing::HasSubstr;
using testing::MaskText;

std::string MaskOf(const std::string& filter, const std::shared_ptr<arrow::RecordBatch>& batch) {
  const auto bound = BoundFilter(filter, *batch->schema());
  if (!bound.ok()) return bound.status().ToString();
  const auto mask = Evaluate(*bound, *batch, arrow::default_memory_pool());
  return mask.ok() ? MaskText(**mask) : mask.status().ToString();
}

/// The mask over column "a", checked to be the same for every slice.
std::string MaskOf(const std::string& filter, const std::shared_ptr<arrow::Array>& array) {
  const std::string whole = MaskOf(filter, BatchOf("a", array));
  for (int64_t start = 0; start <= array->length(); ++start) {
    const std::string part = MaskOf(filter, BatchOf("a", array->Slice(start)));
    EXPECT_EQ(part, whole.substr(start)) << filter << " from " << start;
  }
  return whole;
}

TEST(Evaluate, EveryComparisonOfEveryNumberType) {
  for (const auto& type :
       {arrow::int8(), arrow::int16(), arrow::int32(), arrow::int64(), arrow::uint8(), arrow::uint16(), arrow::uint32(),
        arrow::uint64(), arrow::float16(), arrow::float32(), arrow::float64()}) {
    const auto array = ArrayOf(type, "[1, 2, null, 3]");
    EXPECT_EQ(MaskOf("a = 2", array), "01n0") << type->ToString();
    EXPECT_EQ(MaskOf("a != 2", array), "10n1") << type->ToString();
    EXPECT_EQ(MaskOf("a < 2", array), "10n0") << type->ToString();
    EXPECT_EQ(MaskOf("a <= 2", array), "11n0") << type->ToString();
    EXPECT_EQ(MaskOf("a > 2", array), "00n1") << type->ToString();
    EXPECT_EQ(MaskOf("a >= 2", array), "01n1") << type->ToString();
    EXPECT_EQ(MaskOf("a IN (1, 3, 7)", array), "10n1") << type->ToString();
    EXPECT_EQ(MaskOf("a NOT IN (1, 3, 7)", array), "01n0") << type->ToString();
    EXPECT_EQ(MaskOf("a IS NULL", array), "0010") << type->ToString();
    EXPECT_EQ(MaskOf("a IS NOT NULL", array), "1101") << type->ToString();
  }
}

TEST(Evaluate, Decimals) {
  for (const auto& type :
       {arrow::decimal32(9, 2), arrow::decimal64(18, 2), arrow::decimal128(38, 2), arrow::decimal256(38, 2)}) {
    const auto array = ArrayOf(type, R"(["-1.00", "0.05", null, "123.45"])");
    EXPECT_EQ(MaskOf("a < 0.05", array), "10n0") << type->ToString();
    EXPECT_EQ(MaskOf("a = 123.45", array), "00n1") << type->ToString();
    EXPECT_EQ(MaskOf("a IN (-1, 0.05)", array), "11n0") << type->ToString();
    EXPECT_EQ(MaskOf("a > -1.001", array), "11n1") << type->ToString();
  }
}

TEST(Evaluate, BooleansCompareFalseBelowTrue) {
  const auto array = ArrayOf(arrow::boolean(), "[true, false, null]");
  EXPECT_EQ(MaskOf("a = TRUE", array), "10n");
  EXPECT_EQ(MaskOf("a < TRUE", array), "01n");
  EXPECT_EQ(MaskOf("a IN (TRUE, FALSE)", array), "11n");
}

TEST(Evaluate, TextAndBytesOfEveryLayout) {
  for (const auto& type :
       {arrow::utf8(), arrow::large_utf8(), arrow::utf8_view(), arrow::binary(), arrow::large_binary(),
        arrow::binary_view(), arrow::dictionary(arrow::int8(), arrow::utf8())}) {
    const auto array = ArrayOf(type, R"(["apple", "apricot pits and pieces", null, "", "b"])");
    EXPECT_EQ(MaskOf("a = 'apple'", array), "10n00") << type->ToString();
    EXPECT_EQ(MaskOf("a >= 'apq'", array), "01n01") << type->ToString();
    EXPECT_EQ(MaskOf("a LIKE 'ap%'", array), "11n00") << type->ToString();
    EXPECT_EQ(MaskOf("a NOT LIKE 'ap%'", array), "00n11") << type->ToString();
    EXPECT_EQ(MaskOf("a IN ('b', '')", array), "00n11") << type->ToString();
    EXPECT_EQ(MaskOf("a IS NULL", array), "00100") << type->ToString();
  }
  const auto fixed = ArrayOf(arrow::fixed_size_binary(2), R"(["aa", null, "az"])");
  EXPECT_EQ(MaskOf("a > X'6161'", fixed), "0n1");
  EXPECT_EQ(MaskOf("a LIKE 'a%'", fixed), "1n1");
}

TEST(Evaluate, BytesAreUnsigned) {
  const auto array = ArrayOf(arrow::utf8(), "[\"z\", \"\xc3\xa9\"]");
  EXPECT_EQ(MaskOf("a > 'z'", array), "01");
}

TEST(Evaluate, Uuids) {
  const auto storage = ArrayOf(arrow::fixed_size_binary(16), R"(["0123456789abcdef", null, "fedcba9876543210"])");
  const auto array = arrow::ExtensionType::WrapArray(arrow::extension::uuid(), storage);
  EXPECT_EQ(MaskOf("a = X'30313233343536373839616263646566'", array), "1n0");
  EXPECT_EQ(MaskOf("a > '30313233-3435-3637-3839-616263646566'", array), "0n1");
}

TEST(Evaluate, DatesTimesAndTimestampsOfEveryUnit) {
  const auto days = ArrayOf(arrow::date32(), "[-1, 0, null, 19753]");
  EXPECT_EQ(MaskOf("a < '1970-01-01'", days), "10n0");
  EXPECT_EQ(MaskOf("a = DATE '2024-01-31'", days), "00n1");
  EXPECT_EQ(MaskOf("a = DATE '1970-01-02'", ArrayOf(arrow::date64(), "[86400000, 0, null]")), "10n");
  EXPECT_EQ(MaskOf("a > '00:00:01'", ArrayOf(arrow::time32(arrow::TimeUnit::MILLI), "[1000, 1001, null]")), "01n");
  EXPECT_EQ(MaskOf("a > '00:00:01'", ArrayOf(arrow::time64(arrow::TimeUnit::NANO), "[1000000000, 1000000001]")), "01");
  for (const auto unit : arrow::TimeUnit::values()) {
    const auto array = ArrayOf(arrow::timestamp(unit, "UTC"), "[-1, 0, 1, null]");
    EXPECT_EQ(MaskOf("a < '1970-01-01'", array), "100n");
    EXPECT_EQ(MaskOf("a <= '1970-01-01 01:00+01:00'", array), "110n");
  }
}

// NaN equals itself and is above all numbers, as in Spark; -0.0 equals 0.0.
TEST(Evaluate, NaNIsAboveAllNumbers) {
  for (const auto& type : {arrow::float32(), arrow::float64()}) {
    const auto array = ArrayOf(type, "[3, NaN, null, -0.0, Inf]");
    EXPECT_EQ(MaskOf("a = 3", array), "10n00");
    EXPECT_EQ(MaskOf("a != 3", array), "01n11");
    EXPECT_EQ(MaskOf("a < 3", array), "00n10");
    EXPECT_EQ(MaskOf("a <= 3", array), "10n10");
    EXPECT_EQ(MaskOf("a > 3", array), "01n01");
    EXPECT_EQ(MaskOf("a >= 3", array), "11n01");
    EXPECT_EQ(MaskOf("a > 'Infinity'", array), "01n00");
    EXPECT_EQ(MaskOf("a = 'NaN'", array), "01000");
    EXPECT_EQ(MaskOf("a >= 'NaN'", array), "01000");
    EXPECT_EQ(MaskOf("a != 'NaN'", array), "10011");
    EXPECT_EQ(MaskOf("a IN (3, 'NaN')", array), "11n00");
    EXPECT_EQ(MaskOf("a NOT IN (3, 4)", array), "01n11");
    EXPECT_EQ(MaskOf("a NOT IN (3, 'NaN')", array), "00n11");
    EXPECT_EQ(MaskOf("a IS NAN", array), "01000");
    EXPECT_EQ(MaskOf("a IS NOT NAN", array), "10111");
    EXPECT_EQ(MaskOf("a = 0", array), "00n10");
    EXPECT_EQ(MaskOf("a < 0", array), "00n00");
    EXPECT_EQ(MaskOf("a IN (0, 9)", array), "00n10");
  }
}

TEST(Evaluate, AndOrFollowThreeValuedLogic) {
  const auto a = ArrayOf(arrow::int32(), "[1, 1, 1, 0, 0, 0, null, null, null]");
  const auto b = ArrayOf(arrow::int32(), "[1, 0, null, 1, 0, null, 1, 0, null]");
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("a", arrow::int32()), arrow::field("b", arrow::int32())}), 9, {a, b});
  EXPECT_EQ(MaskOf("a = 1 AND b = 1", batch), "10n000n0n");
  EXPECT_EQ(MaskOf("a = 1 OR b = 1", batch), "11110n1nn");
  EXPECT_EQ(MaskOf("NOT (a = 1 AND b = 1)", batch), "01n111n1n");
  EXPECT_EQ(MaskOf("TRUE", batch), "111111111");
  EXPECT_EQ(MaskOf("FALSE", batch), "000000000");
}

TEST(Evaluate, NullStructsMakeTheirFieldsNull) {
  const auto inner = arrow::struct_({arrow::field("x", arrow::int32())});
  const auto type = arrow::struct_({arrow::field("in", inner)});
  const auto array = ArrayOf(type, R"([{"in": {"x": 1}}, {"in": {"x": null}}, {"in": null}, null, {"in": {"x": 2}}])");
  EXPECT_EQ(MaskOf("a.in.x = 1", array), "1nnn0");
  EXPECT_EQ(MaskOf("a.in.x IS NULL", array), "01110");
  EXPECT_EQ(MaskOf("a.in IS NULL", array), "00110");
  EXPECT_EQ(MaskOf("a IS NOT NULL", array), "11101");
  // A null struct over a value: the value must not be seen.
  const auto masked = std::make_shared<arrow::StructArray>(
      arrow::struct_({arrow::field("x", arrow::int32())}), 2, arrow::ArrayVector{ArrayOf(arrow::int32(), "[1, 1]")},
      ArrayOf(arrow::boolean(), "[true, false]")->data()->buffers[1]);
  EXPECT_EQ(MaskOf("a.x = 1", masked), "1n");
  EXPECT_EQ(MaskOf("a.x IS NULL", masked), "01");
}

TEST(Evaluate, DictionariesMayHoldNullsThemselves) {
  const auto type = arrow::dictionary(arrow::int8(), arrow::float64());
  const auto array = arrow::json::DictArrayFromJSONString(type, "[0, 1, 2, null, 3]", "[1, null, NaN, 2]").ValueOrDie();
  EXPECT_EQ(MaskOf("a > 1", array), "0n1n1");
  EXPECT_EQ(MaskOf("a IS NULL", array), "01010");
  EXPECT_EQ(MaskOf("a IS NOT NULL", array), "10101");
  EXPECT_EQ(MaskOf("a IS NAN", array), "00100");
  EXPECT_EQ(MaskOf("a IS NOT NAN", array), "11011");
}

TEST(Evaluate, BatchesMayBeEncodedOtherwiseThanBound) {
  const auto plain = arrow::schema({FieldWithId("a", arrow::utf8(), 1)});
  ASSERT_OK_AND_ASSIGN(NodePtr node, BoundFilter("a = 'x'", *plain));
  const auto encoded = ArrayOf(arrow::dictionary(arrow::int32(), arrow::large_utf8()), R"(["x", "y"])");
  ASSERT_OK_AND_ASSIGN(auto mask, Evaluate(node, *BatchOf("a", encoded), arrow::default_memory_pool()));
  EXPECT_EQ(MaskText(*mask), "10");
  const auto other = Evaluate(node, *BatchOf("a", ArrayOf(arrow::int32(), "[1]")), arrow::default_memory_pool());
  EXPECT_THAT(other.status().message(), HasSubstr("column 'a' is bound as string, the batch has int32"));
}

TEST(Evaluate, NullColumnsAndUnsupportedTypes) {
  EXPECT_EQ(MaskOf("a IS NULL", ArrayOf(arrow::null(), "[null, null]")), "11");
  EXPECT_EQ(MaskOf("a = 1", ArrayOf(arrow::null(), "[null, null]")), "00");
  EXPECT_EQ(MaskOf("a IS NOT NULL", ArrayOf(arrow::list(arrow::int8()), "[[], null, [1]]")), "101");
  const auto runs =
      arrow::RunEndEncodedArray::Make(2, ArrayOf(arrow::int32(), "[2]"), ArrayOf(arrow::int32(), "[7]")).ValueOrDie();
  EXPECT_THAT(MaskOf("a IS NULL", BatchOf("a", runs)), HasSubstr("NotImplemented"));
}

TEST(Filter, KeepsMatchingRowsOfEveryColumnType) {
  const auto key = ArrayOf(arrow::int32(), "[1, 2, null, 3, 1]");
  for (const auto& [type, json, kept] :
       std::vector<std::tuple<std::shared_ptr<arrow::DataType>, std::string, std::string>>{
           {arrow::utf8(), R"(["a", "b", "c", null, "e"])", R"(["a", "e"])"},
           {arrow::utf8_view(), R"(["a", "b", "c", null, "e"])", R"(["a", "e"])"},
           {arrow::list(arrow::int32()), "[[1], [2, 3], null, [], [4]]", "[[1], [4]]"},
           {arrow::map(arrow::utf8(), arrow::int32()), R"([[["k", 1]], [], null, [], [["z", 2]]])",
            R"([[["k", 1]], [["z", 2]]])"},
           {arrow::struct_({arrow::field("x", arrow::decimal128(5, 1))}), R"([{"x": "1.0"}, null, null, null, null])",
            R"([{"x": "1.0"}, null])"},
           {arrow::dictionary(arrow::int8(), arrow::utf8()), R"(["a", "b", "c", null, "a"])", R"(["a", "a"])"},
           {arrow::null(), "[null, null, null, null, null]", "[null, null]"}}) {
    const auto values = ArrayOf(type, json);
    const auto batch = arrow::RecordBatch::Make(
        arrow::schema({arrow::field("a", arrow::int32()), arrow::field("v", type)}), 5, {key, values});
    ASSERT_OK_AND_ASSIGN(NodePtr node, BoundFilter("a = 1", *batch->schema()));
    ASSERT_OK_AND_ASSIGN(auto filtered, Filter(node, batch, arrow::default_memory_pool()));
    ASSERT_TRUE(filtered->ValidateFull().ok()) << type->ToString();
    EXPECT_EQ(filtered->num_rows(), 2);
    if (type->id() == arrow::Type::DICTIONARY) continue;  // its dictionary keeps unused entries
    EXPECT_TRUE(filtered->column(1)->Equals(ArrayOf(type, kept))) << filtered->column(1)->ToString();
  }
}

TEST(Filter, ReturnsTheBatchItselfWhenAllMatchAndNothingWhenNone) {
  const auto batch = BatchOf("a", ArrayOf(arrow::int32(), "[1, 2]"));
  ASSERT_OK_AND_ASSIGN(NodePtr all, BoundFilter("a > 0", *batch->schema()));
  ASSERT_OK_AND_ASSIGN(auto same, Filter(all, batch, arrow::default_memory_pool()));
  EXPECT_EQ(same, batch);
  ASSERT_OK_AND_ASSIGN(NodePtr none, BoundFilter("a > 5", *batch->schema()));
  ASSERT_OK_AND_ASSIGN(auto empty, Filter(none, batch, arrow::default_memory_pool()));
  EXPECT_EQ(empty->num_rows(), 0);
  ASSERT_OK_AND_ASSIGN(auto empty_again, Filter(all, empty, arrow::default_memory_pool()));
  EXPECT_EQ(empty_again->num_rows(), 0);
}

}  // namespace
}  // namespace calve::expr
