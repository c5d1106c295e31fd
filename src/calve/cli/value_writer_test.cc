#include "calve/cli/value_writer.h"

#include <arrow/array/builder_dict.h>
#include <arrow/extension/uuid.h>
#include <arrow/json/from_string.h>
#include <arrow/util/float16.h>

#include <limits>

namespace calve::cli {
namespace {

using Style = ValueWriter::Style;
using Texts = std::vector<std::string>;

Texts Write(const arrow::Array& array, Style style = Style::kJson) {
  auto writer = ValueWriter::Make(array.type(), style).ValueOrDie();
  writer->Bind(array);
  Texts texts;
  for (int64_t i = 0; i < array.length(); ++i) writer->Append(i, &texts.emplace_back());
  return texts;
}

Texts Write(const std::shared_ptr<arrow::DataType>& type, const std::string& json, Style style = Style::kJson) {
  return Write(*arrow::json::ArrayFromJSONString(type, json).ValueOrDie(), style);
}

TEST(ValueWriter, IntegersAreNumbers) {
  EXPECT_EQ(Write(arrow::int64(), "[9223372036854775807, -9223372036854775808, 0, null]"),
            (Texts{"9223372036854775807", "-9223372036854775808", "0", "null"}));
  EXPECT_EQ(Write(arrow::uint64(), "[18446744073709551615]"), (Texts{"18446744073709551615"}));
  EXPECT_EQ(Write(arrow::int8(), "[-128]"), (Texts{"-128"}));
  EXPECT_EQ(Write(arrow::boolean(), "[true, false, null]"), (Texts{"true", "false", "null"}));
}

TEST(ValueWriter, DoublesAreTheShortestThatReadBack) {
  EXPECT_EQ(
      Write(arrow::float64(), "[0.1, -0.0, 2171, 5e-324, 1.7976931348623157e+308, 1e15, 1e16, 256862.77271727682]"),
      (Texts{"0.1", "-0.0", "2171.0", "5e-324", "1.7976931348623157e+308", "1000000000000000.0", "1e+16",
             "256862.77271727682"}));
}

TEST(ValueWriter, FloatsAreShortestForTheirOwnWidth) {
  EXPECT_EQ(Write(arrow::float32(), "[0.1, 211.5, 16777216]"), (Texts{"0.1", "211.5", "16777216.0"}));
  arrow::HalfFloatBuilder builder;
  ASSERT_TRUE(builder.Append(arrow::util::Float16(1.5f).bits()).ok());
  EXPECT_EQ(Write(*builder.Finish().ValueOrDie()), (Texts{"1.5"}));
}

TEST(ValueWriter, NotANumberAndInfinitiesAreText) {
  arrow::DoubleBuilder builder;
  const double infinity = std::numeric_limits<double>::infinity();
  ASSERT_TRUE(builder.AppendValues({std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}).ok());
  const auto array = builder.Finish().ValueOrDie();
  EXPECT_EQ(Write(*array), (Texts{"\"NaN\"", "\"Infinity\"", "\"-Infinity\""}));
  EXPECT_EQ(Write(*array, Style::kPlain), (Texts{"NaN", "Infinity", "-Infinity"}));
}

TEST(ValueWriter, DecimalsKeepTheirScaleAndHaveNoExponent) {
  EXPECT_EQ(Write(arrow::decimal128(38, 10),
                  R"(["0.0000000000", "-0.0000000001", "9999999999999999999999999999.9999999999"])"),
            (Texts{"\"0.0000000000\"", "\"-0.0000000001\"", "\"9999999999999999999999999999.9999999999\""}));
  EXPECT_EQ(Write(arrow::decimal128(9, 2), R"(["7756514.16", "-0.50", null])"),
            (Texts{"\"7756514.16\"", "\"-0.50\"", "null"}));
  EXPECT_EQ(Write(arrow::decimal128(5, 0), R"(["-12"])"), (Texts{"\"-12\""}));
  EXPECT_EQ(Write(arrow::decimal256(60, 3), R"(["123456789012345678901234567890123456789012345.678"])"),
            (Texts{"\"123456789012345678901234567890123456789012345.678\""}));
  EXPECT_EQ(Write(arrow::decimal64(10, 1), R"(["1.5"])"), (Texts{"\"1.5\""}));
  arrow::Decimal128Builder hundreds(arrow::decimal128(5, -2));
  ASSERT_TRUE(hundreds.Append(arrow::Decimal128(12)).ok());
  ASSERT_TRUE(hundreds.Append(arrow::Decimal128(0)).ok());
  EXPECT_EQ(Write(*hundreds.Finish().ValueOrDie()), (Texts{"\"1200\"", "\"0\""}));
}

TEST(ValueWriter, DatesAndTimes) {
  EXPECT_EQ(Write(arrow::date32(), "[0, 19782, -1, -719529, 2932897]"),
            (Texts{"\"1970-01-01\"", "\"2024-02-29\"", "\"1969-12-31\"", "\"-0001-12-31\"", "\"+10000-01-01\""}));
  EXPECT_EQ(Write(arrow::date64(), "[-86400000]"), (Texts{"\"1969-12-31\""}));
  EXPECT_EQ(Write(arrow::time64(arrow::TimeUnit::MICRO), "[0, 17695313381]"),
            (Texts{"\"00:00:00.000000\"", "\"04:54:55.313381\""}));
  EXPECT_EQ(Write(arrow::time32(arrow::TimeUnit::MILLI), "[86399999]"), (Texts{"\"23:59:59.999\""}));
}

TEST(ValueWriter, TimestampsHaveTheDecimalsOfTheirUnitAndAnOffsetWhenZoned) {
  EXPECT_EQ(
      Write(arrow::timestamp(arrow::TimeUnit::MICRO), "[0, -1, 1585726512000000]"),
      (Texts{"\"1970-01-01T00:00:00.000000\"", "\"1969-12-31T23:59:59.999999\"", "\"2020-04-01T07:35:12.000000\""}));
  EXPECT_EQ(Write(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"), "[1]"),
            (Texts{"\"1970-01-01T00:00:00.000001+00:00\""}));
  EXPECT_EQ(Write(arrow::timestamp(arrow::TimeUnit::NANO), "[-1641859180876543211]"),
            (Texts{"\"1917-12-22T00:00:19.123456789\""}));
  EXPECT_EQ(Write(arrow::timestamp(arrow::TimeUnit::SECOND), "[951782400]"), (Texts{"\"2000-02-29T00:00:00\""}));
  // The ends of the range.
  EXPECT_EQ(Write(arrow::timestamp(arrow::TimeUnit::MICRO), "[9223372036854775807, -9223372036854775808]"),
            (Texts{"\"+294247-01-10T04:00:54.775807\"", "\"-290308-12-21T19:59:05.224192\""}));
}

TEST(ValueWriter, TextIsEscaped) {
  EXPECT_EQ(Write(arrow::utf8(), R"(["", "Zürich 😀", "a\"b\\c\n\u0001"])"),
            (Texts{"\"\"", "\"Zürich 😀\"", "\"a\\\"b\\\\c\\n\\u0001\""}));
  EXPECT_EQ(Write(arrow::utf8(), R"(["a\"b"])", Style::kPlain), (Texts{"a\"b"}));
  arrow::StringBuilder builder;
  ASSERT_TRUE(builder.Append("a\xFFz\xC3").ok());
  EXPECT_EQ(Write(*builder.Finish().ValueOrDie()), (Texts{"\"a\xEF\xBF\xBDz\xEF\xBF\xBD\""}));
  EXPECT_EQ(Write(arrow::large_utf8(), R"(["x"])"), (Texts{"\"x\""}));
  EXPECT_EQ(Write(arrow::utf8_view(), R"(["longer than twelve bytes"])"), (Texts{"\"longer than twelve bytes\""}));
}

TEST(ValueWriter, BytesAreLowercaseHexadecimal) {
  arrow::BinaryBuilder builder;
  ASSERT_TRUE(builder.Append(std::string("\x34\x60\xbe\x00", 4)).ok());
  ASSERT_TRUE(builder.Append("").ok());
  const auto array = builder.Finish().ValueOrDie();
  EXPECT_EQ(Write(*array), (Texts{"\"3460be00\"", "\"\""}));
  EXPECT_EQ(Write(arrow::fixed_size_binary(2), R"(["AB"])"), (Texts{"\"4142\""}));
}

TEST(ValueWriter, UuidsHaveTheirDashes) {
  arrow::FixedSizeBinaryBuilder builder(arrow::fixed_size_binary(16));
  ASSERT_TRUE(builder.Append("\x76\x3a\xf6\x9b\xd3\x89\x09\x47\x72\xd7\x58\x34\x6d\x74\x8c\x52").ok());
  ASSERT_TRUE(builder.AppendNull().ok());
  const auto storage = builder.Finish().ValueOrDie();
  const auto array = arrow::ExtensionType::WrapArray(arrow::extension::uuid(), storage);
  EXPECT_EQ(Write(*array), (Texts{"\"763af69b-d389-0947-72d7-58346d748c52\"", "null"}));
}

TEST(ValueWriter, NestedValuesAreJson) {
  EXPECT_EQ(Write(arrow::list(arrow::utf8()), R"([["p", null], [], null])"), (Texts{"[\"p\",null]", "[]", "null"}));
  EXPECT_EQ(Write(arrow::map(arrow::utf8(), arrow::int32()), R"([[["k", 1], ["", null]], []])"),
            (Texts{"[[\"k\",1],[\"\",null]]", "[]"}));
  const auto point = arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("b\"", arrow::date32())});
  EXPECT_EQ(Write(point, R"([{"a": 1, "b\"": 0}, {"a": null, "b\"": null}, null])"),
            (Texts{R"({"a":1,"b\"":"1970-01-01"})", R"({"a":null,"b\"":null})", "null"}));
  EXPECT_EQ(Write(arrow::list(arrow::date32()), "[[0], null]", Style::kPlain), (Texts{"[\"1970-01-01\"]", ""}));
  EXPECT_EQ(Write(arrow::fixed_size_list(arrow::int32(), 2), "[[1, 2], [3, 4]]"), (Texts{"[1,2]", "[3,4]"}));
  EXPECT_EQ(Write(arrow::struct_({}), "[{}]"), (Texts{"{}"}));
}

TEST(ValueWriter, SlicesOfNestedArrays) {
  const auto type = arrow::list(arrow::struct_({arrow::field("x", arrow::int32())}));
  const auto array =
      arrow::json::ArrayFromJSONString(type, R"([[{"x": 1}], [{"x": 2}, {"x": 3}], null, [null]])").ValueOrDie();
  EXPECT_EQ(Write(*array->Slice(1)), (Texts{R"([{"x":2},{"x":3}])", "null", "[null]"}));
  const auto map =
      arrow::json::ArrayFromJSONString(arrow::map(arrow::utf8(), arrow::int32()), R"([[["a", 1]], [["b", 2]]])")
          .ValueOrDie();
  EXPECT_EQ(Write(*map->Slice(1)), (Texts{R"([["b",2]])"}));
  const auto structs =
      arrow::json::ArrayFromJSONString(arrow::struct_({arrow::field("x", arrow::int32())}), R"([{"x": 1}, {"x": 2}])")
          .ValueOrDie();
  EXPECT_EQ(Write(*structs->Slice(1)), (Texts{R"({"x":2})"}));
}

TEST(ValueWriter, DictionariesShowTheirValues) {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto array = arrow::DictionaryArray::FromArrays(
                         type, arrow::json::ArrayFromJSONString(arrow::int8(), "[1, 0, null]").ValueOrDie(),
                         arrow::json::ArrayFromJSONString(arrow::utf8(), R"(["a", null])").ValueOrDie())
                         .ValueOrDie();
  EXPECT_EQ(Write(*array), (Texts{"null", "\"a\"", "null"}));
}

TEST(ValueWriter, NullsAndTypesWithoutText) {
  EXPECT_EQ(Write(arrow::null(), "[null]"), (Texts{"null"}));
  EXPECT_EQ(Write(arrow::null(), "[null]", Style::kPlain), (Texts{""}));
  const auto made = ValueWriter::Make(arrow::day_time_interval(), Style::kJson);
  EXPECT_TRUE(made.status().IsNotImplemented());
  EXPECT_THAT(made.status().message(), testing::HasSubstr("day_time_interval"));
}

}  // namespace
}  // namespace calve::cli
