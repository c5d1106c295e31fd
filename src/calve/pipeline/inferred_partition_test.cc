#include "calve/pipeline/inferred_partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::pipeline {
namespace {

using iceberg::LeafMetrics;
using iceberg::TypeId;
using ::testing::HasSubstr;

iceberg::TableMetadata Table(TypeId type, const std::string& transform) {
  iceberg::TableMetadata metadata;
  iceberg::Schema schema;
  iceberg::Field field;
  field.id = 1;
  field.name = "c";
  field.type = iceberg::Primitive(type);
  schema.fields = {field};
  metadata.schemas = {schema};
  iceberg::PartitionSpec spec;
  spec.fields.push_back({1, 1000, "p", *iceberg::ParseTransform(transform)});
  metadata.partition_specs = {spec};
  return metadata;
}

LeafMetrics Leaf(Value lower, Value upper, int64_t nulls = 0) {
  LeafMetrics leaf;
  leaf.field_id = 1;
  leaf.value_count = 10;
  leaf.null_count = nulls;
  leaf.lower = std::move(lower);
  leaf.upper = std::move(upper);
  return leaf;
}

void ExpectPartition(const iceberg::TableMetadata& table, const LeafMetrics& leaf, const Value& expected) {
  auto partition = InferPartition(table, "/x/f.parquet", {leaf});
  ASSERT_TRUE(partition.ok()) << partition.status().ToString();
  EXPECT_TRUE(SameValue((*partition)[0], expected));
}

void ExpectUndecided(const iceberg::TableMetadata& table, const LeafMetrics& leaf) {
  auto status = InferPartition(table, "/x/f.parquet", {leaf}).status();
  EXPECT_TRUE(status.IsInvalid()) << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr("file /x/f.parquet: partition field 'p' is not decided"));
}

TEST(InferPartition, BoundsInOnePartitionDecide) {
  ExpectPartition(Table(TypeId::kInt, "identity"), Leaf(int32_t{3}, int32_t{3}), int32_t{3});
  ExpectPartition(Table(TypeId::kInt, "truncate[10]"), Leaf(int32_t{10}, int32_t{19}), int32_t{10});
  ExpectPartition(Table(TypeId::kDate, "month"), Leaf(int32_t{0}, int32_t{30}), int32_t{0});
  ExpectPartition(Table(TypeId::kDate, "month"), Leaf(int32_t{-31}, int32_t{-1}), int32_t{-1});
  ExpectPartition(Table(TypeId::kInt, "void"), Leaf(int32_t{1}, int32_t{2}), Value());
}

TEST(InferPartition, BoundsInTwoPartitionsDoNot) {
  ExpectUndecided(Table(TypeId::kInt, "identity"), Leaf(int32_t{3}, int32_t{4}));
  ExpectUndecided(Table(TypeId::kInt, "truncate[10]"), Leaf(int32_t{10}, int32_t{20}));
  ExpectUndecided(Table(TypeId::kDate, "month"), Leaf(int32_t{0}, int32_t{31}));
}

TEST(InferPartition, BucketsNeedOneExactValue) {
  const auto table = Table(TypeId::kInt, "bucket[16]");
  // Appendix B: the hash of 34 is 2017239379.
  ExpectPartition(table, Leaf(int32_t{34}, int32_t{34}), int32_t{2017239379 % 16});
  ExpectUndecided(table, Leaf(int32_t{34}, int32_t{35}));
  auto inexact = Leaf(int32_t{34}, int32_t{34});
  inexact.upper_exact = false;
  ExpectUndecided(table, inexact);
}

TEST(InferPartition, NullsAreAPartitionOfTheirOwn) {
  const auto table = Table(TypeId::kInt, "identity");
  ExpectPartition(table, Leaf({}, {}, 10), Value());
  ExpectUndecided(table, Leaf(int32_t{3}, int32_t{3}, 1));
  auto unknown = Leaf(int32_t{3}, int32_t{3});
  unknown.null_count.reset();
  ExpectUndecided(table, unknown);
  ExpectUndecided(table, Leaf({}, {}));
}

TEST(InferPartition, NaNsMayHideBesideBounds) {
  const auto table = Table(TypeId::kDouble, "identity");
  auto leaf = Leaf(1.0, 1.0);
  ExpectUndecided(table, leaf);
  leaf.nan_count = 0;
  ExpectPartition(table, leaf, 1.0);
}

TEST(InferPartition, AColumnThatIsNotInTheFileIsReadFromItsPath) {
  auto value = [](TypeId type, const std::string& folder) {
    return InferPartition(Table(type, "identity"), "/x/" + folder + "/f.parquet", {});
  };
  EXPECT_TRUE(SameValue(value(TypeId::kInt, "p=12").ValueOrDie()[0], int32_t{12}));
  EXPECT_TRUE(SameValue(value(TypeId::kString, "p=a%2Fb%20c").ValueOrDie()[0], std::string("a/b c")));
  EXPECT_TRUE(SameValue(value(TypeId::kDate, "p=1970-01-02").ValueOrDie()[0], int32_t{1}));
  EXPECT_TRUE(IsNull(value(TypeId::kDate, "p=__HIVE_DEFAULT_PARTITION__").ValueOrDie()[0]));
  EXPECT_TRUE(SameValue(value(TypeId::kInt, "p=1/p=2").ValueOrDie()[0], int32_t{2}));
  EXPECT_THAT(value(TypeId::kInt, "p=x").status().message(), HasSubstr("partition field 'p'"));
  EXPECT_THAT(value(TypeId::kInt, "q=1").status().message(), HasSubstr("lacks column 'c'"));
  EXPECT_THAT(InferPartition(Table(TypeId::kInt, "bucket[4]"), "/x/p=1/f", {}).status().message(),
              HasSubstr("lacks column 'c'"));
}

TEST(InferPartition, AColumnThatIsThereDecidesAgainstThePath) {
  auto partition = InferPartition(Table(TypeId::kInt, "identity"), "/x/p=9/f", {Leaf(int32_t{3}, int32_t{3})});
  EXPECT_TRUE(SameValue(partition.ValueOrDie()[0], int32_t{3}));
}

}  // namespace
}  // namespace calve::pipeline
