#include "calve/pipeline/column_projection.h"

#include "calve/base/status.h"
#include "json_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace calve::pipeline {
namespace {

using iceberg::TypeId;
using testing::Batch;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IdField;

iceberg::Field Column(int id, const std::string& name, iceberg::TypePtr type, bool required = false) {
  iceberg::Field field;
  field.id = id;
  field.name = name;
  field.type = std::move(type);
  field.required = required;
  return field;
}

iceberg::Field WithDefault(iceberg::Field field, const nlohmann::json& value) {
  field.initial_default = std::make_shared<const nlohmann::json>(value);
  return field;
}

const auto kInt = iceberg::Primitive(TypeId::kInt);
const auto kLong = iceberg::Primitive(TypeId::kLong);
const auto kString = iceberg::Primitive(TypeId::kString);

std::vector<TargetField> Targets(const std::vector<iceberg::Field>& fields) {
  return TargetsOf(fields, DefaultKind::kInitial).ValueOrDie();
}

/// Keeps the columns of a batch that have these leaf indices, as a reader that prunes would. Flat schemas only.
std::shared_ptr<arrow::RecordBatch> Pruned(const std::shared_ptr<arrow::RecordBatch>& batch,
                                           const std::vector<int>& leaves) {
  return batch->SelectColumns(leaves).ValueOrDie();
}

std::shared_ptr<arrow::RecordBatch> Project(const std::shared_ptr<arrow::RecordBatch>& batch,
                                            const std::vector<TargetField>& targets, FileValues values = {},
                                            int64_t first_row = 0) {
  auto source = SourceSchema::OfArrow(*batch->schema(), "f.parquet");
  values.path = "f.parquet";
  auto projection = ColumnProjection::Make(source, targets, std::move(values), {.whole_source = true});
  EXPECT_TRUE(projection.ok()) << projection.status().ToString();
  if (!projection.ok()) return nullptr;
  auto result = projection->Apply(*batch, first_row, arrow::default_memory_pool());
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  if (!result.ok()) return nullptr;
  EXPECT_TRUE((*result)->ValidateFull().ok()) << (*result)->ValidateFull().ToString();
  return *result;
}

Status Refusal(const std::shared_ptr<arrow::Schema>& schema, const std::vector<iceberg::Field>& fields,
               const ProjectionRules& rules = {}) {
  return ColumnProjection::Make(SourceSchema::OfArrow(*schema, "f.parquet"), Targets(fields), {}, rules).status();
}

TEST(ColumnProjection, FindsColumnsByIdWhateverTheirNamesAndOrder) {
  auto batch = Batch(arrow::schema({IdField("old_name", arrow::int32(), 2), IdField("b", arrow::utf8(), 1)}),
                     R"([[1, "x"], [null, "y"]])");
  auto result = Project(batch, Targets({Column(1, "text", kString), Column(2, "renamed", kLong)}));
  ASSERT_NE(result, nullptr);
  testing::ExpectArray(*result->column(0), arrow::utf8(), R"(["x", "y"])");
  testing::ExpectArray(*result->column(1), arrow::int64(), "[1, null]");
}

TEST(ColumnProjection, ReadsOnlyTheLeavesItNeeds) {
  auto schema = arrow::schema(
      {IdField("a", arrow::int32(), 1), IdField("b", arrow::int32(), 2), IdField("c", arrow::int32(), 3)});
  auto projection = ColumnProjection::Make(SourceSchema::OfArrow(*schema, "f"),
                                           Targets({Column(3, "c", kInt), Column(1, "a", kInt)}), {});
  ASSERT_TRUE(projection.ok());
  EXPECT_THAT(projection->leaves(), ElementsAre(0, 2));
  auto batch = Pruned(Batch(schema, "[[1, 2, 3]]"), projection->leaves());
  auto result = projection->Apply(*batch, 0, arrow::default_memory_pool()).ValueOrDie();
  testing::ExpectArray(*result->column(0), arrow::int32(), "[3]");
  testing::ExpectArray(*result->column(1), arrow::int32(), "[1]");
}

TEST(ColumnProjection, DroppedAndAddedAgainIsNull) {
  auto batch = Batch(arrow::schema({IdField("a", arrow::int32(), 1), IdField("b", arrow::int32(), 2)}), "[[1, 2]]");
  auto result = Project(batch, Targets({Column(1, "a", kInt), Column(3, "b", kInt)}));
  ASSERT_NE(result, nullptr);
  testing::ExpectArray(*result->column(1), arrow::int32(), "[null]");
}

TEST(ColumnProjection, MissingColumnTakesPartitionValueThenDefaultThenNull) {
  auto batch = Batch(arrow::schema({IdField("a", arrow::int32(), 1)}), "[[1], [2]]");
  FileValues values;
  values.identity_partition[2] = std::string("p");
  auto result = Project(batch,
                        Targets({WithDefault(Column(2, "part", kString, true), "default"),
                                 WithDefault(Column(3, "added", kLong, true), 7), Column(4, "none", kLong)}),
                        values);
  ASSERT_NE(result, nullptr);
  testing::ExpectArray(*result->column(0), arrow::utf8(), R"(["p", "p"])");
  testing::ExpectArray(*result->column(1), arrow::int64(), "[7, 7]");
  testing::ExpectArray(*result->column(2), arrow::int64(), "[null, null]");
}

TEST(ColumnProjection, PartitionValueDoesNotReplaceAColumnThatIsThere) {
  auto batch = Batch(arrow::schema({IdField("part", arrow::int32(), 1)}), "[[1], [2]]");
  FileValues values;
  values.identity_partition[1] = int32_t{9};
  auto result = Project(batch, Targets({Column(1, "part", kInt)}), values);
  ASSERT_NE(result, nullptr);
  testing::ExpectArray(*result->column(0), arrow::int32(), "[1, 2]");
}

TEST(ColumnProjection, MissingRequiredColumnIsInvalid) {
  auto schema = arrow::schema({IdField("a", arrow::int32(), 1)});
  auto status = Refusal(schema, {Column(2, "needed", kInt, true)});
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("f.parquet lacks the required column 'needed'"));
}

TEST(ColumnProjection, TypesThatLoseAreInvalidAndNamed) {
  auto status = Refusal(arrow::schema({IdField("a", arrow::int64(), 1)}), {Column(1, "a", kInt)});
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("column 'a' is int64, which cannot become int32"));
  status = Refusal(arrow::schema({IdField("a", arrow::list(arrow::int64()), 1)}), {Column(1, "a", kLong)});
  EXPECT_TRUE(status.IsInvalid()) << status.ToString();
  status = Refusal(arrow::schema({IdField("a", arrow::int64(), 1)}),
                   {Column(1, "a", iceberg::List(Column(2, "element", kLong)))});
  EXPECT_TRUE(status.IsInvalid()) << status.ToString();
}

TEST(ColumnProjection, TwoColumnsWithOneIdAreInvalid) {
  auto status = Refusal(arrow::schema({IdField("a", arrow::int32(), 1), IdField("b", arrow::int32(), 1)}),
                        {Column(1, "a", kInt)});
  EXPECT_THAT(status.message(), HasSubstr("'a' and 'b' both have field id 1"));
}

TEST(ColumnProjection, StructsAreRearrangedByIdAtAnyDepth) {
  auto inner = arrow::struct_({IdField("y", arrow::int32(), 12), IdField("x", arrow::int32(), 11)});
  auto batch = Batch(arrow::schema({IdField("s", inner, 1)}), R"([[{"y": 1, "x": 2}], [null], [{"y": null, "x": 3}]])");
  auto target = iceberg::Struct({Column(11, "x", kLong), WithDefault(Column(13, "z", kInt), 5), Column(12, "w", kInt)});
  auto result = Project(batch, Targets({Column(1, "s", target)}));
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->column(0)->null_count(), 1);
  EXPECT_EQ(result->column(0)->GetScalar(0).ValueOrDie()->ToString(), "{x:int64 = 2, z:int32 = 5, w:int32 = 1}");
  EXPECT_EQ(result->column(0)->GetScalar(2).ValueOrDie()->ToString(), "{x:int64 = 3, z:int32 = 5, w:int32 = null}");
  auto sliced = Project(batch->Slice(1), Targets({Column(1, "s", target)}));
  ASSERT_NE(sliced, nullptr);
  EXPECT_TRUE(sliced->column(0)->IsNull(0));
  EXPECT_EQ(sliced->column(0)->GetScalar(1).ValueOrDie()->ToString(), "{x:int64 = 3, z:int32 = 5, w:int32 = null}");
}

TEST(ColumnProjection, ListsAndMapsOfStructsAreAdapted) {
  auto element = IdField("element", arrow::struct_({IdField("x", arrow::int32(), 3)}), 2);
  auto map = std::make_shared<arrow::MapType>(IdField("key", arrow::utf8(), 5, false),
                                              IdField("value", arrow::struct_({IdField("q", arrow::int32(), 7)}), 6));
  auto batch = Batch(arrow::schema({IdField("l", arrow::list(element), 1), IdField("m", map, 4)}),
                     R"([[[{"x": 1}, null], [["k", {"q": 8}]]], [null, null], [[], []]])");
  auto result = Project(
      batch,
      Targets({Column(4, "m",
                      iceberg::Map(Column(5, "key", kString, true),
                                   Column(6, "value", iceberg::Struct({Column(9, "n", kInt), Column(7, "q", kLong)})))),
               Column(1, "l", iceberg::List(Column(2, "element", iceberg::Struct({Column(3, "x", kLong)}))))}));
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->column(0)->null_count(), 1);
  EXPECT_THAT(result->column(0)->GetScalar(0).ValueOrDie()->ToString(), HasSubstr("q:int64 = 8"));
  EXPECT_THAT(result->column(0)->GetScalar(0).ValueOrDie()->ToString(), HasSubstr("n:int32 = null"));
  EXPECT_EQ(result->column(1)->null_count(), 1);
  EXPECT_THAT(result->column(1)->GetScalar(0).ValueOrDie()->ToString(), HasSubstr("x:int64 = 1"));
}

TEST(ColumnProjection, AStructWithoutAnyOfItsFieldsKeepsItsNulls) {
  auto inner = arrow::struct_(
      {IdField("l", arrow::list(IdField("element", arrow::int32(), 12)), 11), IdField("x", arrow::int32(), 13)});
  auto schema = arrow::schema({IdField("s", inner, 1)});
  auto projection = ColumnProjection::Make(SourceSchema::OfArrow(*schema, "f"),
                                           Targets({Column(1, "s", iceberg::Struct({Column(14, "new", kInt)}))}), {});
  ASSERT_TRUE(projection.ok());
  EXPECT_THAT(projection->leaves(), ElementsAre(1));  // the flat one, not the list's
  auto batch = Batch(arrow::schema({IdField("s", arrow::struct_({IdField("x", arrow::int32(), 13)}), 1)}),
                     R"([[null], [{"x": null}]])");
  auto result = projection->Apply(*batch, 0, arrow::default_memory_pool()).ValueOrDie();
  EXPECT_TRUE(result->column(0)->IsNull(0));
  EXPECT_TRUE(result->column(0)->IsValid(1));
}

TEST(ColumnProjection, RowLineageIsStoredOrInherited) {
  auto batch = Batch(arrow::schema({IdField("_row_id", arrow::int64(), iceberg::kRowIdFieldId),
                                    IdField("_last_updated_sequence_number", arrow::int64(),
                                            iceberg::kLastUpdatedSequenceNumberFieldId)}),
                     "[[100, 3], [null, null]]");
  FileValues values;
  values.first_row_id = 1000;
  values.sequence_number = 9;
  const std::vector<TargetField> targets = {*MetadataColumn("_row_id"),
                                            *MetadataColumn("_last_updated_sequence_number"), *MetadataColumn("_pos"),
                                            *MetadataColumn("_file")};
  auto result = Project(batch, targets, values, 50);
  ASSERT_NE(result, nullptr);
  testing::ExpectArray(*result->column(0), arrow::int64(), "[100, 1051]");
  testing::ExpectArray(*result->column(1), arrow::int64(), "[3, 9]");
  testing::ExpectArray(*result->column(2), arrow::int64(), "[50, 51]");
  testing::ExpectArray(*result->column(3), arrow::utf8(), R"(["f.parquet", "f.parquet"])");

  auto plain = Batch(arrow::schema({IdField("a", arrow::int32(), 1)}), "[[1], [2]]");
  result = Project(plain, targets, values, 2);
  ASSERT_NE(result, nullptr);
  testing::ExpectArray(*result->column(0), arrow::int64(), "[1002, 1003]");
  testing::ExpectArray(*result->column(1), arrow::int64(), "[9, 9]");
  values.first_row_id.reset();
  result = Project(plain, targets, values, 2);
  ASSERT_NE(result, nullptr);
  testing::ExpectArray(*result->column(0), arrow::int64(), "[null, null]");
  testing::ExpectArray(*result->column(1), arrow::int64(), "[null, null]");
}

TEST(ColumnProjection, RowsHereAndThereKeepTheirPositions) {
  auto batch = Batch(arrow::schema({IdField("a", arrow::int32(), 1)}), "[[1], [2], [3], [4]]");
  FileValues values;
  values.path = "f.parquet";
  values.first_row_id = 1000;
  const auto source = SourceSchema::OfArrow(*batch->schema(), "f.parquet");
  const auto projection =
      ColumnProjection::Make(source, {*MetadataColumn("_pos"), *MetadataColumn("_row_id")}, values).ValueOrDie();
  const std::vector<RowRange> rows = {{3, 4}, {9, 11}, {40, 41}};
  const auto result = projection.Apply(*batch, rows, arrow::default_memory_pool()).ValueOrDie();
  testing::ExpectArray(*result->column(0), arrow::int64(), "[3, 9, 10, 40]");
  testing::ExpectArray(*result->column(1), arrow::int64(), "[1003, 1009, 1010, 1040]");
}

TEST(ColumnProjection, FilesWithoutIdsAreMatchedByNameAndNeverSilentlyNull) {
  auto schema = arrow::schema({arrow::field("a", arrow::int32())});
  auto source = SourceSchema::OfArrow(*schema, "f.parquet");
  EXPECT_FALSE(source.has_ids());
  auto targets = Targets({Column(1, "a", kInt), Column(2, "b", kInt)});
  source.AssignIdsByName(targets);
  auto status = ColumnProjection::Make(source, targets, {}, {.missing_by_name_is_error = true}).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("no column 'b'"));
  FileValues values;
  values.identity_partition[2] = int32_t{4};
  EXPECT_TRUE(ColumnProjection::Make(source, targets, values, {.missing_by_name_is_error = true}).ok());
}

TEST(ColumnProjection, TensOfThousandsOfColumnsAreMatched) {
  constexpr int kColumns = 60000;
  arrow::FieldVector fields;
  for (int i = 0; i < kColumns; ++i) fields.push_back(arrow::field("c" + std::to_string(i), arrow::int32()));
  auto targets = TargetsOf(arrow::Schema(fields));
  std::reverse(targets.begin(), targets.end());
  auto source = SourceSchema::OfArrow(arrow::Schema(fields), "f.parquet");
  source.AssignIdsByName(targets);
  auto projection = ColumnProjection::Make(source, targets, {}, {});
  ASSERT_TRUE(projection.ok()) << projection.status();
  EXPECT_EQ(projection->leaves().size(), static_cast<size_t>(kColumns));
  EXPECT_EQ(projection->OriginOf(1)->leaf, 0);
  EXPECT_EQ(projection->OriginOf(kColumns)->leaf, kColumns - 1);
}

TEST(ColumnProjection, NameMappingGivesIdsAtEveryLevel) {
  auto schema = arrow::schema({arrow::field("l", arrow::list(arrow::field("array", arrow::int32()))),
                               arrow::field("s", arrow::struct_({arrow::field("old", arrow::int32())}))});
  auto source = SourceSchema::OfArrow(*schema, "f");
  auto mapping = iceberg::NameMappingFromJson(
      R"([{"field-id": 1, "names": ["l"], "fields": [{"field-id": 2, "names": ["element"]}]},
          {"field-id": 3, "names": ["s"], "fields": [{"field-id": 4, "names": ["new", "old"]}]}])");
  ASSERT_TRUE(mapping.ok()) << mapping.status().ToString();
  source.AssignIdsByMapping(*mapping, *schema);
  EXPECT_EQ(source.fields[0].id, 1);
  EXPECT_EQ(source.fields[0].children[0].id, 2);
  EXPECT_EQ(source.fields[1].children[0].id, 4);
}

TEST(ColumnProjection, ARequiredColumnThatTheMappingLeavesOutIsNullWhenAllowed) {
  auto schema = arrow::schema({arrow::field("a", arrow::int32())});
  auto source = SourceSchema::OfArrow(*schema, "f");
  source.AssignIdsByMapping(*iceberg::NameMappingFromJson("[]"), *schema);
  const auto targets = Targets({Column(1, "a", kInt, true)});
  EXPECT_TRUE(ColumnProjection::Make(source, targets, {}).status().IsInvalid());
  auto projection = ColumnProjection::Make(source, targets, {}, {.unmapped_is_null = true});
  ASSERT_TRUE(projection.ok()) << projection.status().ToString();
  EXPECT_TRUE(projection->is_null_though_required(0));
}

TEST(ColumnProjection, NullInARequiredColumnIsInvalidWhenAsked) {
  auto inner = arrow::struct_({IdField("x", arrow::int32(), 2)});
  auto schema = arrow::schema({IdField("s", inner, 1)});
  auto targets = Targets({Column(1, "s", iceberg::Struct({Column(2, "x", kInt, true)}))});
  auto projection =
      ColumnProjection::Make(SourceSchema::OfArrow(*schema, "f"), targets, {.path = "f"}, {.check_required = true});
  ASSERT_TRUE(projection.ok());
  EXPECT_TRUE(projection->Apply(*Batch(schema, R"([[null], [{"x": 1}]])"), 0, arrow::default_memory_pool()).ok());
  auto status = projection->Apply(*Batch(schema, R"([[{"x": null}]])"), 0, arrow::default_memory_pool()).status();
  EXPECT_THAT(status.message(), HasSubstr("required column 's.x' holds a null"));
}

TEST(ColumnProjection, SelectFieldsPrunesNestedTypes) {
  const auto fields = std::vector<iceberg::Field>{
      Column(1, "s", iceberg::Struct({Column(2, "x", kInt), Column(3, "y", kInt)})),
      Column(4, "m",
             iceberg::Map(Column(5, "key", kString, true),
                          Column(6, "value", iceberg::Struct({Column(7, "p", kInt), Column(8, "q", kInt)})))),
      Column(9, "l", iceberg::List(Column(10, "element", kInt)))};
  EXPECT_EQ(SelectFields(fields, {3})[0].type->ToString(), iceberg::Struct({Column(3, "y", kInt)})->ToString());
  const auto map = SelectFields(fields, {8});
  ASSERT_EQ(map.size(), 1u);
  EXPECT_EQ(map[0].type->fields[1].type->fields.size(), 1u);
  EXPECT_EQ(SelectFields(fields, {1, 10}).size(), 2u);
  EXPECT_TRUE(SelectFields(fields, {99}).empty());
}

}  // namespace
}  // namespace calve::pipeline
