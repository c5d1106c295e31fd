#include "calve/iceberg/json_members.h"
#include "calve/iceberg/schema.h"

#include <arrow/util/decimal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace calve::iceberg {
namespace {

using std::string_literals::operator""s;

TypePtr T(std::string_view name) { return ParsePrimitive(name).ValueOrDie(); }

std::string BytesOf(std::string_view type, const Value& value) { return ValueToBytes(*T(type), value).ValueOrDie(); }

void ExpectBytes(std::string_view type, const Value& value, const std::string& bytes) {
  EXPECT_EQ(BytesOf(type, value), bytes) << type;
  auto back = ValueFromBytes(*T(type), bytes);
  ASSERT_TRUE(back.ok()) << type << ": " << back.status().ToString();
  EXPECT_TRUE(SameValue(*back, value)) << type;
}

TEST(SingleValueBytes, SpecificationForms) {
  ExpectBytes("boolean", true, "\1"s);
  ExpectBytes("boolean", false, "\0"s);
  ExpectBytes("int", int32_t{-2}, "\xfe\xff\xff\xff"s);
  ExpectBytes("long", int64_t{258}, "\2\1\0\0\0\0\0\0"s);
  ExpectBytes("float", 1.0f, "\0\0\x80\x3f"s);
  ExpectBytes("double", -2.0, "\0\0\0\0\0\0\0\xc0"s);
  ExpectBytes("date", int32_t{1}, "\1\0\0\0"s);
  ExpectBytes("time", int64_t{1}, "\1\0\0\0\0\0\0\0"s);
  ExpectBytes("timestamptz", int64_t{-1}, "\xff\xff\xff\xff\xff\xff\xff\xff"s);
  ExpectBytes("string", "\xc3\xa9"s, "\xc3\xa9"s);
  ExpectBytes("uuid", "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7"s,
              "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7"s);
  ExpectBytes("fixed[2]", "ab"s, "ab"s);
}

TEST(SingleValueBytes, DecimalsAreMinimalBigEndian) {
  ExpectBytes("decimal(9, 2)", arrow::Decimal128(0), "\0"s);
  ExpectBytes("decimal(9, 2)", arrow::Decimal128(127), "\x7f"s);
  ExpectBytes("decimal(9, 2)", arrow::Decimal128(128), "\0\x80"s);
  ExpectBytes("decimal(9, 2)", arrow::Decimal128(1420), "\x05\x8c"s);
  ExpectBytes("decimal(9, 2)", arrow::Decimal128(-1), "\xff"s);
  ExpectBytes("decimal(9, 2)", arrow::Decimal128(-128), "\x80"s);
  ExpectBytes("decimal(9, 2)", arrow::Decimal128(-129), "\xff\x7f"s);
  const auto large = arrow::Decimal128::FromString("-99999999999999999999999999999999999999").ValueOrDie();
  EXPECT_EQ(BytesOf("decimal(38, 0)", large).size(), 16u);
  EXPECT_TRUE(SameValue(*ValueFromBytes(*T("decimal(38, 0)"), BytesOf("decimal(38, 0)", large)), large));
  // Other writers pad: the sign carries on.
  EXPECT_TRUE(SameValue(*ValueFromBytes(*T("decimal(9, 2)"), "\xff\xff\xff\xff"s), arrow::Decimal128(-1)));
}

TEST(SingleValueBytes, BoundsOfPromotedTypes) {
  EXPECT_TRUE(SameValue(*ValueFromBytes(*T("long"), "\xfe\xff\xff\xff"s), int64_t{-2}));
  EXPECT_TRUE(SameValue(*ValueFromBytes(*T("double"), "\0\0\x80\x3f"s), 1.0));
  EXPECT_TRUE(SameValue(*ValueFromBytes(*T("timestamp"), "\1\0\0\0"s), int64_t{86'400'000'000}));
  EXPECT_TRUE(SameValue(*ValueFromBytes(*T("timestamp_ns"), "\xff\xff\xff\xff"s), int64_t{-86'400'000'000'000}));
  EXPECT_FALSE(ValueFromBytes(*T("timestamp_ns"), "\xff\xff\xff\x7f"s).ok());
}

TEST(SingleValueBytes, WrongLengthsAreInvalid) {
  for (std::string_view name : {"boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz",
                                "uuid", "decimal(9, 2)"}) {
    for (size_t size : {0, 3, 5, 17}) {
      if (name.starts_with("decimal") && size > 0 && size < 17) continue;
      auto value = ValueFromBytes(*T(name), std::string(size, 'x'));
      EXPECT_TRUE(value.status().IsInvalid()) << name << " of " << size;
    }
  }
  EXPECT_TRUE(ValueFromBytes(*T("fixed[2]"), "abc").status().IsInvalid());
  EXPECT_TRUE(ValueFromBytes(*T("fixed[2]"), "a").ok());
  EXPECT_TRUE(ValueToBytes(*T("int"), Value()).status().IsInvalid());
}

Result<Value> FromJson(std::string_view type, std::string_view json) {
  return ValueFromJson(*T(type), *ParseJson(json));
}

TEST(SingleValueJson, SpecificationExamples) {
  auto expect = [](std::string_view type, std::string_view json, const Value& value) {
    auto parsed = FromJson(type, json);
    ASSERT_TRUE(parsed.ok()) << type << ": " << parsed.status().ToString();
    EXPECT_TRUE(SameValue(*parsed, value)) << type << " " << json;
  };
  expect("boolean", "true", true);
  expect("int", "34", int32_t{34});
  expect("long", "-9223372036854775808", std::numeric_limits<int64_t>::min());
  expect("float", "1.0", 1.0f);
  expect("double", "1", 1.0);
  expect("decimal(9,2)", "\"14.20\"", arrow::Decimal128(1420));
  expect("decimal(9,2)", "\"14.2\"", arrow::Decimal128(1420));
  expect("date", "\"2017-11-16\"", int32_t{17486});
  expect("date", "\"1969-12-31\"", int32_t{-1});
  expect("time", "\"22:31:08.123456\"", int64_t{81'068'123'456});
  expect("timestamp", "\"2017-11-16T22:31:08.123456\"", int64_t{1'510'871'468'123'456});
  expect("timestamp", "\"1969-12-31T23:59:59\"", int64_t{-1'000'000});
  expect("timestamptz", "\"2017-11-16T22:31:08.123456+00:00\"", int64_t{1'510'871'468'123'456});
  expect("timestamp_ns", "\"2017-11-16T22:31:08.123456789\"", int64_t{1'510'871'468'123'456'789});
  expect("timestamptz_ns", "\"2017-11-16T22:31:08.123456789+00:00\"", int64_t{1'510'871'468'123'456'789});
  expect("string", "\"iceberg\"", "iceberg"s);
  expect("uuid", "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"",
         "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7"s);
  expect("fixed[4]", "\"000102ff\"", "\0\1\2\xff"s);
  expect("binary", "\"\"", ""s);
  expect("int", "null", Value());
}

TEST(SingleValueJson, WrongValuesAreInvalid) {
  const std::pair<const char*, const char*> cases[] = {{"boolean", "1"},
                                                       {"int", "2147483648"},
                                                       {"int", "1.5"},
                                                       {"long", "9223372036854775808"},
                                                       {"float", "1e300"},
                                                       {"decimal(9,2)", "14.20"},
                                                       {"decimal(9,2)", "\"1.234\""},
                                                       {"decimal(3,2)", "\"12.34\""},
                                                       {"date", "\"2017-02-29\""},
                                                       {"date", "17486"},
                                                       {"time", "\"24:00:00\""},
                                                       {"time", "\"10:00:00.1234567\""},
                                                       {"timestamp", "\"2017-11-16T22:31:08+00:00\""},
                                                       {"timestamptz", "\"2017-11-16T22:31:08\""},
                                                       {"timestamp_ns", "\"9999-01-01T00:00:00\""},
                                                       {"uuid", "\"f79c3e09677c4bbda4793f349cb785e7\""},
                                                       {"fixed[4]", "\"0001\""},
                                                       {"binary", "\"0\""},
                                                       {"binary", "\"xy\""},
                                                       {"string", "7"}};
  for (const auto& [type, json] : cases) EXPECT_TRUE(FromJson(type, json).status().IsInvalid()) << type << " " << json;
}

TEST(ValueText, ForPeople) {
  auto text = [](std::string_view type, const Value& value) { return ValueToText(*T(type), value); };
  EXPECT_EQ(text("boolean", true), "true");
  EXPECT_EQ(text("int", int32_t{-5}), "-5");
  EXPECT_EQ(text("date", int32_t{19753}), "2024-01-31");
  EXPECT_EQ(text("date", int32_t{-1}), "1969-12-31");
  EXPECT_EQ(text("time", int64_t{81'068'123'456}), "22:31:08.123456");
  EXPECT_EQ(text("timestamp", int64_t{-1}), "1969-12-31T23:59:59.999999");
  EXPECT_EQ(text("timestamptz", int64_t{0}), "1970-01-01T00:00:00+00:00");
  EXPECT_EQ(text("timestamp_ns", int64_t{1}), "1970-01-01T00:00:00.000000001");
  EXPECT_EQ(text("timestamp", std::numeric_limits<int64_t>::min()), "-290308-12-21T19:59:05.224192");
  EXPECT_EQ(text("time", std::numeric_limits<int64_t>::max()), "9223372036854775807");
  EXPECT_EQ(text("decimal(9,2)", arrow::Decimal128(-5)), "-0.05");
  EXPECT_EQ(text("double", 1.0), "1.0");
  EXPECT_EQ(text("float", 0.1f), "0.1");
  EXPECT_EQ(text("double", std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(text("uuid", "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7"s),
            "f79c3e09-677c-4bbd-a479-3f349cb785e7");
  EXPECT_EQ(text("binary", "\1\2"s), "AQI=");
  EXPECT_EQ(text("string", Value()), "null");
}

}  // namespace
}  // namespace calve::iceberg
