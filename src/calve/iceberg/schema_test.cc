#include "calve/iceberg/schema.h"

#include "calve/iceberg/json_members.h"

#include <arrow/extension/uuid.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::iceberg {
namespace {

using ::testing::HasSubstr;

constexpr char kNested[] = R"json({"type":"struct","schema-id":3,"identifier-field-ids":[1],"fields":[
  {"id":1,"name":"id","required":true,"type":"long","doc":"key"},
  {"id":2,"name":"st","required":false,"type":{"type":"struct","fields":[
     {"id":5,"name":"a","required":false,"type":"int","initial-default":7,"write-default":8},
     {"id":6,"name":"b.c","required":true,"type":"decimal(9, 2)"}]}},
  {"id":3,"name":"li","required":false,"type":{"type":"list","element-id":7,"element-required":true,"element":"fixed[5]"}},
  {"id":4,"name":"mp","required":false,"type":{"type":"map","key-id":8,"key":"string","value-id":9,
     "value-required":false,"value":{"type":"struct","fields":[{"id":10,"name":"x","required":false,"type":"timestamptz_ns"}]}}}
]})json";

Schema Parsed(std::string_view text) {
  auto json = ParseJson(text);
  EXPECT_TRUE(json.ok()) << json.status().ToString();
  auto schema = SchemaFromJson(*json);
  EXPECT_TRUE(schema.ok()) << schema.status().ToString();
  return schema.ok() ? *schema : Schema{};
}

std::string ErrorOf(std::string_view text) {
  auto json = ParseJson(text);
  if (!json.ok()) return json.status().message();
  auto schema = SchemaFromJson(*json);
  return schema.ok() ? "" : schema.status().message();
}

std::string WithField(const std::string& field) { return R"({"type":"struct","fields":[)" + field + "]}"; }

TEST(Schema, JsonRoundTrip) {
  const Schema schema = Parsed(kNested);
  EXPECT_EQ(ToJson(schema), *ParseJson(kNested));
  EXPECT_EQ(schema.schema_id, 3);
  EXPECT_EQ(schema.identifier_field_ids, std::vector<int>{1});
  EXPECT_EQ(schema.HighestFieldId(), 10);
}

TEST(Schema, FindsFieldsAtAnyDepth) {
  const Schema schema = Parsed(kNested);
  ASSERT_NE(schema.FindById(10), nullptr);
  EXPECT_EQ(schema.FindById(10)->name, "x");
  EXPECT_EQ(schema.NameOf(10), "mp.value.x");
  EXPECT_EQ(schema.NameOf(77), "");
  EXPECT_EQ(schema.FindById(77), nullptr);
  ASSERT_NE(schema.FindByName("st.b.c"), nullptr);
  EXPECT_EQ(schema.FindByName("st.b.c")->id, 6);
  EXPECT_EQ(schema.FindByName("li.element")->id, 7);
  EXPECT_EQ(schema.FindByName("mp.key")->id, 8);
  EXPECT_EQ(schema.FindByName("ID"), nullptr);
  EXPECT_EQ(schema.FindByName("st."), nullptr);
}

TEST(Schema, ErrorsNameTheFieldAndMember) {
  EXPECT_THAT(ErrorOf(WithField(R"json({"id":1,"required":true,"type":"int"})json")),
              HasSubstr("missing member 'name'"));
  EXPECT_EQ(ErrorOf(WithField(R"json({"id":1,"name":"a","required":true})json")), "field 'a': missing member 'type'");
  EXPECT_EQ(ErrorOf(WithField(R"json({"id":"1","name":"a","required":true,"type":"int"})json")),
            "field 'a': member 'id': expected an integer, got \"1\"");
  EXPECT_THAT(ErrorOf(WithField(R"json({"id":9999999999,"name":"a","required":true,"type":"int"})json")),
              HasSubstr("out of the range of 32-bit integers"));
  EXPECT_EQ(ErrorOf(WithField(R"json({"id":1,"name":"a","required":true,"type":"enum"})json")),
            "field 'a': type 'enum' is not known");
  EXPECT_EQ(ErrorOf(WithField(R"json({"id":1,"name":"a","required":true,"type":"decimal(39, 2)"})json")),
            "field 'a': type 'decimal(39, 2)': precision out of range (1 to 38)");
  EXPECT_EQ(ErrorOf(WithField(R"json({"id":1,"name":"a","required":true,"type":"int"},
                                 {"id":1,"name":"b","required":true,"type":"int"})json")),
            "field id 1 is used twice, by 'a' and 'b'");
  EXPECT_EQ(ErrorOf(WithField(R"json({"id":1,"name":"a","required":true,"type":"int"},
                                 {"id":2,"name":"a","required":true,"type":"int"})json")),
            "two fields are named 'a'");
  EXPECT_EQ(ErrorOf("[]"), "expected an object, got an array");
}

TEST(Schema, NestingIsBounded) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += R"({"type":"list","element":)";
  EXPECT_THAT(ErrorOf(text), HasSubstr("nested deeper than 512"));
}

TEST(Type, Names) {
  for (const char* name : {"boolean",
                           "int",
                           "long",
                           "float",
                           "double",
                           "date",
                           "time",
                           "timestamp",
                           "timestamptz",
                           "timestamp_ns",
                           "timestamptz_ns",
                           "string",
                           "uuid",
                           "binary",
                           "unknown",
                           "variant",
                           "geometry",
                           "geography",
                           "decimal(38, 0)",
                           "fixed[16]",
                           "geometry(srid:4326)",
                           "geography(OGC:CRS84, spherical)"}) {
    auto type = ParsePrimitive(name);
    ASSERT_TRUE(type.ok()) << name;
    EXPECT_EQ((*type)->ToString(), name);
  }
  EXPECT_EQ((*ParsePrimitive("decimal( 9 ,2 )"))->ToString(), "decimal(9, 2)");
  EXPECT_EQ((*ParsePrimitive("fixed [ 5 ]"))->length, 5);
  for (const char* name :
       {"decimal(9)", "decimal(0,0)", "decimal(3,4)", "fixed[0]", "fixed[-1]", "fixed[99999999999]"}) {
    EXPECT_TRUE(ParsePrimitive(name).status().IsInvalid()) << name;
  }
  for (const char* name : {"", "Int", "decimal", "fixed", "struct"}) {
    EXPECT_TRUE(ParsePrimitive(name).status().IsNotImplemented()) << name;
  }
}

TEST(Type, Promotions) {
  auto allowed = [](const char* from, const char* to) {
    return CanPromote(**ParsePrimitive(from), **ParsePrimitive(to));
  };
  EXPECT_TRUE(allowed("int", "long"));
  EXPECT_TRUE(allowed("float", "double"));
  EXPECT_TRUE(allowed("decimal(9,2)", "decimal(11,2)"));
  EXPECT_TRUE(allowed("date", "timestamp"));
  EXPECT_TRUE(allowed("date", "timestamp_ns"));
  EXPECT_TRUE(allowed("unknown", "string"));
  EXPECT_TRUE(allowed("fixed[3]", "fixed[3]"));
  EXPECT_FALSE(allowed("long", "int"));
  EXPECT_FALSE(allowed("decimal(9,2)", "decimal(11,3)"));
  EXPECT_FALSE(allowed("decimal(9,2)", "decimal(8,2)"));
  EXPECT_FALSE(allowed("date", "timestamptz"));
  EXPECT_FALSE(allowed("int", "string"));
  EXPECT_FALSE(allowed("fixed[3]", "fixed[4]"));
}

TEST(SchemaArrow, EveryTypeCarriesItsId) {
  const Schema schema = Parsed(kNested);
  auto arrow_schema = ToArrow(schema);
  ASSERT_TRUE(arrow_schema.ok()) << arrow_schema.status().ToString();
  const auto& field = *(*arrow_schema)->field(3);
  const auto& map = static_cast<const arrow::MapType&>(*field.type());
  EXPECT_EQ(*field.metadata()->Get("PARQUET:field_id"), "4");
  EXPECT_EQ(*map.key_field()->metadata()->Get("PARQUET:field_id"), "8");
  EXPECT_EQ(*map.item_field()->metadata()->Get("PARQUET:field_id"), "9");
  EXPECT_EQ(map.item_type()->field(0)->type()->ToString(), "timestamp[ns, tz=UTC]");
  EXPECT_EQ((*arrow_schema)->field(2)->type()->field(0)->name(), "element");
  EXPECT_FALSE((*arrow_schema)->field(0)->nullable());
  EXPECT_TRUE((*arrow_schema)->field(1)->nullable());
  EXPECT_TRUE(ToArrow(*Primitive(TypeId::kUuid)).ValueOrDie()->Equals(arrow::extension::uuid()));
  auto variant = ToArrow(*Primitive(TypeId::kVariant)).ValueOrDie();
  EXPECT_EQ(variant->ToString(), "extension<arrow.parquet.variant>");
  EXPECT_EQ(FromArrow(*arrow::schema({arrow::field("v", variant)}))->fields[0].type->id, TypeId::kVariant);
}

TEST(SchemaArrow, FromArrowNumbersALevelBeforeItsChildren) {
  auto inner = arrow::struct_({arrow::field("x", arrow::int8()), arrow::field("y", arrow::uint32(), false)});
  auto schema =
      FromArrow(*arrow::schema({arrow::field("s", inner), arrow::field("l", arrow::large_list(arrow::date64())),
                                arrow::field("m", arrow::map(arrow::utf8_view(), inner)),
                                arrow::field("t", arrow::timestamp(arrow::TimeUnit::MILLI, "Europe/Berlin"))}));
  ASSERT_TRUE(schema.ok()) << schema.status().ToString();
  EXPECT_EQ(schema->NameOf(4), "t");
  EXPECT_EQ(schema->NameOf(5), "s.x");
  EXPECT_EQ(schema->NameOf(6), "s.y");
  EXPECT_EQ(schema->NameOf(7), "l.element");
  EXPECT_EQ(schema->NameOf(8), "m.key");
  EXPECT_EQ(schema->NameOf(9), "m.value");
  EXPECT_EQ(schema->NameOf(10), "m.value.x");
  EXPECT_EQ(schema->FindById(5)->type->id, TypeId::kInt);
  EXPECT_EQ(schema->FindById(6)->type->id, TypeId::kLong);
  EXPECT_TRUE(schema->FindById(6)->required);
  EXPECT_EQ(schema->FindById(7)->type->id, TypeId::kDate);
  EXPECT_TRUE(schema->FindById(8)->required);
  EXPECT_EQ(schema->FindById(4)->type->id, TypeId::kTimestampTz);
}

TEST(SchemaArrow, FromArrowNamesWhatHasNoType) {
  auto type = arrow::struct_({arrow::field("u", arrow::uint64())});
  EXPECT_EQ(FromArrow(*arrow::schema({arrow::field("s", type)})).status().message(),
            "column 's.u': Iceberg has no type for Arrow's uint64");
  for (auto other :
       {arrow::time64(arrow::TimeUnit::NANO), arrow::decimal256(50, 2), arrow::duration(arrow::TimeUnit::SECOND)}) {
    EXPECT_TRUE(FromArrow(*arrow::schema({arrow::field("c", other)})).status().IsInvalid()) << other->ToString();
  }
}

TEST(NameMapping, SetsIdsAtEveryLevelAndTakesOthersAway) {
  auto mapping = NameMappingFromJson(R"([{"field-id":1,"names":["id","record_id"]},
    {"field-id":2,"names":["li"],"fields":[{"field-id":3,"names":["element"],"fields":[{"field-id":4,"names":["x"]}]}]},
    {"names":["nothing"]}])");
  ASSERT_TRUE(mapping.ok()) << mapping.status().ToString();
  auto old_id = arrow::key_value_metadata({"PARQUET:field_id"}, {"99"});
  auto item = arrow::field(
      "array", arrow::struct_({arrow::field("x", arrow::int32()), arrow::field("y", arrow::int32(), true, old_id)}));
  auto mapped = ApplyNameMapping(
      *mapping, *arrow::schema({arrow::field("record_id", arrow::int64()), arrow::field("li", arrow::list(item)),
                                arrow::field("nothing", arrow::int32(), true, old_id)}));
  auto id_of = [](const std::shared_ptr<arrow::Field>& field) {
    return field->HasMetadata() ? field->metadata()->Get("PARQUET:field_id").ValueOr("") : std::string();
  };
  EXPECT_EQ(id_of(mapped->field(0)), "1");
  EXPECT_EQ(id_of(mapped->field(1)), "2");
  EXPECT_EQ(id_of(mapped->field(1)->type()->field(0)), "3");
  EXPECT_EQ(mapped->field(1)->type()->field(0)->name(), "array");
  EXPECT_EQ(id_of(mapped->field(1)->type()->field(0)->type()->field(0)), "4");
  EXPECT_EQ(id_of(mapped->field(1)->type()->field(0)->type()->field(1)), "");
  EXPECT_EQ(id_of(mapped->field(2)), "");
}

TEST(NameMapping, InvalidWhenNoArray) {
  auto mapping = NameMappingFromJson(R"({"field-id":1,"names":["id"]})");
  EXPECT_TRUE(mapping.status().IsInvalid());
  EXPECT_EQ(mapping.status().message(), "name mapping: expected an array of field mappings, got an object");
  EXPECT_TRUE(NameMappingFromJson("[{\"names\":[1]}]").status().IsInvalid());
  EXPECT_TRUE(NameMappingFromJson("").status().IsInvalid());
}

TEST(NameMapping, OfASchemaRoundTrips) {
  const NameMapping mapping = MappingOf(Parsed(kNested));
  auto again = NameMappingFromJson(ToJsonText(mapping));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(ToJsonText(*again), ToJsonText(mapping));
  ASSERT_EQ(again->entries.size(), 4u);
  EXPECT_EQ(again->entries[3].fields[1].fields[0].field_id, 10);
}

}  // namespace
}  // namespace calve::iceberg
