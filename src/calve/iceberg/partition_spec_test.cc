#include "calve/iceberg/partition.h"
#include "filter_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace calve::iceberg {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Field Column(int id, const std::string& name, TypePtr type) {
  Field field;
  field.id = id;
  field.name = name;
  field.type = std::move(type);
  return field;
}

PartitionField PartitionBy(int source_id, const std::string& name, const std::string& transform) {
  PartitionField field;
  field.source_id = source_id;
  field.field_id = 1000;
  field.name = name;
  field.transform = ParseTransform(transform).ValueOrDie();
  return field;
}

TEST(PartitionSpec, ReadsAndWritesJson) {
  const auto text = json::parse(R"({"spec-id": 3, "fields": [
      {"source-id": 4, "field-id": 1000, "name": "ts_day", "transform": "day"},
      {"source-id": 1, "field-id": 1001, "name": "id_bucket", "transform": "bucket[16]"},
      {"source-ids": [1, 2], "field-id": 1002, "name": "both", "transform": "zorder"}]})");
  ASSERT_OK_AND_ASSIGN(PartitionSpec spec, PartitionSpecFromJson(text));
  EXPECT_EQ(spec.spec_id, 3);
  ASSERT_EQ(spec.fields.size(), 3u);
  EXPECT_EQ(spec.fields[1].source_id, 1);
  EXPECT_EQ(spec.fields[1].field_id, 1001);
  EXPECT_EQ(spec.fields[1].name, "id_bucket");
  EXPECT_EQ(spec.fields[1].transform.parameter, 16);
  EXPECT_EQ(spec.fields[2].transform.kind, TransformKind::kUnknown);
  EXPECT_EQ(ToJson(spec), text);
}

TEST(PartitionSpec, ReadsTheFieldsAloneAndCountsMissingIds) {
  ASSERT_OK_AND_ASSIGN(PartitionSpec spec, PartitionSpecFromJson(json::parse(
                                               R"([{"source-id": 4, "name": "a", "transform": "day"},
                               {"source-ids": [5], "name": "b", "transform": "identity"}])")));
  EXPECT_EQ(spec.fields[0].field_id, 1000);
  EXPECT_EQ(spec.fields[1].field_id, 1001);
  EXPECT_EQ(spec.fields[1].source_id, 5);
  EXPECT_EQ(spec.fields[1].transform.kind, TransformKind::kIdentity);
  EXPECT_TRUE(spec.fields[1].source_ids.empty());
}

TEST(PartitionSpec, WrongJsonIsAnErrorThatSaysWhere) {
  const auto error = [](const char* text) { return PartitionSpecFromJson(json::parse(text)).status().ToString(); };
  EXPECT_THAT(error("7"), HasSubstr("Invalid"));
  EXPECT_THAT(error("{}"), HasSubstr("spec-id"));
  EXPECT_THAT(error(R"({"spec-id": 0})"), HasSubstr("fields"));
  EXPECT_THAT(error(R"([{"source-id": 4, "name": "a"}])"), HasSubstr("partition field 0: missing member 'transform'"));
  EXPECT_THAT(error(R"([{"name": "a", "transform": "day"}])"),
              HasSubstr("partition field 0: missing member 'source-id'"));
  EXPECT_THAT(error(R"([{"source-id": 4, "name": "a", "transform": "bucket[0]"}])"),
              HasSubstr("positive 32-bit number"));
  EXPECT_THAT(error(R"([{"source-id": "x", "name": "a", "transform": "day"}])"), HasSubstr("source-id"));
  EXPECT_THAT(error("[7]"), HasSubstr("partition field 0"));
}

TEST(PartitionSpec, UnpartitionedWhenAllFieldsAreVoid) {
  PartitionSpec spec;
  EXPECT_TRUE(spec.unpartitioned());
  spec.fields.push_back(PartitionBy(1, "a", "void"));
  EXPECT_TRUE(spec.unpartitioned());
  spec.fields.push_back(PartitionBy(1, "b", "identity"));
  EXPECT_FALSE(spec.unpartitioned());
}

TEST(PartitionSpec, TypesSurviveDroppedSources) {
  Schema schema;
  schema.fields = {Column(1, "id", Primitive(TypeId::kLong)), Column(2, "ts", Primitive(TypeId::kTimestamp))};
  PartitionSpec spec;
  for (const char* transform : {"identity", "bucket[4]", "truncate[5]", "void", "zorder"}) {
    spec.fields.push_back(PartitionBy(1, transform, transform));
    spec.fields.push_back(PartitionBy(99, transform, transform));
  }
  for (const int id : {2, 99}) {
    for (const char* transform : {"year", "day"}) spec.fields.push_back(PartitionBy(id, transform, transform));
  }
  ASSERT_OK_AND_ASSIGN(auto types, PartitionTypes(spec, schema));
  std::string text;
  for (const TypePtr& type : types) text += type->ToString() + " ";
  EXPECT_EQ(text, "long unknown int int long unknown long unknown unknown unknown int date int date ");
  spec.fields = {PartitionBy(1, "id_day", "day")};
  EXPECT_EQ(PartitionTypes(spec, schema).status().message(),
            "partition field 'id_day': transform day does not take type long");
}

std::string PathOf(const std::string& name, const std::string& transform, const TypePtr& source, const Value& value) {
  PartitionSpec spec;
  spec.fields = {PartitionBy(1, name, transform)};
  const auto type = ResultType(spec.fields[0].transform, *source).ValueOrDie();
  return PartitionPath(spec, {type}, {value}).ValueOrDie();
}

TEST(PartitionPath, NamesAndValuesAreEncodedAsJavaDoes) {
  const auto text = Primitive(TypeId::kString);
  EXPECT_EQ(PathOf("cat", "identity", text, std::string("a")), "cat=a");
  EXPECT_EQ(PathOf("a b/c=d", "identity", text, std::string("x&y")), "a+b%2Fc%3Dd=x%26y");
  EXPECT_EQ(PathOf("s", "identity", text, std::string("\xc3\xa9~.-*_+%")), "s=%C3%A9%7E.-*_%2B%25");
  EXPECT_EQ(PathOf("s", "identity", text, std::string("")), "s=");
  EXPECT_EQ(PathOf("s", "identity", text, Value()), "s=null");
  EXPECT_EQ(PathOf("t", "identity", Primitive(TypeId::kTimestampTz), int64_t{0}),
            "t=1970-01-01T00%3A00%3A00%2B00%3A00");
}

TEST(PartitionPath, TransformedValuesReadAsTimes) {
  const auto timestamp = Primitive(TypeId::kTimestamp);
  EXPECT_EQ(PathOf("y", "year", timestamp, int32_t{54}), "y=2024");
  EXPECT_EQ(PathOf("y", "year", timestamp, int32_t{-1}), "y=1969");
  EXPECT_EQ(PathOf("m", "month", timestamp, int32_t{648}), "m=2024-01");
  EXPECT_EQ(PathOf("m", "month", timestamp, int32_t{-1}), "m=1969-12");
  EXPECT_EQ(PathOf("d", "day", timestamp, int32_t{19753}), "d=2024-01-31");
  EXPECT_EQ(PathOf("d", "day", timestamp, int32_t{-1}), "d=1969-12-31");
  EXPECT_EQ(PathOf("h", "hour", timestamp, int32_t{474077}), "h=2024-01-31-05");
  EXPECT_EQ(PathOf("h", "hour", timestamp, int32_t{-1}), "h=1969-12-31-23");
  EXPECT_EQ(PathOf("b", "bucket[16]", timestamp, int32_t{7}), "b=7");
  EXPECT_EQ(PathOf("v", "void", timestamp, Value()), "v=null");
  EXPECT_EQ(PathOf("d", "identity", Primitive(TypeId::kDate), int32_t{19753}), "d=2024-01-31");
  EXPECT_EQ(PathOf("n", "truncate[50]", Decimal(9, 2), arrow::Decimal128(1050)), "n=10.50");
}

TEST(PartitionPath, JoinsFieldsAndChecksTheirNumber) {
  PartitionSpec spec;
  spec.fields = {PartitionBy(1, "cat", "identity"), PartitionBy(2, "d_day", "day")};
  const std::vector<TypePtr> types = {Primitive(TypeId::kString), Primitive(TypeId::kDate)};
  ASSERT_OK_AND_ASSIGN(std::string path, PartitionPath(spec, types, {std::string("a"), int32_t{19753}}));
  EXPECT_EQ(path, "cat=a/d_day=2024-01-31");
  EXPECT_THAT(PartitionPath(spec, types, {std::string("a")}).status().message(),
              HasSubstr("2 fields, got 2 types and 1 values"));
}

}  // namespace
}  // namespace calve::iceberg
