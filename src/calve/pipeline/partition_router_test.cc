#include "calve/pipeline/partition_router.h"

#include "json_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::pipeline {
namespace {

using iceberg::TypeId;
using ::testing::HasSubstr;
using testing::IdField;

iceberg::Field Column(int id, const std::string& name, iceberg::TypePtr type) {
  iceberg::Field field;
  field.id = id;
  field.name = name;
  field.type = std::move(type);
  return field;
}

iceberg::TableMetadata Table(const std::vector<std::pair<int, std::string>>& transforms) {
  iceberg::TableMetadata metadata;
  iceberg::Schema schema;
  schema.fields = {Column(1, "id", iceberg::Primitive(TypeId::kInt)),
                   Column(2, "cat", iceberg::Primitive(TypeId::kString)),
                   Column(3, "s", iceberg::Struct({Column(4, "d", iceberg::Primitive(TypeId::kDate))}))};
  metadata.schemas = {schema};
  iceberg::PartitionSpec spec;
  for (const auto& [source, transform] : transforms) {
    const int id = 1000 + static_cast<int>(spec.fields.size());
    spec.fields.push_back({source, id, "p" + std::to_string(id), *iceberg::ParseTransform(transform)});
  }
  metadata.partition_specs = {spec};
  return metadata;
}

const auto kSchema = arrow::schema({IdField("id", arrow::int32(), 1), IdField("cat", arrow::utf8(), 2),
                                    IdField("s", arrow::struct_({IdField("d", arrow::date32(), 4)}), 3)});

std::unique_ptr<RowRouter> Router(const iceberg::TableMetadata& table) {
  return RowRouter::Make(table, table.spec(), *kSchema, arrow::default_memory_pool()).ValueOrDie();
}

TEST(RowRouter, UnpartitionedRowsStayTogether) {
  auto router = Router(Table({}));
  auto batch = testing::Batch(kSchema, R"([[1, "a", null], [2, "b", null]])");
  auto routed = router->Route(batch).ValueOrDie();
  ASSERT_EQ(routed.size(), 1u);
  EXPECT_EQ(routed[0].rows, batch);
  EXPECT_EQ(router->partition(0).path, "");
}

TEST(RowRouter, RowsKeepTheirOrderInTheirPartition) {
  auto router = Router(Table({{2, "identity"}}));
  auto routed =
      router->Route(testing::Batch(kSchema, R"([[1, "a", null], [2, "b", null], [3, "a", null], [4, null, null]])"))
          .ValueOrDie();
  ASSERT_EQ(routed.size(), 3u);
  testing::ExpectArray(*routed[0].rows->column(0), arrow::int32(), "[1, 3]");
  testing::ExpectArray(*routed[1].rows->column(0), arrow::int32(), "[2]");
  testing::ExpectArray(*routed[2].rows->column(0), arrow::int32(), "[4]");
  EXPECT_EQ(router->partition(routed[0].partition).path, "p1000=a");
  EXPECT_EQ(router->partition(routed[2].partition).path, "p1000=null");
  // Partitions are the same ones in the next batch.
  auto more = router->Route(testing::Batch(kSchema, R"([[5, "b", null]])")).ValueOrDie();
  EXPECT_EQ(more[0].partition, routed[1].partition);
}

TEST(RowRouter, SeveralTransformsOfNestedColumns) {
  auto router = Router(Table({{4, "year"}, {1, "truncate[10]"}, {2, "void"}}));
  auto routed =
      router->Route(testing::Batch(kSchema, R"([[1, "a", [0]], [9, "b", [364]], [11, "c", null], [-1, "d", [-1]]])"))
          .ValueOrDie();
  ASSERT_EQ(routed.size(), 3u);
  EXPECT_EQ(routed[0].rows->num_rows(), 2);
  EXPECT_EQ(router->partition(routed[0].partition).path, "p1000=1970/p1001=0/p1002=null");
  EXPECT_EQ(router->partition(routed[1].partition).path, "p1000=null/p1001=10/p1002=null");
  EXPECT_EQ(router->partition(routed[2].partition).path, "p1000=1969/p1001=-10/p1002=null");
}

TEST(RowRouter, RefusesUnknownTransformsAndMissingSources) {
  auto make = [](const iceberg::TableMetadata& table) {
    return RowRouter::Make(table, table.spec(), *kSchema, arrow::default_memory_pool()).status();
  };
  auto status = make(Table({{1, "zorder[3]"}}));
  EXPECT_TRUE(status.IsNotImplemented());
  EXPECT_THAT(status.message(), HasSubstr("zorder[3]"));
  EXPECT_TRUE(make(Table({{99, "identity"}})).IsInvalid());
}

}  // namespace
}  // namespace calve::pipeline
