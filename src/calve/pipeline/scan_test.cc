#include "calve/scan.h"

#include "indexed_parquet.h"
#include "table_testing.h"
#include "test_data.h"

#include <arrow/array/concatenate.h>
#include <arrow/util/cancel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace calve {
namespace {

using testing::Batch;
using testing::CatalogFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SortedRows;

int64_t CountRows(Scan& scan) {
  int64_t rows = 0;
  auto batches = testing::BatchesOf(scan);
  EXPECT_TRUE(batches.ok()) << batches.status().ToString();
  for (const auto& batch : batches.ValueOr({})) rows += batch->num_rows();
  return rows;
}

TEST(ScanTable, EverySnapshotThatSparkWroteIsCountedOrRefusedByName) {
  CALVE_SHARED_DATA(folder);
  const std::string spark = folder + "/spark-iceberg/";
  std::ifstream stream(spark + "tables.json");
  const auto tables = nlohmann::json::parse(stream);
  int read = 0, refused = 0;
  for (const auto& entry : tables) {
    const std::string name = entry.at("table");
    auto table = OpenTable(spark + "warehouse/" + entry.at("current_metadata").get<std::string>(),
                           {{"/tmp/calve-warehouse", spark + "warehouse"}});
    ASSERT_TRUE(table.ok()) << name << ": " << table.status().ToString();
    for (const auto& snapshot : entry.at("snapshots")) {
      ScanOptions options;
      options.snapshot_id = snapshot.at("snapshot_id").get<int64_t>();
      SCOPED_TRACE(fmt::format("{} at {}", name, *options.snapshot_id));
      auto scan = ScanTable(*table, options);
      if (!scan.ok()) {
        EXPECT_TRUE(scan.status().IsNotImplemented()) << scan.status().ToString();
        ++refused;
        continue;
      }
      ++read;
      const int64_t rows = CountRows(**scan);
      if (snapshot.contains("rows") && snapshot.at("rows").is_number()) {
        EXPECT_EQ(rows, snapshot.at("rows").get<int64_t>());
      }
    }
  }
  EXPECT_GT(read, 60);
  EXPECT_GT(refused, 20);
}

class ScanTest : public ::testing::Test {
 protected:
  Table MakeTable(const std::shared_ptr<arrow::Schema>& schema, const std::string& partition_by = "", int version = 2,
                  std::map<std::string, std::string> properties = {}) {
    auto table = catalog_.Create(fmt::format("db.t{}", count_++), schema, partition_by, version, std::move(properties));
    EXPECT_TRUE(table.ok()) << table.status().ToString();
    return *std::move(table);
  }

  Table Append(const Table& table, const std::string& json) {
    auto result = testing::Append(table, Batch(table.schema().ValueOrDie(), json));
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return table.Refresh().ValueOrDie();
  }

  static ScanOptions Where(const std::string& text, std::vector<std::string> columns = {}) {
    ScanOptions options;
    options.filter = Expression::Parse(text).ValueOrDie();
    options.columns = std::move(columns);
    return options;
  }

  CatalogFolder catalog_{"filesystem"};
  int count_ = 0;
};

const auto kNested = arrow::schema(
    {arrow::field("id", arrow::int64()), arrow::field("cat", arrow::utf8()),
     arrow::field("s", arrow::struct_({arrow::field("x", arrow::int32()), arrow::field("y", arrow::utf8())})),
     arrow::field(
         "l", arrow::list(arrow::struct_({arrow::field("p", arrow::int32()), arrow::field("q", arrow::int32())})))});

TEST_F(ScanTest, AnEmptyTableHasNoRows) {
  auto table = MakeTable(kNested);
  EXPECT_THAT(SortedRows(table), ElementsAre());
  EXPECT_THAT(SortedRows(table, Where("id = 1")), ElementsAre());
}

TEST_F(ScanTest, SelectsNestedColumnsInTheOrderAsked) {
  auto table = Append(MakeTable(kNested), R"([[1, "a", {"x": 2, "y": "z"}, [{"p": 3, "q": 4}]]])");
  ScanOptions options;
  options.columns = {"l.element.q", "s.y", "id"};
  auto scan = ScanTable(table, options).ValueOrDie();
  EXPECT_EQ(scan->schema()->field_names(), (std::vector<std::string>{"l", "s", "id"}));
  EXPECT_EQ(scan->schema()->field(1)->type()->num_fields(), 1);
  EXPECT_EQ(testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie()).size(), 1u);
  options.columns = {"s.x", "s.y"};
  scan = ScanTable(table, options).ValueOrDie();
  EXPECT_EQ(scan->schema()->num_fields(), 1);
  EXPECT_EQ(scan->schema()->field(0)->type()->num_fields(), 2);
}

TEST_F(ScanTest, UnknownColumnsAreInvalidAndListed) {
  auto table = MakeTable(kNested);
  ScanOptions options;
  options.columns = {"nope"};
  auto status = ScanTable(table, options).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("no column 'nope': the table has id, cat, s, l"));
  options.columns = {"_row_id"};
  EXPECT_THAT(ScanTable(table, options).status().message(), HasSubstr("format version 3"));
  EXPECT_TRUE(ScanTable(table, Where("nope = 1")).status().IsInvalid());
}

TEST_F(ScanTest, FiltersByColumnsThatAreNotReturned) {
  auto table = Append(MakeTable(kNested),
                      R"([[1, "a", {"x": 2, "y": "z"}, []], [2, "b", {"x": 3, "y": "w"}, []], [3, "b", null, []]])");
  EXPECT_THAT(SortedRows(table, Where("cat = 'b'", {"id"})), ElementsAre("2|", "3|"));
  EXPECT_THAT(SortedRows(table, Where("s.x > 2", {"s.y", "id"})).size(), 1u);
  EXPECT_THAT(SortedRows(table, Where("s.x IS NULL", {"id"})), ElementsAre("3|"));
  EXPECT_THAT(SortedRows(table, Where("id > 1 AND cat = 'b' AND NOT s.x = 3", {"id"})), ElementsAre());
}

TEST_F(ScanTest, PrunesByPartitionAndBoundsAndSaysSo) {
  auto table = MakeTable(kNested, "cat");
  table = Append(table, R"([[1, "a", null, null], [2, "b", null, null]])");
  table = Append(table, R"([[30, "a", null, null], [40, "b", null, null]])");
  auto scan = ScanTable(table, Where("cat = 'a' AND id < 10", {"id"})).ValueOrDie();
  EXPECT_EQ(CountRows(*scan), 1);
  const auto metrics = scan->metrics();
  EXPECT_EQ(metrics.data_files_total, 4);
  EXPECT_EQ(metrics.data_files_skipped, 3);
  EXPECT_EQ(metrics.rows_returned, 1);
  EXPECT_EQ(scan->Plan().ValueOrDie()->num_rows(), 1);
}

TEST_F(ScanTest, PositionsDoNotShiftWhenRowGroupsAreSkipped) {
  const auto ts = arrow::timestamp(arrow::TimeUnit::MILLI);
  const auto schema = arrow::schema({arrow::field("n", arrow::int64()), arrow::field("ts", ts)});
  std::string json = "[";
  for (int i = 0; i < 100; ++i) json += fmt::format("{}[{}, {}]", i > 0 ? "," : "", i, i * 1000);
  const std::string path = catalog_.folder() / "f.parquet";
  testing::WriteParquet(path, Batch(schema, json + "]"), 10);
  ScanOptions options = Where("n >= 35 AND n < 42", {"_pos", "n"});
  auto scan = ScanFiles({path}, options).ValueOrDie();
  EXPECT_THAT(testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie()),
              ElementsAre("35|35|", "36|36|", "37|37|", "38|38|", "39|39|", "40|40|", "41|41|"));
  EXPECT_EQ(scan->metrics().row_groups_total, 10);
  EXPECT_EQ(scan->metrics().row_groups_skipped, 8);
  // Statistics in milliseconds, a literal in microseconds.
  options = Where("ts = TIMESTAMP '1970-01-01T00:00:35'", {"_pos"});
  scan = ScanFiles({path}, options).ValueOrDie();
  EXPECT_THAT(testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie()), ElementsAre("35|"));
  EXPECT_EQ(scan->metrics().row_groups_skipped, 9);
}

TEST_F(ScanTest, PagesWithoutARowThatPassesAreNotRead) {
  // Row groups of 200 rows in pages of 20; `n` rises, `even` holds even numbers only.
  const auto schema = arrow::schema(
      {arrow::field("n", arrow::int32()), arrow::field("even", arrow::int64()), arrow::field("text", arrow::utf8())});
  std::string json = "[";
  for (int i = 0; i < 1000; ++i) json += fmt::format("{}[{}, {}, \"t{}\"]", i > 0 ? "," : "", i, i % 50 * 2, i);
  const auto table = arrow::Table::FromRecordBatches({Batch(schema, json + "]")}).ValueOrDie();
  const std::string path = catalog_.folder() / "f.parquet";
  const auto bytes = testing::WriteIndexed(*table, {.row_group_rows = 200, .page_rows = 20, .bloom_filters = {"even"}});
  std::ofstream(path, std::ios::binary) << bytes->ToString();

  auto scan = ScanFiles({path}, Where("n >= 310 AND n < 313", {"_pos", "text"})).ValueOrDie();
  EXPECT_THAT(testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie()),
              ElementsAre("310|'t310'|", "311|'t311'|", "312|'t312'|"));
  EXPECT_EQ(scan->metrics().row_groups_skipped, 4);
  EXPECT_EQ(scan->metrics().pages_skipped, 2 * 9);  // of the columns n and text, all but the page of rows 300 to 319
  EXPECT_EQ(scan->metrics().rows_read, 20);

  // An odd number within the bounds.
  scan = ScanFiles({path}, Where("even = 51", {"text"})).ValueOrDie();
  EXPECT_EQ(CountRows(*scan), 0);
  EXPECT_EQ(scan->metrics().row_groups_skipped_by_bloom_filter, 5);
  EXPECT_EQ(scan->metrics().row_groups_skipped, 5);

  // Rows here and there: positions are those in the file.
  scan = ScanFiles({path}, Where("even = 48 AND n > 500", {"_pos"})).ValueOrDie();
  EXPECT_THAT(testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie()),
              ElementsAre("524|", "574|", "624|", "674|", "724|", "774|", "824|", "874|", "924|", "974|"));
}

TEST_F(ScanTest, PositionsInAppendedFiles) {
  auto table = MakeTable(arrow::schema({arrow::field("n", arrow::int64())}));
  table = Append(table, "[[10], [11], [12]]");
  auto rows = testing::ScanRows(table, Where("n = 12", {"_pos", "_file"})).ValueOrDie();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0], ::testing::StartsWith("2|"));
  EXPECT_THAT(rows[0], HasSubstr(".parquet"));
}

TEST_F(ScanTest, MillisecondFilesOfAMicrosecondTable) {
  const std::string path = catalog_.folder() / "ms.parquet";
  const auto ms = arrow::timestamp(arrow::TimeUnit::MILLI);
  testing::WriteParquet(path, Batch(arrow::schema({testing::IdField("ts", ms, 1)}), "[[1000], [2000], [-1]]"), 1);
  auto table = MakeTable(arrow::schema({arrow::field("ts", arrow::timestamp(arrow::TimeUnit::MICRO))}));
  AppendOptions add;
  add.add_files = true;
  auto added = AppendFiles(table, {path}, add);
  ASSERT_TRUE(added.ok()) << added.status().ToString();
  table = table.Refresh().ValueOrDie();
  auto scan = ScanTable(table, Where("ts >= TIMESTAMP '1970-01-01T00:00:02'")).ValueOrDie();
  EXPECT_EQ(CountRows(*scan), 1);
  EXPECT_EQ(scan->metrics().row_groups_skipped, 2);
  EXPECT_EQ(SortedRows(table, Where("ts < TIMESTAMP '1970-01-01T00:00:00'")).size(), 1u);
}

TEST_F(ScanTest, NaNRowsSurviveInequalities) {
  auto table = MakeTable(arrow::schema({arrow::field("v", arrow::float64())}));
  table = Append(table, R"([[3], [NaN], [3]])");
  EXPECT_EQ(SortedRows(table, Where("v != 3")).size(), 1u);
  table = Append(table, R"([[-0.0], [0.0]])");
  EXPECT_EQ(SortedRows(table, Where("v = 0")).size(), 2u);
  EXPECT_EQ(SortedRows(table, Where("v IS NAN")).size(), 1u);
}

TEST_F(ScanTest, AFileThatIsGoneOrOfAnotherSizeIsAnErrorBeforeAnyRow) {
  auto table = Append(MakeTable(arrow::schema({arrow::field("n", arrow::int64())})), "[[1], [2]]");
  const std::string file = testing::DataFolder(table) + "/" + testing::FilesBelow(testing::DataFolder(table))[0];
  const std::string bytes = testing::ReadText(file);
  testing::WriteText(file, bytes + "x");
  auto status = ScanTable(table, {}).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(),
              HasSubstr(fmt::format("has {} bytes, its manifest says {}", bytes.size() + 1, bytes.size())));
  // Whole, with as many rows, but another file.
  const auto schema = arrow::schema({testing::IdField("n", arrow::int64(), 1)});
  const auto fields =
      arrow::schema({testing::IdField("n", arrow::int64(), 1), testing::IdField("extra", arrow::utf8(), 99)});
  testing::WriteParquet(file, Batch(fields, R"([[1, "x"], [3, "y"]])"));
  EXPECT_THAT(ScanTable(table, {}).status().message(),
              HasSubstr("column 'n' has the upper bound 3, its manifest says 2"));
  testing::WriteParquet(file, Batch(schema, "[[1], [2], [2]]"));
  EXPECT_THAT(ScanTable(table, {}).status().message(), HasSubstr("it has 3 rows, its manifest says 2"));
  testing::WriteParquet(file, Batch(fields, R"([[1, "x"], [null, "y"]])"));
  EXPECT_THAT(ScanTable(table, {}).status().message(), HasSubstr("column 'n' has 1 nulls, its manifest says 0"));
  // Written anew in place by a tool that left the manifest alone: all that the manifest says of its rows still holds.
  testing::WriteParquet(file, Batch(fields, R"([[1, "x"], [2, "y"]])"));
  EXPECT_THAT(SortedRows(table), ElementsAre("1|", "2|"));
  std::filesystem::remove(file);
  status = ScanTable(table, {}).status();
  EXPECT_TRUE(status.IsIOError());
  EXPECT_THAT(status.message(), HasSubstr(file));
}

TEST_F(ScanTest, BatchesOutliveTheScanAndTheReader) {
  auto table = Append(MakeTable(arrow::schema({arrow::field("n", arrow::int64())})), "[[1], [2]]");
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  {
    auto scan = ScanTable(table, {}).ValueOrDie();
    auto reader = scan->reader().ValueOrDie();
    EXPECT_TRUE(scan->reader().status().IsInvalid());
    scan.reset();
    batches = reader->ToRecordBatches().ValueOrDie();
  }
  EXPECT_THAT(testing::RowTexts(batches), ElementsAre("1|", "2|"));
}

TEST_F(ScanTest, StopsWhenAsked) {
  auto table = Append(MakeTable(arrow::schema({arrow::field("n", arrow::int64())})), "[[1], [2]]");
  arrow::StopSource source;
  arrow::StopToken token = source.token();
  Context context;
  context.stop = &token;
  auto scan = ScanTable(table, {}, context).ValueOrDie();
  source.RequestStop();
  auto reader = scan->reader().ValueOrDie();
  EXPECT_TRUE(reader->ToRecordBatches().status().IsCancelled());
}

TEST_F(ScanTest, FilesAreReadAsOneByName) {
  const std::string a = catalog_.folder() / "a.parquet", b = catalog_.folder() / "b.parquet";
  testing::WriteParquet(
      a, Batch(arrow::schema({arrow::field("x", arrow::int64()), arrow::field("y", arrow::utf8())}), R"([[1, "a"]])"));
  testing::WriteParquet(b, Batch(arrow::schema({arrow::field("x", arrow::int32())}), "[[2]]"));
  auto scan = ScanFiles({a, b}, {}).ValueOrDie();
  EXPECT_THAT(testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie()), ElementsAre("1|'a'|", "2|null|"));
  scan = ScanFiles({a, b}, Where("x = 2", {"y"})).ValueOrDie();
  EXPECT_THAT(testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie()), ElementsAre("null|"));
  // In the other order the columns are the same: the narrower one is widened, the one that is missing null.
  scan = ScanFiles({b, a}, {}).ValueOrDie();
  EXPECT_EQ(scan->schema()->ToString(), "x: int64\ny: string");
  EXPECT_THAT(testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie()), ElementsAre("2|null|", "1|'a'|"));
  ScanOptions options;
  options.file_schemas = FileSchemas::kFirst;
  auto status = ScanFiles({b, a}, options).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("column 'x' is int64, which cannot become int32"));
  EXPECT_THAT(status.message(), HasSubstr(a));
  options.snapshot_id = 1;
  EXPECT_TRUE(ScanFiles({a}, options).status().IsInvalid());
}

TEST_F(ScanTest, FilesThatDifferAreUnified) {
  const std::string a = catalog_.folder() / "a.parquet", b = catalog_.folder() / "b.parquet";
  using arrow::field, arrow::struct_;
  const auto time = [](arrow::TimeUnit::type unit) { return field("t", arrow::timestamp(unit)); };
  testing::WriteParquet(a, Batch(arrow::schema({field("s", struct_({field("x", arrow::int32(), false)})),
                                                field("d", arrow::decimal128(5, 1)), time(arrow::TimeUnit::MILLI)}),
                                 R"([[{"x": 1}, "1.5", 1000]])"));
  testing::WriteParquet(
      b, Batch(arrow::schema({time(arrow::TimeUnit::MICRO), field("d", arrow::decimal128(20, 1)),
                              field("s", struct_({field("y", arrow::utf8()), field("x", arrow::int64(), false)}))}),
               R"([[7, "2.5", {"y": "b", "x": 5000000000}], [8, null, null]])"));
  auto scan = ScanFiles({a, b}, {}).ValueOrDie();
  EXPECT_EQ(scan->schema()->ToString(),
            "s: struct<x: int64 not null, y: string>\nd: decimal128(20, 1)\nt: timestamp[us]");
  auto rows = testing::BatchesOf(*scan).ValueOrDie();
  const auto table = arrow::Table::FromRecordBatches(scan->schema(), rows).ValueOrDie();
  testing::ExpectArray(*arrow::Concatenate(table->column(0)->chunks()).ValueOrDie(), scan->schema()->field(0)->type(),
                       R"([{"x": 1, "y": null}, {"x": 5000000000, "y": "b"}, null])");
  testing::ExpectArray(*arrow::Concatenate(table->column(1)->chunks()).ValueOrDie(), arrow::decimal128(20, 1),
                       R"(["1.5", "2.5", null])");
  testing::ExpectArray(*arrow::Concatenate(table->column(2)->chunks()).ValueOrDie(),
                       arrow::timestamp(arrow::TimeUnit::MICRO), "[1000000, 7, 8]");
  // A filter sees the unified types.
  scan = ScanFiles({a, b}, Where("s.x > 4000000000", {"s.y"})).ValueOrDie();
  EXPECT_EQ(CountRows(*scan), 1);
}

TEST_F(ScanTest, FilesThatFitNoTypeAreRefusedByFileAndColumn) {
  const std::string a = catalog_.folder() / "a.parquet", b = catalog_.folder() / "b.parquet";
  testing::WriteParquet(a, Batch(arrow::schema({arrow::field("x", arrow::int64())}), "[[1]]"));
  testing::WriteParquet(b, Batch(arrow::schema({arrow::field("x", arrow::utf8())}), R"([["a"]])"));
  const auto status = ScanFiles({a, b}, {}).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("file " + b + ": column 'x' is string, and int64 in the files before"));
}

TEST_F(ScanTest, FilesAreReadAsOneByFieldId) {
  const std::string a = catalog_.folder() / "a.parquet", b = catalog_.folder() / "b.parquet";
  using testing::IdField;
  testing::WriteParquet(
      a, Batch(arrow::schema({IdField("old", arrow::int32(), 7), IdField("k", arrow::utf8(), 8)}), R"([[1, "a"]])"));
  testing::WriteParquet(
      b, Batch(arrow::schema({IdField("k", arrow::utf8(), 9), IdField("new", arrow::int64(), 7)}), R"([["b", 2]])"));
  ScanOptions options;
  options.file_schemas = FileSchemas::kUnionById;
  auto scan = ScanFiles({a, b}, options).ValueOrDie();
  EXPECT_EQ(scan->schema()->field_names(), (std::vector<std::string>{"old", "k", "k"}));
  EXPECT_THAT(testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie()), ElementsAre("1|'a'|null|", "2|null|'b'|"));
}

TEST_F(ScanTest, ColumnsOfOneNameInFilesAreMatchedInTheirOrder) {
  const std::string a = catalog_.folder() / "a.parquet", b = catalog_.folder() / "b.parquet";
  const auto write = [](const std::string& path, const std::vector<std::string>& names, const std::string& json) {
    arrow::FieldVector fields;
    for (size_t i = 0; i < names.size(); ++i) fields.push_back(arrow::field(std::to_string(i), arrow::int64()));
    auto batch = Batch(arrow::schema(fields), json);
    testing::WriteParquet(path, batch->RenameColumns(names).ValueOrDie());
  };
  write(a, {"x", "y", "x"}, "[[1, 2, 3]]");
  write(b, {"y", "x", "x", "x"}, "[[4, 5, 6, 7]]");
  auto scan = ScanFiles({a, b}, {}).ValueOrDie();
  EXPECT_EQ(scan->schema()->field_names(), (std::vector<std::string>{"x", "y", "x", "x"}));
  EXPECT_THAT(testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie()), ElementsAre("1|2|3|null|", "5|4|6|7|"));
}

TEST_F(ScanTest, TimesOfFilesAreFilteredInTheirOwnUnit) {
  const std::string path = catalog_.folder() / "times.parquet";
  const auto ts = arrow::timestamp(arrow::TimeUnit::MILLI);
  // The last timestamp is none in microseconds.
  testing::WriteParquet(path,
                        Batch(arrow::schema({arrow::field("id", arrow::int64()), arrow::field("ts", ts),
                                             arrow::field("t", arrow::time32(arrow::TimeUnit::MILLI))}),
                              "[[1, 1500, 500], [2, -1, 3600000], [3, 9223372036854775000, null]]"),
                        1);
  const auto rows = [&](const std::string& where) {
    auto scan = ScanFiles({path}, Where(where, {"id"})).ValueOrDie();
    return testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie());
  };
  EXPECT_THAT(rows("ts > TIMESTAMP '1970-01-01 00:00:01.4999'"), ElementsAre("1|", "3|"));
  EXPECT_THAT(rows("ts <= TIMESTAMP '1970-01-01 00:00:01.5'"), ElementsAre("1|", "2|"));
  EXPECT_THAT(rows("t >= '00:00:00.5001'"), ElementsAre("2|"));
  EXPECT_THAT(rows("t = '00:00:00.5'"), ElementsAre("1|"));
}

TEST_F(ScanTest, NarrowIntegersOfFilesCanBeFiltered) {
  const std::string path = catalog_.folder() / "narrow.parquet";
  testing::WriteParquet(path,
                        Batch(arrow::schema({arrow::field("a", arrow::int8()), arrow::field("b", arrow::uint32())}),
                              "[[1, 4000000000], [-2, 5]]"));
  auto scan = ScanFiles({path}, Where("a < 0 OR b > 3000000000")).ValueOrDie();
  EXPECT_EQ(CountRows(*scan), 2);
  scan = ScanFiles({path}, Where("b > 3000000000", {"a"})).ValueOrDie();
  EXPECT_THAT(testing::RowTexts(testing::BatchesOf(*scan).ValueOrDie()), ElementsAre("1|"));
}

}  // namespace
}  // namespace calve
