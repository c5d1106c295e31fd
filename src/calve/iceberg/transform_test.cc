#include "calve/iceberg/partition.h"
#include "filter_testing.h"

#include <arrow/extension/uuid.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace calve::iceberg {
namespace {

using testing::ArrayOf;
using ::testing::HasSubstr;

Transform Parsed(const std::string& text) { return ParseTransform(text).ValueOrDie(); }

/// The transform of `value`, as a Value.
Value Of(const std::string& transform, const TypePtr& type, const Value& value) {
  return Apply(Parsed(transform), *type, value).ValueOrDie();
}

TEST(Transform, NamesAreParsedAndKept) {
  EXPECT_EQ(Parsed("identity").kind, TransformKind::kIdentity);
  EXPECT_EQ(Parsed("bucket[16]").kind, TransformKind::kBucket);
  EXPECT_EQ(Parsed("bucket[16]").parameter, 16);
  EXPECT_EQ(Parsed("Truncate[3]").kind, TransformKind::kTruncate);
  EXPECT_EQ(Parsed("Truncate[3]").text, "Truncate[3]");
  EXPECT_EQ(Parsed("year").kind, TransformKind::kYear);
  EXPECT_EQ(Parsed("month").kind, TransformKind::kMonth);
  EXPECT_EQ(Parsed("day").kind, TransformKind::kDay);
  EXPECT_EQ(Parsed("hour").kind, TransformKind::kHour);
  EXPECT_EQ(Parsed("void").kind, TransformKind::kVoid);
  for (const char* unknown : {"", "zorder", "bucket", "bucket[16", "truncate", "years", "identity[3]"}) {
    EXPECT_EQ(Parsed(unknown).kind, TransformKind::kUnknown) << unknown;
    EXPECT_EQ(Parsed(unknown).text, unknown);
  }
  for (const char* wrong :
       {"bucket[0]", "bucket[-1]", "bucket[]", "bucket[x]", "truncate[99999999999]", "bucket[1 ]"}) {
    EXPECT_THAT(ParseTransform(wrong).status().message(), HasSubstr("expected a positive 32-bit number")) << wrong;
  }
}

TEST(Transform, ResultTypes) {
  const auto type_of = [](const std::string& transform, const TypePtr& source) {
    const auto type = ResultType(Parsed(transform), *source);
    return type.ok() ? (*type)->ToString() : type.status().message();
  };
  EXPECT_EQ(type_of("identity", Decimal(9, 2)), "decimal(9, 2)");
  EXPECT_EQ(type_of("bucket[4]", Primitive(TypeId::kString)), "int");
  EXPECT_EQ(type_of("truncate[4]", Primitive(TypeId::kString)), "string");
  EXPECT_EQ(type_of("year", Primitive(TypeId::kDate)), "int");
  EXPECT_EQ(type_of("day", Primitive(TypeId::kTimestampTzNs)), "date");
  EXPECT_EQ(type_of("hour", Primitive(TypeId::kTimestamp)), "int");
  EXPECT_EQ(type_of("void", Primitive(TypeId::kDouble)), "double");
  EXPECT_EQ(type_of("hour", Primitive(TypeId::kDate)), "transform hour does not take type date");
  EXPECT_EQ(type_of("bucket[4]", Primitive(TypeId::kDouble)), "transform bucket[4] does not take type double");
  EXPECT_EQ(type_of("bucket[4]", Primitive(TypeId::kBoolean)), "transform bucket[4] does not take type boolean");
  EXPECT_EQ(type_of("truncate[4]", Fixed(3)), "transform truncate[4] does not take type fixed[3]");
  EXPECT_THAT(type_of("identity", Primitive(TypeId::kGeometry)), HasSubstr("does not take type geometry"));
  EXPECT_THAT(type_of("identity", Struct({})), HasSubstr("does not take type struct"));
}

// Appendix B's test values: with 2^31 - 1 buckets the bucket is the hash without its sign, but for the hash 2^31 - 1.
TEST(Transform, BucketHashesAsTheSpecificationSays) {
  const auto bucket = [](const TypePtr& type, const Value& value) {
    return std::get<int32_t>(Of("bucket[2147483647]", type, value));
  };
  const auto unsigned_part = [](int32_t hash) { return hash & 0x7fffffff; };
  EXPECT_EQ(bucket(Primitive(TypeId::kInt), int32_t{34}), unsigned_part(2017239379));
  EXPECT_EQ(bucket(Primitive(TypeId::kLong), int64_t{34}), unsigned_part(2017239379));
  EXPECT_EQ(bucket(Decimal(9, 2), arrow::Decimal128(1420)), unsigned_part(-500754589));
  EXPECT_EQ(bucket(Primitive(TypeId::kDate), int32_t{17486}), unsigned_part(-653330422));
  EXPECT_EQ(bucket(Primitive(TypeId::kTime), int64_t{81068000000}), unsigned_part(-662762989));
  for (const TypeId id : {TypeId::kTimestamp, TypeId::kTimestampTz}) {
    EXPECT_EQ(bucket(Primitive(id), int64_t{1510871468000000}), unsigned_part(-2047944441));
    EXPECT_EQ(bucket(Primitive(id), int64_t{1510871468000001}), unsigned_part(-1207196810));
  }
  for (const TypeId id : {TypeId::kTimestampNs, TypeId::kTimestampTzNs}) {
    EXPECT_EQ(bucket(Primitive(id), int64_t{1510871468000000000}), unsigned_part(-2047944441));
    EXPECT_EQ(bucket(Primitive(id), int64_t{1510871468000001001}), unsigned_part(-1207196810));
  }
  EXPECT_EQ(bucket(Primitive(TypeId::kString), std::string("iceberg")), unsigned_part(1210000089));
  const std::string uuid("\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7", 16);
  EXPECT_EQ(bucket(Primitive(TypeId::kUuid), uuid), unsigned_part(1488055340));
  const std::string bytes("\x00\x01\x02\x03", 4);
  EXPECT_EQ(bucket(Fixed(4), bytes), unsigned_part(-188683207));
  EXPECT_EQ(bucket(Primitive(TypeId::kBinary), bytes), unsigned_part(-188683207));
}

TEST(Transform, BucketOfIntAndLongAgreeAndNanosFloor) {
  for (const int32_t number : {0, 1, -1, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}) {
    EXPECT_TRUE(SameValue(Of("bucket[100]", Primitive(TypeId::kInt), number),
                          Of("bucket[100]", Primitive(TypeId::kLong), int64_t{number})));
  }
  EXPECT_TRUE(SameValue(Of("bucket[1000]", Primitive(TypeId::kTimestampNs), int64_t{-1}),
                        Of("bucket[1000]", Primitive(TypeId::kTimestamp), int64_t{-1})));
}

TEST(Transform, TruncateNumbersDownwards) {
  const auto type = Primitive(TypeId::kInt);
  EXPECT_EQ(Of("truncate[10]", type, int32_t{1}), Value(int32_t{0}));
  EXPECT_EQ(Of("truncate[10]", type, int32_t{-1}), Value(int32_t{-10}));
  EXPECT_EQ(Of("truncate[10]", type, int32_t{-10}), Value(int32_t{-10}));
  EXPECT_EQ(Of("truncate[10]", type, int32_t{2147483647}), Value(int32_t{2147483640}));
  EXPECT_EQ(Of("truncate[2147483647]", type, int32_t{2147483646}), Value(int32_t{0}));
  EXPECT_EQ(Of("truncate[10]", Primitive(TypeId::kLong), int64_t{-5000000001}), Value(int64_t{-5000000010}));
  EXPECT_EQ(Of("truncate[50]", Decimal(9, 2), arrow::Decimal128(1065)), Value(arrow::Decimal128(1050)));
  EXPECT_EQ(Of("truncate[50]", Decimal(9, 2), arrow::Decimal128(-1065)), Value(arrow::Decimal128(-1100)));
  // As Java, which wraps.
  EXPECT_EQ(Of("truncate[10]", type, std::numeric_limits<int32_t>::min()), Value(int32_t{2147483646}));
}

TEST(Transform, TruncateTextByCharactersAndBinaryByBytes) {
  const auto text = Primitive(TypeId::kString);
  EXPECT_EQ(Of("truncate[3]", text, std::string("iceberg")), Value(std::string("ice")));
  EXPECT_EQ(Of("truncate[3]", text, std::string("ic")), Value(std::string("ic")));
  EXPECT_EQ(Of("truncate[2]", text, std::string("\xe2\x82\xac\xf0\x9f\x98\x80z")),
            Value(std::string("\xe2\x82\xac\xf0\x9f\x98\x80")));
  EXPECT_EQ(Of("truncate[3]", Primitive(TypeId::kBinary), std::string("\1\2\3\4\5")), Value(std::string("\1\2\3")));
}

TEST(Transform, TimesAreFlooredBeforeTheEpoch) {
  const auto date = Primitive(TypeId::kDate);
  EXPECT_EQ(Of("year", date, int32_t{-1}), Value(int32_t{-1}));
  EXPECT_EQ(Of("month", date, int32_t{-1}), Value(int32_t{-1}));
  EXPECT_EQ(Of("day", date, int32_t{-1}), Value(int32_t{-1}));
  EXPECT_EQ(Of("year", date, int32_t{-366}), Value(int32_t{-2}));
  EXPECT_EQ(Of("year", date, int32_t{17501}), Value(int32_t{47}));  // 2017-12-01
  EXPECT_EQ(Of("month", date, int32_t{17501}), Value(int32_t{575}));
  const int64_t micros = 1512151975038194;  // 2017-12-01T18:12:55.038194
  for (const TypeId id : {TypeId::kTimestamp, TypeId::kTimestampTz}) {
    EXPECT_EQ(Of("year", Primitive(id), micros), Value(int32_t{47}));
    EXPECT_EQ(Of("month", Primitive(id), micros), Value(int32_t{575}));
    EXPECT_EQ(Of("day", Primitive(id), micros), Value(int32_t{17501}));
    EXPECT_EQ(Of("hour", Primitive(id), micros), Value(int32_t{420042}));
    for (const char* transform : {"year", "month", "day", "hour"}) {
      EXPECT_EQ(Of(transform, Primitive(id), int64_t{-1}), Value(int32_t{-1})) << transform;
    }
  }
  for (const TypeId id : {TypeId::kTimestampNs, TypeId::kTimestampTzNs}) {
    EXPECT_EQ(Of("hour", Primitive(id), micros * 1000 + 999), Value(int32_t{420042}));
    EXPECT_EQ(Of("day", Primitive(id), int64_t{-1}), Value(int32_t{-1}));
  }
}

TEST(Transform, BoundariesOfEveryUnit) {
  const auto timestamp = Primitive(TypeId::kTimestamp);
  const int64_t new_year_2024 = 1704067200000000;
  EXPECT_EQ(Of("year", timestamp, new_year_2024), Value(int32_t{54}));
  EXPECT_EQ(Of("year", timestamp, new_year_2024 - 1), Value(int32_t{53}));
  EXPECT_EQ(Of("month", timestamp, new_year_2024), Value(int32_t{648}));
  EXPECT_EQ(Of("month", timestamp, new_year_2024 - 1), Value(int32_t{647}));
  EXPECT_EQ(Of("day", timestamp, new_year_2024), Value(int32_t{19723}));
  EXPECT_EQ(Of("day", timestamp, new_year_2024 - 1), Value(int32_t{19722}));
  EXPECT_EQ(Of("hour", timestamp, new_year_2024), Value(int32_t{473352}));
  EXPECT_EQ(Of("hour", timestamp, new_year_2024 - 1), Value(int32_t{473351}));
}

TEST(Transform, NullsVoidAndErrors) {
  for (const char* transform : {"identity", "bucket[3]", "truncate[3]", "void"}) {
    EXPECT_TRUE(IsNull(Of(transform, Primitive(TypeId::kInt), Value()))) << transform;
  }
  EXPECT_TRUE(IsNull(Of("void", Primitive(TypeId::kInt), int32_t{7})));
  EXPECT_TRUE(Apply(Parsed("zorder"), *Primitive(TypeId::kInt), int32_t{7}).status().IsNotImplemented());
  EXPECT_TRUE(Apply(Parsed("identity"), *Primitive(TypeId::kInt), int64_t{7}).status().IsInvalid());
  EXPECT_TRUE(Apply(Parsed("day"), *Primitive(TypeId::kTimestamp), int32_t{7}).status().IsInvalid());
  EXPECT_TRUE(
      Apply(Parsed("hour"), *Primitive(TypeId::kTimestamp), std::numeric_limits<int64_t>::max()).status().IsInvalid());
}

std::string Applied(const std::string& transform, const TypePtr& type, const std::shared_ptr<arrow::Array>& array) {
  const auto values = ApplyToArray(Parsed(transform), *type, *array);
  if (!values.ok()) return values.status().ToString();
  std::string text;
  for (const Value& value : *values) {
    text += (text.empty() ? "" : " ") + ValueToText(**ResultType(Parsed(transform), *type), value);
  }
  return text;
}

TEST(Transform, AppliesToArraysOfEveryLayout) {
  for (const auto& type :
       {arrow::utf8(), arrow::large_utf8(), arrow::utf8_view(), arrow::dictionary(arrow::int8(), arrow::utf8())}) {
    const auto array = ArrayOf(type, R"(["abc", null, "d", "abc"])");
    EXPECT_EQ(Applied("truncate[2]", Primitive(TypeId::kString), array), "ab null d ab") << type->ToString();
    EXPECT_EQ(Applied("truncate[2]", Primitive(TypeId::kString), array->Slice(2)), "d ab") << type->ToString();
  }
  EXPECT_EQ(Applied("truncate[10]", Primitive(TypeId::kInt), ArrayOf(arrow::int32(), "[5, null, -5]")), "0 null -10");
  EXPECT_EQ(Applied("day", Primitive(TypeId::kTimestampTz),
                    ArrayOf(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"), "[-1, null]")),
            "1969-12-31 null");
  EXPECT_EQ(Applied("identity", Decimal(5, 2), ArrayOf(arrow::decimal128(5, 2), R"(["1.50", null])")), "1.50 null");
  EXPECT_EQ(Applied("void", Primitive(TypeId::kInt), ArrayOf(arrow::int32(), "[1, 2]")), "null null");
  EXPECT_EQ(Applied("identity", Primitive(TypeId::kUnknown), ArrayOf(arrow::null(), "[null]")), "null");
  const auto uuids = arrow::ExtensionType::WrapArray(arrow::extension::uuid(),
                                                     ArrayOf(arrow::fixed_size_binary(16), R"(["0123456789abcdef"])"));
  EXPECT_EQ(Applied("identity", Primitive(TypeId::kUuid), uuids), "30313233-3435-3637-3839-616263646566");
  EXPECT_THAT(Applied("identity", Primitive(TypeId::kInt), ArrayOf(arrow::int64(), "[1]")), HasSubstr("Invalid"));
  EXPECT_THAT(Applied("hour", Primitive(TypeId::kDate), ArrayOf(arrow::date32(), "[]")),
              HasSubstr("does not take type date"));
}

}  // namespace
}  // namespace calve::iceberg
