#include "calve/catalog/partition_by.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve {
namespace {

using iceberg::Field;
using iceberg::Primitive;
using iceberg::TypeId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

iceberg::Schema TestSchema() {
  iceberg::Schema schema;
  schema.fields = {{1, "id", false, Primitive(TypeId::kLong)},
                   {2, "ts", false, Primitive(TypeId::kTimestamp)},
                   {3, "name", false, Primitive(TypeId::kString)},
                   {4, "cat", false, Primitive(TypeId::kString)},
                   {5, "at", false, iceberg::Struct({{8, "city", false, Primitive(TypeId::kString)}})},
                   {6, "tags", false, iceberg::List(Field{9, "element", false, Primitive(TypeId::kString)})},
                   {7, "odd, name", false, Primitive(TypeId::kInt)},
                   {10, "ts_day", false, Primitive(TypeId::kInt)}};
  return schema;
}

std::vector<std::string> Fields(std::string_view text) {
  auto spec = ParsePartitionBy(text, TestSchema());
  EXPECT_TRUE(spec.ok()) << text << ": " << spec.status();
  std::vector<std::string> fields;
  if (!spec.ok()) return fields;
  EXPECT_EQ(spec->spec_id, 0);
  for (const auto& field : spec->fields) {
    EXPECT_EQ(field.field_id, 1000 + static_cast<int>(fields.size()));
    fields.push_back(fmt::format("{}={}({})", field.name, field.transform.text, field.source_id));
  }
  return fields;
}

std::string ErrorOf(std::string_view text) {
  arrow::Status status = ParsePartitionBy(text, TestSchema()).status();
  EXPECT_TRUE(status.IsInvalid()) << text << ": " << status;
  return status.message();
}

TEST(PartitionBy, TransformsAsMetadataSpellsThem) {
  EXPECT_THAT(Fields("bucket[16](id), truncate [4] ( name )"),
              ElementsAre("id_bucket=bucket[16](1)", "name_trunc=truncate[4](3)"));
  EXPECT_THAT(ErrorOf("bucket[x](id)"), HasSubstr("bucket[]"));
  EXPECT_THAT(ErrorOf("day[3](ts)"), HasSubstr("day[]"));
  EXPECT_THAT(ErrorOf("bucket[3](4, id)"), HasSubstr("expected ')'"));
  EXPECT_THAT(ErrorOf("bucket[3"), HasSubstr("expected ']'"));
  EXPECT_THAT(ErrorOf("bucket[0](id)"), HasSubstr("bucket"));
}

TEST(PartitionBy, Transforms) {
  EXPECT_THAT(Fields(""), ElementsAre());
  EXPECT_THAT(Fields("  "), ElementsAre());
  EXPECT_THAT(
      Fields("hour(ts), bucket(16, id), truncate(4, name), cat"),
      ElementsAre("ts_hour=hour(2)", "id_bucket=bucket[16](1)", "name_trunc=truncate[4](3)", "cat=identity(4)"));
  EXPECT_THAT(Fields("years(ts)"), ElementsAre("ts_year=year(2)"));
  EXPECT_THAT(Fields("MONTH( ts )"), ElementsAre("ts_month=month(2)"));
  EXPECT_THAT(Fields("bucket(id,16)"), ElementsAre("id_bucket=bucket[16](1)"));
  EXPECT_THAT(Fields("identity(cat)"), ElementsAre("cat=identity(4)"));
  EXPECT_THAT(Fields("at.city"), ElementsAre("at.city=identity(8)"));
  EXPECT_THAT(Fields("`odd, name`, \"cat\""), ElementsAre("odd, name=identity(7)", "cat=identity(4)"));
}

TEST(PartitionBy, Wrong) {
  EXPECT_THAT(ErrorOf("nope"), HasSubstr("no column 'nope'"));
  EXPECT_THAT(ErrorOf("weekly(ts)"), HasSubstr("unknown transform 'weekly'"));
  EXPECT_THAT(ErrorOf("cat,"), HasSubstr("a field after ','"));
  EXPECT_THAT(ErrorOf("cat cat"), HasSubstr("expected ',' at character 5"));
  EXPECT_THAT(ErrorOf("bucket(id)"), HasSubstr("expected ','"));
  EXPECT_THAT(ErrorOf("bucket(id, name)"), HasSubstr("takes a number and a column"));
  EXPECT_THAT(ErrorOf("bucket(0, id)"), HasSubstr("bucket[0]"));
  EXPECT_THAT(ErrorOf("bucket(99999999999, id)"), HasSubstr("99999999999"));
  EXPECT_THAT(ErrorOf("hour(ts"), HasSubstr("expected ')'"));
  EXPECT_THAT(ErrorOf("`cat"), HasSubstr("does not end"));
  EXPECT_THAT(ErrorOf("at"), HasSubstr("cannot be partitioned by"));
  EXPECT_THAT(ErrorOf("tags.element"), HasSubstr("inside a list"));
  EXPECT_THAT(ErrorOf("cat, cat"), HasSubstr("two fields would be named 'cat'"));
  EXPECT_THAT(ErrorOf("day(ts)"), HasSubstr("'ts_day' has the name of a column"));
  EXPECT_THAT(ErrorOf("hour(id)"), HasSubstr("hour of column 'id'"));
  EXPECT_THAT(ErrorOf("()"), HasSubstr("expected a name"));
}

TEST(PartitionBy, EveryPrefixIsSafe) {
  const std::string text = "hour(ts), bucket(16, id), truncate(4, `name`), cat";
  for (size_t size = 0; size <= text.size(); ++size) {
    ARROW_UNUSED(ParsePartitionBy(text.substr(0, size), TestSchema()));
    ARROW_UNUSED(ParsePartitionBy(text.substr(size), TestSchema()));
  }
  EXPECT_EQ(Fields(text).size(), 4u);
}

}  // namespace
}  // namespace calve
