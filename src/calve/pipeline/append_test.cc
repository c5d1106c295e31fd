#include "calve/append.h"

#include "calve/base/status.h"
#include "table_testing.h"

#include <arrow/util/cancel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve {
namespace {

using testing::Batch;
using testing::CatalogFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IdField;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::SortedRows;

class AppendTest : public ::testing::Test {
 protected:
  Table MakeTable(const std::shared_ptr<arrow::Schema>& schema, const std::string& partition_by = "",
                  std::map<std::string, std::string> properties = {}) {
    auto table = catalog_.Create(fmt::format("db.t{}", count_++), schema, partition_by, 2, std::move(properties));
    EXPECT_TRUE(table.ok()) << table.status().ToString();
    return *std::move(table);
  }

  std::string File(const std::string& name, const std::shared_ptr<arrow::Schema>& schema, const std::string& json) {
    const std::string path = catalog_.folder() / name;
    testing::WriteParquet(path, Batch(schema, json));
    return path;
  }

  /// Appends, and returns the rows of the table after it.
  std::vector<std::string> RowsAfter(const Table& table, const std::vector<std::string>& paths, bool add = false) {
    AppendOptions options;
    options.add_files = add;
    auto result = AppendFiles(table, paths, options);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return SortedRows(table.Refresh().ValueOrDie());
  }

  /// Appends, and returns why that was refused; nothing may be left behind.
  Status Refusal(const Table& table, const std::vector<std::string>& paths, bool add = false) {
    const auto before = testing::FilesBelow(testing::DataFolder(table));
    AppendOptions options;
    options.add_files = add;
    auto status = AppendFiles(table, paths, options).status();
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(testing::FilesBelow(testing::DataFolder(table)), before);
    EXPECT_EQ(table.Refresh().ValueOrDie().current_snapshot_id(), table.current_snapshot_id());
    return status;
  }

  CatalogFolder catalog_{"filesystem"};
  int count_ = 0;
};

const auto kTwo = arrow::schema({arrow::field("id", arrow::int64(), false), arrow::field("name", arrow::utf8())});

TEST_F(AppendTest, ColumnsByNameWithPromotionsAndNulls) {
  auto table = MakeTable(kTwo);
  const auto a =
      File("a.parquet", arrow::schema({arrow::field("name", arrow::utf8()), arrow::field("id", arrow::int32(), false)}),
           R"([["x", 1]])");
  const auto b = File("b.parquet", arrow::schema({arrow::field("id", arrow::uint16(), false)}), "[[2]]");
  EXPECT_THAT(RowsAfter(table, {a, b}), ElementsAre("1|'x'|", "2|null|"));
  EXPECT_THAT(testing::FilesBelow(testing::DataFolder(table)), SizeIs(1));
}

TEST_F(AppendTest, ColumnsByIdWhenTheIdsAreTheTables) {
  auto table = MakeTable(kTwo);
  // Ids of the table under the table's names.
  const auto a =
      File("a.parquet", arrow::schema({IdField("name", arrow::utf8(), 2), IdField("id", arrow::int64(), 1, false)}),
           R"([["x", 1]])");
  // Ids of another table: names count.
  const auto b =
      File("b.parquet", arrow::schema({IdField("name", arrow::utf8(), 1), IdField("id", arrow::int64(), 2, false)}),
           R"([["y", 2]])");
  EXPECT_THAT(RowsAfter(table, {a, b}), ElementsAre("1|'x'|", "2|'y'|"));
}

TEST_F(AppendTest, RefusesWhatDoesNotFitAndNamesFileAndColumn) {
  auto table = MakeTable(kTwo);
  auto refusal = [&](const std::shared_ptr<arrow::Schema>& schema, const std::string& json) {
    const auto path = File("bad.parquet", schema, json);
    auto status = Refusal(table, {path});
    EXPECT_TRUE(status.IsInvalid()) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(path));
    return status.message();
  };
  EXPECT_THAT(refusal(arrow::schema({arrow::field("name", arrow::utf8())}), R"([["x"]])"),
              HasSubstr("lacks the required column 'id'"));
  EXPECT_THAT(refusal(arrow::schema({arrow::field("id", arrow::float64())}), "[[1]]"),
              HasSubstr("column 'id' is double, which cannot become int64"));
  EXPECT_THAT(
      refusal(arrow::schema({arrow::field("id", arrow::int64()), arrow::field("extra", arrow::int32())}), "[[1, 2]]"),
      HasSubstr("column 'extra' is not in the table"));
  EXPECT_THAT(refusal(arrow::schema({arrow::field("id", arrow::int64())}), "[[1], [null]]"),
              HasSubstr("required column 'id' holds a null"));
}

TEST_F(AppendTest, ABadFileAmongGoodOnesLeavesNothingBehind) {
  auto table = MakeTable(kTwo, "name");
  std::string json = "[";
  for (int i = 0; i < 1000; ++i) json += fmt::format("{}[{}, \"n{}\"]", i > 0 ? "," : "", i, i % 30);
  const auto good = File("good.parquet", kTwo, json + "]");
  const auto bad = File("nulls.parquet", arrow::schema({arrow::field("id", arrow::int64())}), "[[null]]");
  EXPECT_TRUE(Refusal(table, {good, bad}).IsInvalid());
  const std::string cut = catalog_.folder() / "cut.parquet";
  testing::WriteText(cut, testing::ReadText(good).substr(0, 1000));
  EXPECT_THAT(Refusal(table, {good, cut}).message(), HasSubstr(cut));
  EXPECT_TRUE(Refusal(table, {good, catalog_.folder() / "gone.parquet"}).IsIOError());
}

TEST_F(AppendTest, NestedColumnsByName) {
  const auto nested = arrow::schema(
      {arrow::field("s", arrow::struct_({arrow::field("a", arrow::int64()), arrow::field("b", arrow::utf8())})),
       arrow::field("m", arrow::map(arrow::utf8(), arrow::list(arrow::int64())))});
  auto table = MakeTable(nested);
  const auto path = File(
      "n.parquet",
      arrow::schema(
          {arrow::field("m", arrow::map(arrow::utf8(), arrow::list(arrow::int32()))),
           arrow::field("s", arrow::struct_({arrow::field("b", arrow::utf8()), arrow::field("a", arrow::int32())}))}),
      R"([[[["k", [1, null]]], {"b": "x", "a": 2}], [null, null]])");
  const auto rows = RowsAfter(table, {path});
  ASSERT_EQ(rows.size(), 2u);
  const auto direct = testing::RowTexts({Batch(nested, R"([[{"a": 2, "b": "x"}, [["k", [1, null]]]], [null, null]])")});
  EXPECT_EQ(rows, testing::Sorted(direct));
}

TEST_F(AppendTest, RoutesRowsToPartitionFolders) {
  auto table = MakeTable(kTwo, "name");
  auto result = testing::Append(table, Batch(kTwo, R"([[1, "a/b"], [2, "c d"], [3, null], [4, "a/b"]])"));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->files, 3);
  std::set<std::string> folders;
  for (const auto& file : testing::FilesBelow(testing::DataFolder(table)))
    folders.insert(file.substr(0, file.find_last_of('/')));
  EXPECT_THAT(folders, ElementsAre("name=a%2Fb", "name=c+d", "name=null"));
}

TEST_F(AppendTest, RollsFilesAtTheTargetSizeAndLosesNoRow) {
  auto table =
      MakeTable(arrow::schema({arrow::field("id", arrow::int64())}), "",
                {{"write.target-file-size-bytes", "100000"}, {"write.parquet.compression-codec", "uncompressed"}});
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < 100000; ++i) ASSERT_TRUE(builder.Append(i * 2654435761 % 1000000007).ok());
  auto values = builder.Finish().ValueOrDie();
  auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("id", arrow::int64())}), 100000, {values});
  auto result = testing::Append(table, batch);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->rows, 100000);
  EXPECT_GE(result->files, 6);
  EXPECT_LE(result->files, 12);
  table = table.Refresh().ValueOrDie();
  auto files = table.Files().ValueOrDie();
  const auto& sizes = static_cast<const arrow::Int64Array&>(*files->GetColumnByName("file_size_in_bytes"));
  for (int64_t i = 0; i < sizes.length(); ++i) EXPECT_LT(sizes.Value(i), 130000);
  EXPECT_EQ(SortedRows(table), testing::Sorted(testing::RowTexts({batch})));
}

TEST_F(AppendTest, ManyPartitionsKeepABoundedNumberOfFilesOpen) {
  auto table = MakeTable(kTwo, "id");
  std::string json = "[";
  for (int i = 0; i < 600; ++i) json += fmt::format("{}[{}, \"x\"]", i > 0 ? "," : "", i % 150);
  auto result = testing::Append(table, Batch(kTwo, json + "]"));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->rows, 600);
  EXPECT_GE(result->files, 150);
  EXPECT_EQ(SortedRows(table.Refresh().ValueOrDie()).size(), 600u);
}

TEST_F(AppendTest, NothingToAppendCommitsNothing) {
  auto table = MakeTable(kTwo);
  auto result = testing::Append(table, Batch(kTwo, "[]"));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->files, 0);
  EXPECT_FALSE(table.Refresh().ValueOrDie().current_snapshot_id());
}

TEST_F(AppendTest, CancelledLeavesNothingBehind) {
  auto table = MakeTable(kTwo);
  arrow::StopSource source;
  source.RequestStop();
  arrow::StopToken token = source.token();
  Context context;
  context.stop = &token;
  EXPECT_TRUE(testing::Append(table, Batch(kTwo, R"([[1, "x"]])"), context).status().IsCancelled());
  EXPECT_THAT(testing::FilesBelow(testing::DataFolder(table)), IsEmpty());
}

TEST_F(AppendTest, DictionariesLargeAndViewFormsAreTaken) {
  auto table = MakeTable(kTwo);
  auto names = arrow::json::DictArrayFromJSONString(arrow::dictionary(arrow::int8(), arrow::large_utf8()), "[1, null]",
                                                    R"(["a", "b"])")
                   .ValueOrDie();
  auto ids = testing::Array(arrow::uint32(), "[7, 8]");
  auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("id", ids->type()), arrow::field("name", names->type())}), 2, {ids, names});
  auto result = testing::Append(table, batch);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_THAT(SortedRows(table.Refresh().ValueOrDie()), ElementsAre("7|'b'|", "8|null|"));
}

TEST_F(AppendTest, AddFilesRegistersThemWhereTheyLie) {
  auto table = MakeTable(kTwo);
  const auto path = File("outside/a.parquet", kTwo, R"([[1, "x"], [2, null]])");
  EXPECT_THAT(RowsAfter(table, {path}, true), ElementsAre("1|'x'|", "2|null|"));
  EXPECT_THAT(testing::FilesBelow(testing::DataFolder(table)), IsEmpty());
  auto after = table.Refresh().ValueOrDie();
  EXPECT_TRUE(after.properties().contains("schema.name-mapping.default"));
  // Bounds came from the footer: a filter outside of them skips the file.
  ScanOptions options;
  options.filter = Expression::Parse("id > 5").ValueOrDie();
  EXPECT_EQ(ScanTable(after, options).ValueOrDie()->metrics().data_files_skipped, 1);
  EXPECT_THAT(Refusal(after, {path}, true).message(), HasSubstr("in the table already"));
}

TEST_F(AppendTest, AddFilesOfARaceAreRegisteredOnce) {
  const auto table = MakeTable(kTwo);
  const auto path = File("outside/a.parquet", kTwo, R"([[1, "x"]])");
  EXPECT_THAT(RowsAfter(table, {path}, true), SizeIs(1));
  // `table` is of the version before: that the file is in the table shows only when the commit is tried again.
  AppendOptions options;
  options.add_files = true;
  const auto status = AppendFiles(table, {path}, options).status();
  EXPECT_TRUE(status.IsInvalid()) << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr(path));
  EXPECT_THAT(SortedRows(table.Refresh().ValueOrDie()), SizeIs(1));
}

TEST_F(AppendTest, AddFilesNeedsOnePartitionAFile) {
  auto table = MakeTable(kTwo, "truncate(10, id)");
  const auto one = File("one.parquet", kTwo, R"([[11, "x"], [19, null]])");
  const auto two = File("two.parquet", kTwo, R"([[11, "x"], [20, null]])");
  auto status = Refusal(table, {one, two}, true);
  EXPECT_THAT(status.message(), HasSubstr(two));
  EXPECT_THAT(status.message(), HasSubstr("values go from 11 to 20"));
  EXPECT_THAT(RowsAfter(table, {one}, true), SizeIs(2));
}

TEST_F(AppendTest, AddFilesReadsIdentityPartitionsFromThePath) {
  auto table = MakeTable(kTwo, "name");
  const auto path = File("name=a%20b/f.parquet", arrow::schema({arrow::field("id", arrow::int64(), false)}), "[[1]]");
  EXPECT_THAT(RowsAfter(table, {path}, true), ElementsAre("1|'a b'|"));
  const auto no_path = File("f.parquet", arrow::schema({arrow::field("id", arrow::int64(), false)}), "[[1]]");
  EXPECT_TRUE(Refusal(table.Refresh().ValueOrDie(), {no_path}, true).IsInvalid());
}

TEST_F(AppendTest, AddFilesRefusesNullsInRequiredColumns) {
  const auto optional = arrow::schema({arrow::field("id", arrow::int64()), arrow::field("name", arrow::utf8())});
  auto table = MakeTable(kTwo);
  const auto nulls = File("nulls.parquet", optional, R"([[1, "x"], [null, "y"]])");
  auto status = Refusal(table, {nulls}, true);
  EXPECT_TRUE(status.IsInvalid()) << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr(nulls));
  EXPECT_THAT(status.message(), HasSubstr("required column 'id' holds 1 null"));
  // Optional in the file, but known to hold none.
  const auto full = File("full.parquet", optional, R"([[1, "x"], [2, null]])");
  EXPECT_THAT(RowsAfter(table, {full}, true), SizeIs(2));
}

TEST_F(AppendTest, AddFilesRefusesRequiredColumnsWithoutNullCounts) {
  auto table = MakeTable(kTwo);
  const auto optional = arrow::schema({arrow::field("id", arrow::int64()), arrow::field("name", arrow::utf8())});
  const std::string path = catalog_.folder() / "bare.parquet", sure = catalog_.folder() / "sure.parquet";
  const auto bare = ::parquet::WriterProperties::Builder().disable_statistics()->build();
  testing::WriteParquet(path, Batch(optional, R"([[1, "x"]])"), 1 << 20, bare);
  EXPECT_THAT(Refusal(table, {path}, true).message(), HasSubstr("'id' may hold nulls"));
  // The file's schema says it where statistics do not.
  testing::WriteParquet(sure, Batch(kTwo, R"([[1, "x"]])"), 1 << 20, bare);
  EXPECT_THAT(RowsAfter(table, {sure}, true), SizeIs(1));
}

TEST_F(AppendTest, AddFilesChecksRequiredFieldsOfStructs) {
  const auto point = [](bool nullable, bool x_nullable) {
    const auto type = arrow::struct_({arrow::field("x", arrow::int64(), x_nullable)});
    return arrow::schema({arrow::field("p", type, nullable)});
  };
  auto table = MakeTable(point(true, false));
  const auto nulls = File("n.parquet", point(true, true), R"([[[null]]])");
  EXPECT_THAT(Refusal(table, {nulls}, true).message(), HasSubstr("required column 'p.x'"));
  const auto null_struct = File("s.parquet", point(true, false), R"([[null], [[1]]])");
  EXPECT_THAT(RowsAfter(table, {null_struct}, true), SizeIs(2));
  auto strict = MakeTable(point(false, true));
  EXPECT_THAT(Refusal(strict, {null_struct}, true).message(), HasSubstr("required column 'p'"));
}

TEST_F(AppendTest, AddFilesTakesOnlyWhatAScanReadsWithoutLoss) {
  const auto at = [](const std::shared_ptr<arrow::DataType>& type) {
    return arrow::schema({arrow::field("at", type)});
  };
  const auto micros = arrow::timestamp(arrow::TimeUnit::MICRO), millis = arrow::timestamp(arrow::TimeUnit::MILLI);
  auto table = MakeTable(at(micros));
  const auto nanos = File("ns.parquet", at(arrow::timestamp(arrow::TimeUnit::NANO)), "[[1001]]");
  EXPECT_THAT(Refusal(table, {nanos}, true).message(), HasSubstr("cannot become timestamp[us]"));
  const auto day = File("d.parquet", at(arrow::date32()), "[[1]]");
  EXPECT_THAT(Refusal(table, {day}, true).message(), HasSubstr("cannot become timestamp[us]"));
  const auto far = File("far.parquet", at(millis), "[[9223372036854775]]");
  EXPECT_THAT(RowsAfter(table, {far}, true), SizeIs(1));
  const auto too_far = File("too_far.parquet", at(millis), "[[0], [9223372036854776]]");
  auto status = Refusal(table.Refresh().ValueOrDie(), {too_far}, true);
  EXPECT_THAT(status.message(), HasSubstr(too_far));
  EXPECT_THAT(status.message(), HasSubstr("'at'"));
  const auto none = File("none.parquet", at(millis), "[[null]]");
  EXPECT_THAT(RowsAfter(table.Refresh().ValueOrDie(), {none}, true), SizeIs(2));
  auto third = catalog_.Create("db.v3", at(micros), "", 3).ValueOrDie();
  EXPECT_THAT(RowsAfter(third, {day}, true), SizeIs(1));
}

TEST_F(AppendTest, AddFilesRefusesInt96) {
  const auto micros = arrow::schema({arrow::field("at", arrow::timestamp(arrow::TimeUnit::MICRO))});
  const std::string path = catalog_.folder() / "int96.parquet";
  const auto batch = Batch(micros, "[[1]]");
  auto sink = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  const auto int96 = ::parquet::ArrowWriterProperties::Builder().enable_deprecated_int96_timestamps()->build();
  ASSERT_TRUE(::parquet::arrow::WriteTable(*arrow::Table::FromRecordBatches({batch}).ValueOrDie(),
                                           arrow::default_memory_pool(), sink, 1 << 20,
                                           ::parquet::default_writer_properties(), int96)
                  .ok());
  ASSERT_TRUE(sink->Close().ok());
  EXPECT_THAT(Refusal(MakeTable(micros), {path}, true).message(), HasSubstr("INT96"));
}

TEST_F(AppendTest, AddFilesRefusesForeignIdsAndTypes) {
  auto table = MakeTable(kTwo);
  const auto foreign =
      File("f.parquet", arrow::schema({IdField("id", arrow::int64(), 2, false), IdField("name", arrow::utf8(), 1)}),
           R"([[1, "x"]])");
  EXPECT_THAT(Refusal(table, {foreign}, true).message(), HasSubstr("field ids that are not those of the table"));
  const auto nulls = File("d.parquet", arrow::schema({arrow::field("id", arrow::float64(), false)}), "[[1]]");
  EXPECT_THAT(Refusal(table, {nulls}, true).message(), HasSubstr("cannot become int64"));
}

}  // namespace
}  // namespace calve
