#include "json_arrays.h"
#include "read_parquet.h"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/io/memory.h>
#include <arrow/type.h>
#include <gtest/gtest.h>
#include <parquet/api/writer.h>

// The shapes of lists and maps that older writers left ("Lists" and "Maps" of the specification's LogicalTypes, with
// their backward-compatibility rules), written level by level with libparquet's low-level writer. All leaves are INT32.

namespace calve {
namespace {

using arrow::field;
using arrow::int32;
using arrow::list;
using arrow::struct_;
using ::parquet::ConvertedType;
using ::parquet::Repetition;
using ::parquet::schema::GroupNode;
using ::parquet::schema::NodePtr;

constexpr auto kRequired = Repetition::REQUIRED, kOptional = Repetition::OPTIONAL, kRepeated = Repetition::REPEATED;

NodePtr Leaf(const std::string& name, Repetition::type repetition) {
  return ::parquet::schema::PrimitiveNode::Make(name, repetition, ::parquet::Type::INT32);
}
NodePtr Group(const std::string& name, Repetition::type repetition, const std::vector<NodePtr>& fields,
              ConvertedType::type annotation = ConvertedType::NONE) {
  return GroupNode::Make(name, repetition, fields, annotation);
}

/// The entries of a column.
struct Column {
  std::vector<int16_t> definition, repetition;
  std::vector<int32_t> values;
};

std::shared_ptr<arrow::Buffer> Write(const NodePtr& node, const std::vector<Column>& columns) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto root = std::static_pointer_cast<GroupNode>(Group("root", kRequired, {node}));
  auto writer = ::parquet::ParquetFileWriter::Open(sink, root);
  auto* group = writer->AppendRowGroup();
  for (const Column& column : columns) {
    auto* out = static_cast<::parquet::Int32Writer*>(group->NextColumn());
    out->WriteBatch(static_cast<int64_t>(column.definition.size()), column.definition.data(), column.repetition.data(),
                    column.values.data());
  }
  writer->Close();
  return sink->Finish().ValueOrDie();
}

/// What calve reads of the one field is `json` of `type`.
void Expect(const NodePtr& node, const std::vector<Column>& columns, const std::shared_ptr<arrow::DataType>& type,
            const std::string& json) {
  const auto bytes = Write(node, columns);
  for (int64_t rows : {100, 1}) {
    ParquetReadOptions options;
    options.batch_rows = rows;
    const auto got = testing::ReadWithCalve(bytes, options);
    ASSERT_TRUE(got.ok()) << got.status();
    testing::ExpectArray(*arrow::Concatenate((*got)->column(0)->chunks()).ValueOrDie(), type, json);
  }
}

/// [1, 2], [], null in a list whose elements are never null: levels 2 element, 1 empty, 0 null.
const Column kOneTwo = {{2, 2, 1, 0}, {0, 1, 0, 0}, {1, 2}};

TEST(LegacyLists, ThreeLevelsUnderAnyNames) {
  const Column column = {{3, 2, 1, 0}, {0, 1, 0, 0}, {1}};
  for (const char* middle : {"list", "bag", "list_of_x"}) {
    Expect(Group("l", kOptional, {Group(middle, kRepeated, {Leaf("array_element", kOptional)})}, ConvertedType::LIST),
           {column}, list(int32()), "[[1, null], [], null]");
  }
}

TEST(LegacyLists, Rule1RepeatedLeaf) {
  Expect(Group("l", kOptional, {Leaf("element", kRepeated)}, ConvertedType::LIST), {kOneTwo},
         list(field("element", int32(), false)), "[[1, 2], [], null]");
}

TEST(LegacyLists, Rule2RepeatedGroupOfSeveralFields) {
  const Column b = {{2, 3, 1, 0}, {0, 1, 0, 0}, {7}};
  Expect(Group("l", kOptional, {Group("element", kRepeated, {Leaf("a", kRequired), Leaf("b", kOptional)})},
               ConvertedType::LIST),
         {kOneTwo, b}, list(field("element", struct_({field("a", int32(), false), field("b", int32())}), false)),
         R"([[{"a": 1, "b": null}, {"a": 2, "b": 7}], [], null])");
}

TEST(LegacyLists, Rule3RepeatedGroupAroundARepeatedField) {
  // [[1, 2], []], [], null
  const Column column = {{3, 3, 2, 1, 0}, {0, 2, 1, 0, 0}, {1, 2}};
  Expect(Group("l", kOptional, {Group("array", kRepeated, {Leaf("array", kRepeated)}, ConvertedType::LIST)},
               ConvertedType::LIST),
         {column}, list(field("array", list(field("array", int32(), false)), false)), "[[[1, 2], []], [], null]");
  // Without the inner annotation the group is the element, and its field a list of its own.
  Expect(Group("l", kOptional, {Group("list", kRepeated, {Leaf("item", kRepeated)})}, ConvertedType::LIST), {column},
         list(field("list", struct_({field("item", list(field("item", int32(), false)), false)}), false)),
         R"([[{"item": [1, 2]}, {"item": []}], [], null])");
}

TEST(LegacyLists, Rule4ArrayAndTuple) {
  for (const char* name : {"array", "l_tuple"}) {
    Expect(Group("l", kOptional, {Group(name, kRepeated, {Leaf("a", kRequired)})}, ConvertedType::LIST), {kOneTwo},
           list(field(name, struct_({field("a", int32(), false)}), false)), R"([[{"a": 1}, {"a": 2}], [], null])");
  }
  // Another list's tuple is no element.
  Expect(Group("l", kOptional, {Group("m_tuple", kRepeated, {Leaf("a", kRequired)})}, ConvertedType::LIST), {kOneTwo},
         list(field("a", int32(), false)), "[[1, 2], [], null]");
}

TEST(LegacyLists, RepeatedWithoutAnnotation) {
  const Column column = {{1, 1, 0, 1}, {0, 1, 0, 0}, {1, 2, 3}};
  Expect(Leaf("l", kRepeated), {column}, list(field("l", int32(), false)), "[[1, 2], [], [3]]");
  Expect(Group("l", kRepeated, {Leaf("a", kRequired)}), {column},
         list(field("l", struct_({field("a", int32(), false)}), false)), R"([[{"a": 1}, {"a": 2}], [], [{"a": 3}]])");
}

TEST(LegacyLists, RequiredListOfOptionalElements) {
  const Column column = {{2, 1, 0}, {0, 1, 0}, {1}};
  Expect(Group("l", kRequired, {Group("list", kRepeated, {Leaf("element", kOptional)})}, ConvertedType::LIST), {column},
         list(int32()), "[[1, null], []]");
}

/// {1: 10, 2: null}, {}, null
const Column kKeys = {{2, 2, 1, 0}, {0, 1, 0, 0}, {1, 2}}, kValues = {{3, 2, 1, 0}, {0, 1, 0, 0}, {10}};
constexpr char kEntries[] = "[[[1, 10], [2, null]], [], null]";

TEST(LegacyMaps, EntriesOfAnyName) {
  for (const char* middle : {"key_value", "map", "entries"}) {
    Expect(Group("m", kOptional, {Group(middle, kRepeated, {Leaf("k", kRequired), Leaf("v", kOptional)})},
                 ConvertedType::MAP),
           {kKeys, kValues}, arrow::map(int32(), int32()), kEntries);
  }
}

TEST(LegacyMaps, EntriesAnnotatedMapKeyValue) {
  Expect(
      Group("m", kOptional,
            {Group("map", kRepeated, {Leaf("key", kRequired), Leaf("value", kOptional)}, ConvertedType::MAP_KEY_VALUE)},
            ConvertedType::MAP),
      {kKeys, kValues}, arrow::map(int32(), int32()), kEntries);
}

TEST(LegacyMaps, TheGroupAnnotatedMapKeyValue) {
  Expect(Group("m", kOptional, {Group("map", kRepeated, {Leaf("key", kRequired), Leaf("value", kOptional)})},
               ConvertedType::MAP_KEY_VALUE),
         {kKeys, kValues}, arrow::map(int32(), int32()), kEntries);
}

TEST(LegacyMaps, WithoutValuesAreSetsOfKeys) {
  Expect(Group("m", kOptional, {Group("key_value", kRepeated, {Leaf("key", kRequired)})}, ConvertedType::MAP), {kKeys},
         list(field("key", int32(), false)), "[[1, 2], [], null]");
}

TEST(LegacyMaps, OptionalKeysAreReadWhileNoneIsNull) {
  const auto map =
      Group("m", kOptional, {Group("key_value", kRepeated, {Leaf("key", kOptional), Leaf("value", kOptional)})},
            ConvertedType::MAP);
  const Column keys = {{3, 3, 1, 0}, {0, 1, 0, 0}, {1, 2}}, null_key = {{3, 2, 1, 0}, {0, 1, 0, 0}, {1}};
  Expect(map, {keys, kValues}, arrow::map(int32(), int32()), kEntries);
  const auto got = testing::ReadWithCalve(Write(map, {null_key, kValues}));
  EXPECT_TRUE(got.status().IsInvalid());
  EXPECT_NE(got.status().message().find("map 'm' has a null key"), std::string::npos) << got.status();
}

TEST(LegacyMaps, RequiredValues) {
  Expect(Group("m", kOptional, {Group("key_value", kRepeated, {Leaf("key", kRequired), Leaf("value", kRequired)})},
               ConvertedType::MAP),
         {kKeys, {{2, 2, 1, 0}, {0, 1, 0, 0}, {10, 20}}},
         std::make_shared<arrow::MapType>(int32(), field("value", int32(), false)), "[[[1, 10], [2, 20]], [], null]");
}

TEST(LegacyShapes, AnnotationsThatDoNotFitAreStructs) {
  // LIST around a group that is not repeated; a MAP of three.
  Expect(Group("l", kOptional, {Leaf("a", kOptional)}, ConvertedType::LIST), {{{2, 1, 0}, {0, 0, 0}, {1}}},
         struct_({field("a", int32())}), R"([{"a": 1}, {"a": null}, null])");
}

}  // namespace
}  // namespace calve
