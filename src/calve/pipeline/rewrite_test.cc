#include "calve/rewrite.h"

#include "calve/base/status.h"
#include "calve/iceberg/scan_plan.h"
#include "table_testing.h"

#include <arrow/util/cancel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace calve {
namespace {

using testing::Batch;
using testing::CatalogFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::SortedRows;

const auto kSchema = arrow::schema({arrow::field("id", arrow::int64()), arrow::field("cat", arrow::utf8())});

class RewriteTest : public ::testing::Test {
 protected:
  Table MakeTable(const std::string& partition_by = "", int version = 2,
                  std::map<std::string, std::string> properties = {}) {
    auto table =
        catalog_.Create(fmt::format("db.t{}", count_++), kSchema, partition_by, version, std::move(properties));
    EXPECT_TRUE(table.ok()) << table.status().ToString();
    return *std::move(table);
  }

  /// `count` appends of one row each.
  static Table Appended(Table table, int count, const std::string& cat = "a") {
    for (int i = 0; i < count; ++i) {
      auto result = testing::Append(table, Batch(kSchema, fmt::format(R"([[{}, "{}"]])", i, cat)));
      EXPECT_TRUE(result.ok()) << result.status().ToString();
      table = table.Refresh().ValueOrDie();
    }
    return table;
  }

  /// Rows of random numbers, which do not compress.
  static std::shared_ptr<arrow::RecordBatch> RandomRows(int64_t count, unsigned seed) {
    std::mt19937_64 random(seed);
    arrow::Int64Builder ids;
    arrow::StringBuilder cats;
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_TRUE(ids.Append(static_cast<int64_t>(random())).ok());
      EXPECT_TRUE(cats.Append("c").ok());
    }
    return arrow::RecordBatch::Make(kSchema, count, {ids.Finish().ValueOrDie(), cats.Finish().ValueOrDie()});
  }

  static int64_t LiveFiles(const Table& table) { return table.Files().ValueOrDie()->num_rows(); }

  CatalogFolder catalog_{"sql"};
  int count_ = 0;
};

TEST_F(RewriteTest, AFileOverTheTargetIsSplitAndKeepsItsTail) {
  auto table = MakeTable("", 2, {{"write.parquet.compression-codec", "uncompressed"}});
  const auto batch = RandomRows(1400000, 1);
  ASSERT_TRUE(testing::Append(table, batch).ok());
  table = table.Refresh().ValueOrDie();
  const auto before = SortedRows(table);
  auto sizes = table.Files().ValueOrDie()->GetColumnByName("file_size_in_bytes");
  const int64_t size = static_cast<const arrow::Int64Array&>(*sizes).Value(0);
  RewriteOptions options;
  options.target_file_size_bytes = size * 10 / 11;  // an 11 MB file, a 10 MB target
  options.max_file_size_bytes = size - 1;
  options.rewrite_all = true;
  auto result = RewriteDataFiles(table, options);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->rows, 1400000);
  table = table.Refresh().ValueOrDie();
  EXPECT_EQ(SortedRows(table), before);
}

TEST_F(RewriteTest, OutputFilesHaveTheTargetSize) {
  auto table = MakeTable("", 2, {{"write.parquet.compression-codec", "uncompressed"}});
  for (unsigned i = 0; i < 6; ++i) {
    ASSERT_TRUE(testing::Append(table, RandomRows(20000, i)).ok());
    table = table.Refresh().ValueOrDie();
  }
  const auto before = SortedRows(table);
  RewriteOptions options;
  options.target_file_size_bytes = 400000;  // six files of 160 KB
  const auto plan = PlanRewrite(table, options).ValueOrDie();
  ASSERT_THAT(plan.groups, SizeIs(1));
  EXPECT_EQ(plan.files_total, 6);
  auto result = RewriteDataFiles(table, options);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->added_files, plan.groups[0].expected_output_files);
  for (int64_t size : result->added_file_sizes_bytes) EXPECT_LT(size, 600000);
  EXPECT_EQ(SortedRows(table.Refresh().ValueOrDie()), before);
}

TEST_F(RewriteTest, InputsStayOnDiskAndOldSnapshotsRead) {
  auto table = Appended(MakeTable(), 5);
  const auto inputs = testing::FilesBelow(testing::DataFolder(table));
  ScanOptions old;
  old.snapshot_id = table.current_snapshot_id();
  auto result = RewriteDataFiles(table);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->rewritten_files, 5);
  EXPECT_EQ(result->added_files, 1);
  table = table.Refresh().ValueOrDie();
  const auto after = testing::FilesBelow(testing::DataFolder(table));
  EXPECT_TRUE(std::includes(after.begin(), after.end(), inputs.begin(), inputs.end()));
  EXPECT_THAT(SortedRows(table, old), SizeIs(5));
  EXPECT_EQ(LiveFiles(table), 1);
}

TEST_F(RewriteTest, NothingToDoCommitsNothing) {
  auto table = Appended(MakeTable(), 4);
  auto result = RewriteDataFiles(table);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_THAT(result->snapshot_ids, IsEmpty());
  EXPECT_EQ(table.Refresh().ValueOrDie().current_snapshot_id(), table.current_snapshot_id());
  auto empty = RewriteDataFiles(MakeTable());
  ASSERT_TRUE(empty.ok()) << empty.status().ToString();
}

TEST_F(RewriteTest, GroupsByPartitionAndByFilter) {
  auto table = Appended(Appended(MakeTable("cat"), 5, "a"), 5, "b");
  RewriteOptions options;
  options.filter = Expression::Parse("cat = 'b'").ValueOrDie();
  const auto plan = PlanRewrite(table, options).ValueOrDie();
  ASSERT_THAT(plan.groups, SizeIs(1));
  EXPECT_EQ(plan.groups[0].partition, "cat=b");
  EXPECT_EQ(plan.groups[0].rows, 5);
  EXPECT_EQ(plan.files_total, 10);
  ASSERT_TRUE(RewriteDataFiles(table, options).ok());
  table = table.Refresh().ValueOrDie();
  EXPECT_EQ(LiveFiles(table), 6);
  EXPECT_THAT(SortedRows(table), SizeIs(10));
}

TEST_F(RewriteTest, FilesOfAnOlderSpecAreWrittenUnderTheCurrentOne) {
  auto table = Appended(Appended(MakeTable(), 3, "a"), 3, "b");
  auto version = table.store()->Load().ValueOrDie();
  auto next = version.metadata;
  iceberg::PartitionSpec spec;
  spec.spec_id = 1;
  spec.fields.push_back({2, 1000, "cat", *iceberg::ParseTransform("identity")});
  next.partition_specs.push_back(spec);
  next.default_spec_id = 1;
  next.last_partition_id = 1000;
  ASSERT_TRUE(table.store()->Swap(version, next).ok());
  table = Appended(table.Refresh().ValueOrDie(), 1, "c");
  const auto before = SortedRows(table);
  const auto plan = PlanRewrite(table).ValueOrDie();
  ASSERT_THAT(plan.groups, SizeIs(1));
  EXPECT_EQ(plan.groups[0].partition, "");
  EXPECT_THAT(plan.groups[0].files, SizeIs(6));
  auto result = RewriteDataFiles(table);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->added_files, 2);
  table = table.Refresh().ValueOrDie();
  EXPECT_EQ(SortedRows(table), before);
  ScanOptions options;
  options.filter = Expression::Parse("cat = 'b'").ValueOrDie();
  auto scan = ScanTable(table, options).ValueOrDie();
  EXPECT_EQ(scan->metrics().data_files_skipped, 2);
  EXPECT_THAT(SortedRows(table, options), SizeIs(3));
}

TEST_F(RewriteTest, PartialProgressCommitsInParts) {
  auto table = MakeTable("cat");
  for (const char* cat : {"a", "b", "c"}) table = Appended(table, 5, cat);
  const auto before = SortedRows(table);
  RewriteOptions options;
  options.partial_progress_enabled = true;
  options.partial_progress_max_commits = 2;
  auto result = RewriteDataFiles(table, options);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_THAT(result->snapshot_ids, SizeIs(2));
  EXPECT_EQ(result->failed_groups, 0);
  table = table.Refresh().ValueOrDie();
  EXPECT_EQ(LiveFiles(table), 3);
  EXPECT_EQ(SortedRows(table), before);
}

TEST_F(RewriteTest, PartialProgressGoesOnAfterAGroupFailed) {
  auto table = Appended(Appended(MakeTable("cat"), 5, "a"), 5, "b");
  const auto files = testing::FilesBelow(testing::DataFolder(table));
  const auto broken = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.starts_with("cat=a/"); });
  ASSERT_NE(broken, files.end());
  const std::string path = testing::DataFolder(table) + "/" + *broken;
  std::string bytes = testing::ReadText(path);
  std::fill(bytes.begin() + 4, bytes.begin() + 40, '\x55');
  testing::WriteText(path, bytes);
  RewriteOptions options;
  EXPECT_FALSE(RewriteDataFiles(table, options).ok());
  EXPECT_EQ(testing::FilesBelow(testing::DataFolder(table)), files);
  options.partial_progress_enabled = true;
  auto result = RewriteDataFiles(table, options);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->failed_groups, 1);
  EXPECT_THAT(result->first_failure, HasSubstr(*broken));
  EXPECT_THAT(result->failures, ElementsAre(result->first_failure));
  EXPECT_EQ(result->rewritten_files, 5);
  EXPECT_EQ(LiveFiles(table.Refresh().ValueOrDie()), 6);
}

TEST_F(RewriteTest, AConflictLeavesTheTableAndNoFiles) {
  auto table = Appended(MakeTable(), 5);
  ASSERT_TRUE(RewriteDataFiles(table).ok());
  const auto current = table.Refresh().ValueOrDie();
  const auto files = testing::FilesBelow(testing::DataFolder(table));
  auto status = RewriteDataFiles(table).status();  // planned on the version before
  EXPECT_TRUE(status.IsInvalid()) << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr("conflict"));
  EXPECT_EQ(testing::FilesBelow(testing::DataFolder(table)), files);
  EXPECT_EQ(table.Refresh().ValueOrDie().current_snapshot_id(), current.current_snapshot_id());
}

TEST_F(RewriteTest, AppendsMeanwhileAreKept) {
  auto table = Appended(MakeTable(), 5);
  ASSERT_TRUE(testing::Append(table, Batch(kSchema, R"([[99, "x"]])")).ok());
  ASSERT_TRUE(RewriteDataFiles(table).ok());
  EXPECT_THAT(SortedRows(table.Refresh().ValueOrDie()), SizeIs(6));
}

/// Appends a file again that is in the table, as only a faulty or racing writer does.
Table WithFileTwice(const Table& table, std::optional<int64_t> size_bytes = {}) {
  const auto base = table.store()->Load().ValueOrDie();
  auto plan = iceberg::PlanScan(table.store()->io(), base.metadata, base.metadata.current_snapshot(),
                                base.metadata.schema(), nullptr, {})
                  .ValueOrDie();
  iceberg::SnapshotChange change{.operation = "append", .added = {plan.tasks[0].file}};
  if (size_bytes) {
    change.added[0].file_path += ".other";
    change.added[0].file_size_in_bytes = *size_bytes;
  }
  auto committed = iceberg::CommitSnapshot(*table.store(), base, change);
  EXPECT_TRUE(committed.ok()) << committed.status().ToString();
  return table.Refresh().ValueOrDie();
}

TEST_F(RewriteTest, AFileThatIsLiveTwiceIsRefusedBeforeAnythingIsWritten) {
  auto table = WithFileTwice(Appended(MakeTable(), 5));
  const auto files = testing::FilesBelow(testing::DataFolder(table));
  const auto status = RewriteDataFiles(table).status();
  EXPECT_TRUE(status.IsInvalid()) << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr(fmt::format("is live twice in snapshot {}", *table.current_snapshot_id())));
  EXPECT_EQ(testing::FilesBelow(testing::DataFolder(table)), files);
  EXPECT_EQ(table.Refresh().ValueOrDie().current_snapshot_id(), table.current_snapshot_id());
}

TEST_F(RewriteTest, SumsThatLeave64BitsAreInvalid) {
  auto table = WithFileTwice(Appended(MakeTable(), 5), std::numeric_limits<int64_t>::max());
  const auto status = PlanRewrite(table).status();
  EXPECT_TRUE(status.IsInvalid()) << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr("the sum leaves 64 bits"));
}

TEST_F(RewriteTest, TheLargestTargetAPropertyCanName) {
  auto table = Appended(MakeTable("", 2, {{"write.target-file-size-bytes", "9223372036854775807"}}), 5);
  auto result = RewriteDataFiles(table);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->added_files, 1);
  EXPECT_THAT(SortedRows(table.Refresh().ValueOrDie()), SizeIs(5));
}

TEST_F(RewriteTest, LineageSurvivesASecondRewrite) {
  auto table = Appended(MakeTable("", 3), 5);
  ScanOptions lineage;
  lineage.columns = {"id", "_row_id", "_last_updated_sequence_number"};
  const auto before = SortedRows(table, lineage);
  EXPECT_THAT(before, ElementsAre("0|0|1|", "1|1|2|", "2|2|3|", "3|3|4|", "4|4|5|"));
  ASSERT_TRUE(RewriteDataFiles(table).ok());
  table = Appended(table.Refresh().ValueOrDie(), 1);
  RewriteOptions all;
  all.rewrite_all = true;
  ASSERT_TRUE(RewriteDataFiles(table, all).ok());
  table = table.Refresh().ValueOrDie();
  EXPECT_EQ(LiveFiles(table), 1);
  auto rows = SortedRows(table, lineage);
  ASSERT_THAT(rows, SizeIs(6));
  EXPECT_TRUE(std::includes(rows.begin(), rows.end(), before.begin(), before.end()));
}

TEST_F(RewriteTest, StopsWhenAskedAndLeavesNothing) {
  auto table = Appended(MakeTable(), 5);
  const auto files = testing::FilesBelow(testing::DataFolder(table));
  arrow::StopSource source;
  source.RequestStop();
  arrow::StopToken token = source.token();
  Context context;
  context.stop = &token;
  EXPECT_TRUE(RewriteDataFiles(table, {}, context).status().IsCancelled());
  EXPECT_EQ(testing::FilesBelow(testing::DataFolder(table)), files);
}

TEST_F(RewriteTest, KeepsWithinAMemoryBudget) {
  auto table = MakeTable("", 2, {{"write.parquet.compression-codec", "uncompressed"}});
  for (unsigned i = 0; i < 6; ++i) {
    ASSERT_TRUE(testing::Append(table, RandomRows(500000, i)).ok());
    table = table.Refresh().ValueOrDie();
  }
  const auto rows = ScanTable(table, {}).ValueOrDie();
  Context context;
  context.memory_budget_bytes = 48 << 20;  // of 24 MB of data, read and written at once
  auto result = RewriteDataFiles(table, {}, context);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_LE(result->peak_memory_bytes, 48 << 20);
  EXPECT_GT(result->peak_memory_bytes, 0);
  EXPECT_EQ(result->rows, 3000000);
  context.memory_budget_bytes = 1 << 20;
  RewriteOptions all;
  all.rewrite_all = true;
  auto status = RewriteDataFiles(table.Refresh().ValueOrDie(), all, context).status();
  EXPECT_TRUE(status.IsOutOfMemory()) << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr("memory budget"));
}

TEST_F(RewriteTest, ReportsProgress) {
  auto table = Appended(MakeTable(), 5);
  Context context;
  Progress last;
  context.progress = [&](const Progress& progress) { last = progress; };
  ASSERT_TRUE(RewriteDataFiles(table, {}, context).ok());
  EXPECT_EQ(last.rows, 5);
  EXPECT_EQ(last.bytes, last.total_bytes);
  EXPECT_GT(last.total_bytes, 0);
}

}  // namespace
}  // namespace calve
