// Append to a new table, compact it, and read every snapshot: each catalog, format version and partition transform.
#include "table_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve {
namespace {

using testing::CatalogFolder;
using testing::SortedRows;

const auto kSchema = arrow::schema({
    arrow::field("id", arrow::int64(), false),
    arrow::field("i", arrow::int32()),
    arrow::field("name", arrow::utf8()),
    arrow::field("ts", arrow::timestamp(arrow::TimeUnit::MICRO)),
    arrow::field("tz", arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")),
    arrow::field("d", arrow::date32()),
    arrow::field("dec", arrow::decimal128(9, 2)),
    arrow::field("bin", arrow::binary()),
    arrow::field("v", arrow::float64()),
    arrow::field("bo", arrow::boolean()),
    arrow::field("l", arrow::list(arrow::int32())),
    arrow::field("s", arrow::struct_({arrow::field("x", arrow::int32()), arrow::field("y", arrow::utf8())})),
});

/// Row `id`; every seventh has nulls, and dates lie on both sides of 1970.
std::string Row(int64_t id) {
  if (id % 7 == 3) {
    return fmt::format("[{}, null, null, null, null, null, null, null, null, null, null, null]", id);
  }
  const int64_t hour = (id % 50 - 25) * 3600 * 1000000;
  return fmt::format(
      R"([{}, {}, "name {}", {}, {}, {}, "{}.25", "b{}", {}.5, {}, [{}, null], {{"x": {}, "y": "é{}"}}])", id, id % 10,
      id % 5, hour - 1, hour * 24, id % 60 - 30, id % 100 - 50, id % 3, id, id % 2 == 0, id, id, id);
}

std::shared_ptr<arrow::RecordBatch> Rows(int64_t first, int64_t count) {
  std::string json = "[";
  for (int64_t id = first; id < first + count; ++id) json += (id > first ? "," : "") + Row(id);
  return testing::Batch(kSchema, json + "]");
}

struct Kind {
  std::string catalog;
  int format_version;
  std::string partition_by;
};

class RoundTripTest : public ::testing::TestWithParam<Kind> {};

TEST_P(RoundTripTest, AppendRewriteAndReadEverySnapshot) {
  const Kind& kind = GetParam();
  CatalogFolder catalog(kind.catalog);
  auto created = catalog.Create("db.t", kSchema, kind.partition_by, kind.format_version);
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  Table table = *created;

  std::vector<std::string> expected;
  std::vector<std::pair<int64_t, std::vector<std::string>>> snapshots;
  for (int64_t round = 0; round < 3; ++round) {
    const auto batch = Rows(round * 30, 30);
    auto appended = testing::Append(table, batch);
    ASSERT_TRUE(appended.ok()) << appended.status().ToString();
    EXPECT_EQ(appended->rows, 30);
    for (const auto& row : testing::RowTexts({batch})) expected.push_back(row);
    table = table.Refresh().ValueOrDie();
    EXPECT_EQ(table.current_snapshot_id(), appended->snapshot_id);
    snapshots.emplace_back(appended->snapshot_id, testing::Sorted(expected));
    ASSERT_EQ(SortedRows(table), snapshots.back().second);
  }
  ScanOptions lineage;
  lineage.columns = {"id", "_row_id", "_last_updated_sequence_number"};
  const bool has_lineage = kind.format_version >= 3;
  const auto lineage_before = has_lineage ? SortedRows(table, lineage) : std::vector<std::string>{};

  RewriteOptions options;
  options.rewrite_all = true;
  const auto plan = PlanRewrite(table, options).ValueOrDie();
  auto rewritten = RewriteDataFiles(table, options);
  ASSERT_TRUE(rewritten.ok()) << rewritten.status().ToString();
  ASSERT_EQ(rewritten->snapshot_ids.size(), 1u);
  EXPECT_EQ(rewritten->rows, 90);
  EXPECT_LE(rewritten->added_files, rewritten->rewritten_files);
  EXPECT_EQ(rewritten->added_files, static_cast<int64_t>(plan.groups.size()));
  table = table.Refresh().ValueOrDie();
  EXPECT_EQ(SortedRows(table), testing::Sorted(expected));
  if (has_lineage) {
    EXPECT_EQ(SortedRows(table, lineage), lineage_before);
  }
  for (const auto& [id, rows] : snapshots) {
    ScanOptions at;
    at.snapshot_id = id;
    EXPECT_EQ(SortedRows(table, at), rows);
  }
  // Nothing is left to do, and a table that is compacted takes rows as before.
  options = {};
  options.min_input_files = 2;
  EXPECT_THAT(PlanRewrite(table, options).ValueOrDie().groups, ::testing::IsEmpty());
  ASSERT_TRUE(testing::Append(table, Rows(1000, 1)).ok());
  EXPECT_EQ(SortedRows(table.Refresh().ValueOrDie()).size(), 91u);
}

std::vector<Kind> Kinds() {
  std::vector<Kind> kinds;
  for (const char* transform : {"",
                                "i",
                                "name",
                                "bo",
                                "dec",
                                "d",
                                "bin",
                                "bucket(4, id)",
                                "bucket(4, name)",
                                "bucket(4, dec)",
                                "bucket(4, ts)",
                                "truncate(3, name)",
                                "truncate(10, id)",
                                "truncate(10, dec)",
                                "year(ts)",
                                "month(d)",
                                "day(ts)",
                                "day(tz)",
                                "hour(ts)",
                                "day(d), bucket(2, id), name",
                                "s.x"}) {
    kinds.push_back({"filesystem", 2, transform});
  }
  for (int version : {1, 2, 3}) {
    for (const char* catalog : {"filesystem", "sql"}) {
      kinds.push_back({catalog, version, ""});
      kinds.push_back({catalog, version, "day(ts), name"});
    }
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Kinds, RoundTripTest, ::testing::ValuesIn(Kinds()), [](const auto& test) {
  std::string name =
      fmt::format("{}_v{}_{}_{}", test.param.catalog, test.param.format_version, test.index, test.param.partition_by);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace calve
