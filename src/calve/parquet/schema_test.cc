#include "calve/parquet/schema.h"

#include "calve/parquet/selection.h"

#include <arrow/extension/uuid.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

namespace calve::parquet {
namespace {

using arrow::field;
using arrow::list;
using arrow::utf8;
using Kind = LogicalType::Kind;

SchemaElement Group(std::string name, Repetition repetition, int children,
                    std::optional<ConvertedType> converted = {}) {
  SchemaElement element;
  element.name = std::move(name);
  element.repetition = repetition;
  element.num_children = children;
  element.converted_type = converted;
  return element;
}

SchemaElement Leaf(std::string name, Repetition repetition, PhysicalType type, Kind kind = Kind::kNone) {
  SchemaElement element;
  element.name = std::move(name);
  element.repetition = repetition;
  element.type = type;
  element.logical_type.kind = kind;
  return element;
}

constexpr auto kRequired = Repetition::kRequired, kOptional = Repetition::kOptional;
constexpr auto kRepeatedField = Repetition::kRepeated;
constexpr auto kBytes = PhysicalType::kByteArray;
constexpr auto kInt = PhysicalType::kInt32;

/// The Arrow schema of fields under a root, as text.
std::string ArrowOf(std::vector<SchemaElement> fields, int count = 1) {
  fields.insert(fields.begin(), Group("root", kRequired, count));
  auto schema = FileSchema::Make(fields);
  return schema.ok() ? schema->arrow_schema->ToString() : schema.status().ToString();
}

std::string Text(arrow::FieldVector fields) { return arrow::schema(std::move(fields))->ToString(); }

TEST(FileSchema, ListOfThreeLevels) {
  EXPECT_EQ(ArrowOf({Group("l", kOptional, 1, ConvertedType::kList), Group("list", kRepeatedField, 1),
                     Leaf("element", kOptional, kBytes, Kind::kString)}),
            Text({field("l", list(field("element", utf8())))}));
}

TEST(FileSchema, ALogicalTypeThatNoGroupHasLeavesTheConvertedType) {
  SchemaElement group = Group("l", kOptional, 1, ConvertedType::kList);
  for (const Kind kind : {Kind::kUnknown, Kind::kString, Kind::kJson}) {
    group.logical_type.kind = kind;
    EXPECT_EQ(ArrowOf({group, Group("list", kRepeatedField, 1), Leaf("element", kOptional, kBytes, Kind::kString)}),
              Text({field("l", list(field("element", utf8())))}));
  }
}

TEST(FileSchema, ListRule1RepeatedPrimitive) {
  EXPECT_EQ(ArrowOf({Group("l", kOptional, 1, ConvertedType::kList), Leaf("element", kRepeatedField, kInt)}),
            Text({field("l", list(field("element", arrow::int32(), false)))}));
}

TEST(FileSchema, ListRule2RepeatedGroupOfTwo) {
  EXPECT_EQ(
      ArrowOf({Group("l", kOptional, 1, ConvertedType::kList), Group("element", kRepeatedField, 2),
               Leaf("str", kRequired, kBytes, Kind::kString), Leaf("num", kRequired, kInt)}),
      Text({field(
          "l", list(field("element", arrow::struct_({field("str", utf8(), false), field("num", arrow::int32(), false)}),
                          false)))}));
}

TEST(FileSchema, ListRule3ListInList) {
  EXPECT_EQ(ArrowOf({Group("l", kOptional, 1, ConvertedType::kList),
                     Group("array", kRepeatedField, 1, ConvertedType::kList), Leaf("array", kRepeatedField, kInt)}),
            Text({field("l", list(field("array", list(field("array", arrow::int32(), false)), false)))}));
}

TEST(FileSchema, ListRule4ArrayAndTuple) {
  for (const char* name : {"array", "l_tuple"}) {
    EXPECT_EQ(ArrowOf({Group("l", kOptional, 1, ConvertedType::kList), Group(name, kRepeatedField, 1),
                       Leaf("str", kRequired, kBytes, Kind::kString)}),
              Text({field("l", list(field(name, arrow::struct_({field("str", utf8(), false)}), false)))}));
  }
}

TEST(FileSchema, ListRule5OtherNames) {
  EXPECT_EQ(ArrowOf({Group("l", kOptional, 1, ConvertedType::kList), Group("element", kRepeatedField, 1),
                     Leaf("str", kOptional, kBytes, Kind::kString)}),
            Text({field("l", list(field("str", utf8())))}));
}

TEST(FileSchema, BareRepeatedIsARequiredList) {
  EXPECT_EQ(ArrowOf({Leaf("num", kRepeatedField, kInt)}),
            Text({field("num", list(field("num", arrow::int32(), false)), false)}));
}

TEST(FileSchema, Maps) {
  for (auto converted : {ConvertedType::kMap, ConvertedType::kMapKeyValue}) {
    EXPECT_EQ(ArrowOf({Group("m", kOptional, 1, converted), Group("map", kRepeatedField, 2),
                       Leaf("str", kRequired, kBytes, Kind::kString), Leaf("num", kOptional, kInt)}),
              Text({field(
                  "m", std::make_shared<arrow::MapType>(field("str", utf8(), false), field("num", arrow::int32())))}));
  }
}

TEST(FileSchema, MapWithoutValuesIsAListOfKeys) {
  EXPECT_EQ(ArrowOf({Group("m", kOptional, 1, ConvertedType::kMap), Group("key_value", kRepeatedField, 1),
                     Leaf("key", kRequired, kInt)}),
            Text({field("m", list(field("key", arrow::int32(), false)))}));
}

TEST(FileSchema, LevelsOfNestedNodes) {
  // optional list of optional struct { optional list of optional int }
  auto schema = FileSchema::Make({Group("root", kRequired, 1), Group("a", kOptional, 1, ConvertedType::kList),
                                  Group("list", kRepeatedField, 1), Group("element", kOptional, 1),
                                  Group("b", kOptional, 1, ConvertedType::kList), Group("list", kRepeatedField, 1),
                                  Leaf("element", kOptional, kInt)});
  ASSERT_TRUE(schema.ok()) << schema.status();
  const ArrowNode& a = schema->fields[0];
  EXPECT_EQ(a.exists_level, 0);
  EXPECT_EQ(a.present_level, 1);
  EXPECT_EQ(a.element_level, 2);
  EXPECT_EQ(a.repetition_level, 1);
  const ArrowNode& element = a.children[0];
  EXPECT_EQ(element.exists_level, 2);
  EXPECT_EQ(element.present_level, 3);
  const ArrowNode& b = element.children[0];
  EXPECT_EQ(b.exists_level, 2);
  EXPECT_EQ(b.present_level, 4);
  EXPECT_EQ(b.element_level, 5);
  EXPECT_EQ(b.repetition_level, 2);
  const ArrowNode& leaf = b.children[0];
  EXPECT_EQ(leaf.exists_level, 5);
  EXPECT_EQ(leaf.present_level, 6);
  EXPECT_EQ(schema->leaves[0].max_definition_level, 6);
  EXPECT_EQ(schema->leaves[0].max_repetition_level, 2);
  EXPECT_EQ(schema->leaves[0].dotted_path(), "a.list.element.b.list.element");
}

TEST(FileSchema, RefusesTreesThatDoNotAddUp) {
  EXPECT_EQ(FileSchema::Make({}).status().message(), "the schema has no root");
  EXPECT_EQ(FileSchema::Make({Group("root", kRequired, 2), Leaf("a", kRequired, kInt)}).status().message(),
            "schema group 'root' has 2 fields, 1 elements are left");
  EXPECT_EQ(FileSchema::Make({Group("root", kRequired, 1), Leaf("a", kRequired, kInt), Leaf("b", kRequired, kInt)})
                .status()
                .message(),
            "the schema lists 3 elements, its tree has 2");
  EXPECT_EQ(FileSchema::Make({Group("root", kRequired, 1), Group("g", kRequired, 0)}).status().message(),
            "schema group 'g' has no fields");
  std::vector<SchemaElement> deep(1000, Group("g", kRequired, 1));
  EXPECT_EQ(FileSchema::Make(deep).status().message(), "the schema is nested deeper than 100 levels");
}

TEST(FileSchema, RefusesPathsThatTakeFarMoreThanTheirNames) {
  constexpr int kGroups = 90, kLeaves = 2000;
  std::vector<SchemaElement> elements(kGroups, Group(std::string(1000, 'g'), kRequired, 1));
  elements.back().num_children = kLeaves;
  elements.insert(elements.end(), kLeaves, Leaf("a", kRequired, kInt));
  auto status = FileSchema::Make(elements).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_TRUE(status.message().starts_with("the paths of the first ")) << status.message();
  // As deep, with names of an ordinary length.
  for (SchemaElement& element : elements) element.name = "name";
  ASSERT_TRUE(FileSchema::Make(elements).ok());
}

TEST(FileSchema, RefusesAnAnnotationOnTheWrongType) {
  EXPECT_EQ(ArrowOf({Leaf("a", kRequired, kInt, Kind::kString)}), "Invalid: column 'a': STRING cannot annotate INT32");
  EXPECT_EQ(ArrowOf({Leaf("a", kRequired, PhysicalType::kFixedLenByteArray, Kind::kUuid)}),
            "Invalid: column 'a': UUID cannot annotate FIXED_LEN_BYTE_ARRAY(0)");
}

TEST(FileSchema, FieldIdsAreKept) {
  auto leaf = Leaf("a", kRequired, kInt);
  leaf.field_id = 7;
  auto schema = FileSchema::Make({Group("root", kRequired, 1), leaf});
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ(schema->arrow_schema->field(0)->metadata()->ToString(), "\n-- metadata --\nPARQUET:field_id: 7");
  EXPECT_EQ(LeavesOfFieldId(*schema, 7), std::vector<int>{0});
  EXPECT_TRUE(LeavesOfFieldId(*schema, 8).empty());
}

/// s { x, y }, m map<string, struct { p, q }>, "d.x"
FileSchema ForSelection() {
  auto schema = FileSchema::Make({Group("root", kRequired, 3), Group("s", kOptional, 2), Leaf("x", kRequired, kInt),
                                  Leaf("y", kOptional, kInt), Group("m", kOptional, 1, ConvertedType::kMap),
                                  Group("key_value", kRepeatedField, 2), Leaf("key", kRequired, kBytes, Kind::kString),
                                  Group("value", kOptional, 2), Leaf("p", kRequired, kInt), Leaf("q", kRequired, kInt),
                                  Leaf("d.x", kRequired, kInt)});
  return schema.ValueOrDie();
}

TEST(Selection, FindsLeavesByName) {
  const FileSchema schema = ForSelection();
  EXPECT_EQ(LeavesOfName(schema, "s").ValueOrDie(), (std::vector<int>{0, 1}));
  EXPECT_EQ(LeavesOfName(schema, "s.y").ValueOrDie(), (std::vector<int>{1}));
  EXPECT_EQ(LeavesOfName(schema, "m.value.q").ValueOrDie(), (std::vector<int>{4}));
  EXPECT_EQ(LeavesOfName(schema, "d.x").ValueOrDie(), (std::vector<int>{5}));
  EXPECT_EQ(LeavesOfName(schema, "s.z").status().message(),
            "no column 's.z'; there are: s.x, s.y, m.key, m.value.p, m.value.q, d.x");
}

TEST(Selection, PrunesStructsAndKeepsMapKeys) {
  const FileSchema schema = ForSelection();
  auto selection = Select(schema, {1, 4});
  ASSERT_TRUE(selection.ok()) << selection.status();
  EXPECT_EQ(selection->leaves, (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(selection->schema.arrow_schema->ToString(),
            Text({field("s", arrow::struct_({field("y", arrow::int32())})),
                  field("m", std::make_shared<arrow::MapType>(
                                 field("key", utf8(), false),
                                 field("value", arrow::struct_({field("q", arrow::int32(), false)}))))}));
  EXPECT_EQ(Select(schema, {2})->leaves, (std::vector<int>{2, 3, 4}));
}

TEST(Selection, RefusesWhatIsNoColumn) {
  const FileSchema schema = ForSelection();
  EXPECT_EQ(Select(schema, {6}).status().message(), "column index 6 out of range (the file has 6 columns)");
  EXPECT_EQ(Select(schema, {1, 1}).status().message(), "the column indices to read are not sorted");
}

}  // namespace
}  // namespace calve::parquet
