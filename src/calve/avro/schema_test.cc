#include "calve/avro/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::avro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SchemaPtr Parsed(std::string_view json) { return ParseSchema(json).ValueOrDie(); }
std::string ErrorOf(std::string_view json) { return ParseSchema(json).status().ToString(); }

TEST(ParseSchema, Primitives) {
  for (auto kind : {Kind::kNull, Kind::kBoolean, Kind::kInt, Kind::kLong, Kind::kFloat, Kind::kDouble, Kind::kBytes,
                    Kind::kString}) {
    auto name = std::string(ToString(kind));
    EXPECT_EQ(Parsed("\"" + name + "\"")->kind, kind);
    EXPECT_EQ(Parsed("{\"type\":\"" + name + "\"}")->kind, kind);
    EXPECT_EQ(Parsed("{\"type\":{\"type\":\"" + name + "\"}}")->kind, kind);
  }
}

TEST(ParseSchema, IcebergAttributes) {
  auto schema = Parsed(R"({"type":"record","name":"r","fields":[
      {"name":"ts","type":["null",{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true}],
       "doc":"when","default":null,"field-id":7},
      {"name":"dec","type":{"type":"fixed","name":"d","size":5,"logicalType":"decimal","precision":10,"scale":2}},
      {"name":"list","type":{"type":"array","items":"int","element-id":9},"field-id":8},
      {"name":"map","type":{"type":"map","values":"int","key-id":11,"value-id":12},"field-id":10},
      {"name":"pairs","type":{"type":"array","logicalType":"map","items":{"type":"record","name":"k14_v15",
       "fields":[{"name":"key","type":"int","field-id":14},{"name":"value","type":"bytes","field-id":15}]}}}]})");
  ASSERT_EQ(schema->fields.size(), 5u);
  EXPECT_EQ(schema->fields[0].id, 7);
  EXPECT_EQ(schema->fields[0].doc, "when");
  EXPECT_EQ(schema->fields[0].type->optional_branch()->logical_type, "timestamp-micros");
  EXPECT_EQ(schema->fields[0].type->optional_branch()->adjust_to_utc, true);
  EXPECT_EQ(schema->fields[1].id, std::nullopt);
  EXPECT_EQ(schema->fields[1].type->precision, 10);
  EXPECT_EQ(schema->fields[1].type->scale, 2);
  EXPECT_EQ(schema->fields[2].type->element_id, 9);
  EXPECT_EQ(schema->fields[3].type->key_id, 11);
  EXPECT_EQ(schema->fields[3].type->value_id, 12);
  EXPECT_EQ(schema->fields[4].type->logical_type, "map");
  EXPECT_EQ(schema->fields[4].type->element->fields[1].id, 15);
}

TEST(ParseSchema, NamedTypesAndNamespaces) {
  auto schema = Parsed(R"({"type":"record","name":"r","namespace":"a.b","fields":[
      {"name":"one","type":{"type":"fixed","name":"f","size":3}},
      {"name":"two","type":"f"},
      {"name":"three","type":["null","a.b.f"]},
      {"name":"inner","type":{"type":"record","name":"x.y.q","fields":[
          {"name":"e","type":{"type":"enum","name":"e","symbols":["A","B"]}}]}},
      {"name":"four","type":"x.y.e"}]})");
  EXPECT_EQ(schema->name, "a.b.r");
  EXPECT_EQ(schema->fields[1].type->size_bytes, 3u);
  EXPECT_EQ(schema->fields[2].type->optional_branch()->name, "a.b.f");
  EXPECT_THAT(schema->fields[4].type->symbols, ElementsAre("A", "B"));
}

TEST(ParseSchema, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf("{"), HasSubstr("malformed JSON"));
  EXPECT_THAT(ErrorOf("3"), HasSubstr("neither a name"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("without branches"));
  EXPECT_THAT(ErrorOf("\"nope\""), HasSubstr("unknown type 'nope'"));
  EXPECT_THAT(ErrorOf("[\"null\",[\"int\"]]"), HasSubstr("union directly inside a union"));
  EXPECT_THAT(ErrorOf(R"({"type":"array"})"), HasSubstr("'items' is missing"));
  EXPECT_THAT(ErrorOf(R"({"type":"map"})"), HasSubstr("'values' is missing"));
  EXPECT_THAT(ErrorOf(R"({"type":"record","name":"r"})"), HasSubstr("'r' has no fields"));
  EXPECT_THAT(ErrorOf(R"({"type":"record","fields":[]})"), HasSubstr("'name' is missing"));
  EXPECT_THAT(ErrorOf(R"({"type":"fixed","name":"f","size":-1})"), HasSubstr("no valid size"));
  EXPECT_THAT(ErrorOf(R"({"type":"fixed","name":"f","size":99999999999})"), HasSubstr("no valid size"));
  EXPECT_THAT(ErrorOf(R"({"type":"enum","name":"f"})"), HasSubstr("has no symbols"));
  EXPECT_THAT(ErrorOf(R"({"type":"record","name":"r","fields":[{"name":"a","type":"int","field-id":"x"}]})"),
              HasSubstr("'field-id' is no int"));
  EXPECT_THAT(ErrorOf(R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]})"),
              HasSubstr("two fields 'a'"));
  EXPECT_THAT(ErrorOf(R"([{"type":"fixed","name":"f","size":1},{"type":"fixed","name":"f","size":1}])"),
              HasSubstr("defined twice"));
}

TEST(ParseSchema, TypeThatContainsItselfIsNotImplemented) {
  auto status = ParseSchema(R"({"type":"record","name":"node","fields":[{"name":"next","type":["null","node"]}]})");
  EXPECT_TRUE(status.status().IsNotImplemented());
  EXPECT_THAT(status.status().message(), HasSubstr("'node'"));
}

TEST(ParseSchema, NestingIsLimited) {
  std::string json;
  for (int i = 0; i < 50000; ++i) json += R"({"type":"array","items":)";
  json += "\"int\"" + std::string(50000, '}');
  EXPECT_THAT(ErrorOf(json), HasSubstr("nested deeper"));
  EXPECT_TRUE(ParseSchema(std::string(100000, '[')).status().IsInvalid());
}

TEST(ParseSchema, TypesThatMultiplyAreLimited) {
  std::string json = R"({"type":"record","name":"r0","fields":[]})";
  for (int i = 1; i < 40; ++i) {
    auto name = "r" + std::to_string(i), before = "r" + std::to_string(i - 1);
    json = R"({"type":"record","name":")" + name + R"(","fields":[{"name":"a","type":)" + json +
           R"(},{"name":"b","type":")" + before + R"("}]})";
  }
  EXPECT_THAT(ErrorOf(json), HasSubstr("more than 65536 values"));
}

TEST(SchemaSizes, AreLowerBounds) {
  EXPECT_EQ(Parsed("\"null\"")->min_size_bytes(), 0u);
  EXPECT_EQ(Parsed("[\"null\",\"double\"]")->min_size_bytes(), 1u);
  auto record = Parsed(R"({"type":"record","name":"r","fields":[{"name":"a","type":"double"},
      {"name":"b","type":{"type":"fixed","name":"f","size":7}},{"name":"c","type":"string"}]})");
  EXPECT_EQ(record->min_size_bytes(), 16u);
  EXPECT_EQ(record->values_count(), 4u);
}

TEST(ToJsonText, IsWhatWasParsed) {
  for (
      std::string_view json :
      {R"("int")", R"({"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true})",
       R"(["null",{"type":"fixed","name":"d","size":5,"logicalType":"decimal","precision":10,"scale":2}])",
       R"({"type":"map","values":"int","key-id":11,"value-id":12})",
       R"({"type":"enum","name":"e","symbols":["A","B"]})",
       R"({"type":"record","name":"a.b.r","fields":[{"name":"f","type":)"
       R"({"type":"fixed","name":"f","namespace":"","size":1}}]})",
       R"({"type":"record","name":"r","fields":[{"name":"a","type":["null","int"],"doc":"d","default":null,"field-id":1},)"
       R"({"name":"_x23","type":{"type":"array","items":{"type":"fixed","name":"f","size":1},"element-id":3},)"
       R"("field-id":2,"iceberg-field-name":"#"},{"name":"c","type":"f"}]})"}) {
    EXPECT_EQ(ToJsonText(*Parsed(json)), json);
  }
}

}  // namespace
}  // namespace calve::avro
