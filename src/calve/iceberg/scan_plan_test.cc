#include "calve/iceberg/scan_plan.h"

#include "calve/expr/evaluate.h"
#include "calve/expression.h"
#include "calve/iceberg/json_members.h"
#include "calve/io/file_io.h"
#include "test_data.h"

#include <arrow/array.h>
#include <arrow/io/file.h>
#include <arrow/table.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace calve::iceberg {
namespace {

using nlohmann::json;

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The tables that Spark wrote, with what it says of them.
class SparkTables {
 public:
  explicit SparkTables(const std::string& folder)
      : root_(folder + "/spark-iceberg"),
        io_(PathMap({{"/tmp/calve-warehouse", root_ + "/warehouse"}})),
        tables_(json::parse(Contents(root_ + "/tables.json"))) {}

  const json& tables() const { return tables_; }
  const FileIO& io() const { return io_; }

  TableMetadata Load(const json& table) const {
    auto metadata = ParseTableMetadata(Contents(root_ + "/warehouse/" + table["current_metadata"].get<std::string>()));
    EXPECT_TRUE(metadata.ok()) << table["table"] << ": " << metadata.status().ToString();
    return metadata.ok() ? *metadata : TableMetadata{};
  }

  TableMetadata LoadNamed(const std::string& name) const {
    for (const json& table : tables_) {
      if (table["table"] == "t." + name) return Load(table);
    }
    ADD_FAILURE() << "no table " << name;
    return {};
  }

  ScanPlan Plan(const TableMetadata& metadata, const Snapshot* snapshot, const expr::NodePtr& filter = nullptr,
                int threads = 1) const {
    Context context;
    context.threads = threads;
    auto plan = PlanScan(io_, metadata, snapshot, metadata.schema(), filter, context);
    EXPECT_TRUE(plan.ok()) << metadata.location << ": " << plan.status().ToString();
    return plan.ok() ? *plan : ScanPlan{};
  }

 private:
  std::string root_;
  FileIO io_;
  json tables_;
};

bool HasDeletes(const ScanPlan& plan) {
  return std::any_of(plan.tasks.begin(), plan.tasks.end(), [](const auto& task) { return !task.deletes.empty(); });
}

TEST(ScanPlan, EverySnapshotOfSparkHasItsRows) {
  CALVE_SHARED_DATA(folder);
  const SparkTables spark(folder);
  int without_deletes = 0, with_deletes = 0;
  for (const json& table : spark.tables()) {
    const TableMetadata metadata = spark.Load(table);
    for (const json& expected : table["snapshots"]) {
      if (!expected.contains("rows")) continue;
      const Snapshot* snapshot = metadata.FindSnapshot(expected["snapshot_id"]);
      ASSERT_NE(snapshot, nullptr) << table["table"];
      const ScanPlan plan = spark.Plan(metadata, snapshot);
      if (HasDeletes(plan)) {
        ++with_deletes;
        EXPECT_GT(plan.counts.rows_planned, expected["rows"]) << table["table"] << " " << snapshot->snapshot_id;
        EXPECT_TRUE(CheckSupported(plan).IsNotImplemented()) << table["table"];
        continue;
      }
      ++without_deletes;
      EXPECT_EQ(plan.counts.rows_planned, expected["rows"]) << table["table"] << " " << snapshot->snapshot_id;
      EXPECT_EQ(plan.counts.data_files_total, static_cast<int64_t>(plan.tasks.size())) << table["table"];
    }
  }
  EXPECT_EQ(without_deletes, 126);
  EXPECT_EQ(with_deletes, 24);
}

TEST(ScanPlan, LiveFilesAreSparks) {
  CALVE_SHARED_DATA(folder);
  const SparkTables spark(folder);
  int checked = 0;
  for (const json& table : spark.tables()) {
    if (!table.contains("live_files") || table["live_files"].empty()) continue;
    const TableMetadata metadata = spark.Load(table);
    const ScanPlan plan = spark.Plan(metadata, metadata.current_snapshot());
    std::set<std::string> expected, got;
    for (const json& file : table["live_files"]) {
      if (file["content"] == "data") expected.insert("/tmp/calve-warehouse/" + file["path"].get<std::string>());
    }
    for (const FileScanTask& task : plan.tasks) got.insert(task.file.file_path);
    EXPECT_EQ(got, expected) << table["table"];
    ++checked;
  }
  EXPECT_EQ(checked, 57);
}

struct OtherTable {
  const char* metadata;  ///< below the folder of the tables
  const char* location;  ///< as the metadata spells the table's folder
  const char* folder;    ///< where that lies, below the folder of the tables
  int64_t snapshot_id;   ///< 0: the current one
  int64_t rows;
};

// Tables of many writers; the numbers of rows are those that their origin tells.
constexpr OtherTable kOtherTables[] = {
    {"iceberg/lineitem_iceberg/metadata/v2.metadata.json", "lineitem_iceberg", "iceberg/lineitem_iceberg",
     7817332053627255703, 60175},
    {"iceberg/lineitem_iceberg/metadata/v2.metadata.json", "lineitem_iceberg", "iceberg/lineitem_iceberg", 0, 51793},
    {"hive_partitioned_table/metadata/*", "data/persistent", "", 0, 6},
    {"partition_decimal_hugeint/metadata/*", "data/persistent", "", 0, 15},
    {"partition_timestamp/default.db/partition_timestamp/metadata/*", "data/persistent", "", 0, 2},
    {"partition_fixed_length_binary/default.db/partition_fixed_length_binary/metadata/*", "data/persistent", "", 0, 2},
    {"add_columns_with_defaults/default.db/add_columns_with_defaults/metadata/*", "data/persistent", "", 0, 3},
    {"column_mapping/warehouse/default.db/my_table/metadata/*", "data/persistent", "", 0, 3},
    {"is_null_is_not_null/metadata/*", "data/persistent", "", 0, 8},
    {"uuid/metadata/*", "data/persistent", "", 0, 10},
    {"iceberg/lineitem_iceberg_gz/metadata/v2.gz.metadata.json", "lineitem_iceberg_gz", "iceberg/lineitem_iceberg_gz",
     0, 111968},
    {"null_stats/default/test_nulls/metadata/*", "data/persistent", "", 0, 9},
    {"iceberg_v1_deprecated/default/legacy_v1/metadata/*", "data/persistent", "", 0, 3},
};

// `pattern`, or the last metadata file of the folder that it names with a star.
std::string MetadataFile(const std::string& folder, std::string pattern) {
  if (!pattern.ends_with("*")) return folder + "/" + pattern;
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/" + pattern.substr(0, pattern.size() - 1))) {
    if (entry.path().string().ends_with(".metadata.json")) files.insert(entry.path().string());
  }
  return files.empty() ? "" : *files.rbegin();
}

TEST(ScanPlan, TablesOfOtherWritersHaveTheirRows) {
  CALVE_SHARED_DATA(shared);
  const std::string folder = shared + "/duckdb-iceberg/data/persistent";
  for (const OtherTable& table : kOtherTables) {
    SCOPED_TRACE(table.metadata);
    auto metadata = ParseTableMetadata(Contents(MetadataFile(folder, table.metadata)));
    ASSERT_TRUE(metadata.ok()) << metadata.status().ToString();
    const Snapshot* snapshot =
        table.snapshot_id != 0 ? metadata->FindSnapshot(table.snapshot_id) : metadata->current_snapshot();
    ASSERT_NE(snapshot, nullptr);
    const FileIO io(PathMap({{table.location, folder + "/" + table.folder}}));
    auto plan = PlanScan(io, *metadata, snapshot, metadata->schema(), nullptr, {});
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    EXPECT_EQ(plan->counts.rows_planned, table.rows);
    EXPECT_TRUE(CheckSupported(*plan).ok()) << CheckSupported(*plan).ToString();
  }
}

TEST(ScanPlan, ParallelPlansAreTheSame) {
  CALVE_SHARED_DATA(folder);
  const SparkTables spark(folder);
  const TableMetadata metadata = spark.LoadNamed("m_manifests");
  for (const Snapshot& snapshot : metadata.snapshots) {
    const ScanPlan one = spark.Plan(metadata, &snapshot, nullptr, 1);
    const ScanPlan many = spark.Plan(metadata, &snapshot, nullptr, 4);
    ASSERT_EQ(one.tasks.size(), many.tasks.size());
    for (size_t i = 0; i < one.tasks.size(); ++i) EXPECT_EQ(one.tasks[i].file.file_path, many.tasks[i].file.file_path);
  }
}

TEST(ScanPlan, EmptyTable) {
  CALVE_SHARED_DATA(folder);
  const SparkTables spark(folder);
  const TableMetadata metadata = spark.LoadNamed("empty");
  const ScanPlan plan = spark.Plan(metadata, metadata.current_snapshot());
  EXPECT_TRUE(plan.tasks.empty());
  EXPECT_EQ(plan.counts.manifests_total, 0);
}

TEST(ScanPlan, DeleteKindsAreRefusedByName) {
  CALVE_SHARED_DATA(folder);
  const SparkTables spark(folder);
  auto refusal = [&](const std::string& name) {
    const TableMetadata metadata = spark.LoadNamed(name);
    return CheckSupported(spark.Plan(metadata, metadata.current_snapshot())).message();
  };
  EXPECT_EQ(refusal("mor_v2_file").rfind("position deletes are not supported yet (file ", 0), 0u)
      << refusal("mor_v2_file");
  EXPECT_EQ(refusal("dv_v3").rfind("deletion vectors are not supported yet (file ", 0), 0u) << refusal("dv_v3");
  EXPECT_EQ(refusal("eq_deletes_v2").rfind("equality deletes are not supported yet (file ", 0), 0u)
      << refusal("eq_deletes_v2");
  EXPECT_EQ(refusal("fmt_avro").rfind("data files in Avro are not supported yet (file ", 0), 0u) << refusal("fmt_avro");
  EXPECT_EQ(refusal("fmt_orc").rfind("data files in ORC are not supported yet (file ", 0), 0u) << refusal("fmt_orc");
  EXPECT_EQ(refusal("all_types"), "");
}

TEST(ScanPlan, RowIdsPassThrough) {
  CALVE_SHARED_DATA(folder);
  const SparkTables spark(folder);
  const TableMetadata metadata = spark.LoadNamed("dv_v3");
  const ScanPlan plan = spark.Plan(metadata, metadata.current_snapshot());
  ASSERT_FALSE(plan.tasks.empty());
  std::set<int64_t> taken;
  for (const FileScanTask& task : plan.tasks) {
    ASSERT_TRUE(task.first_row_id.has_value());
    for (int64_t row = 0; row < task.file.record_count; ++row)
      EXPECT_TRUE(taken.insert(*task.first_row_id + row).second);
    EXPECT_LE(*task.first_row_id + task.file.record_count, metadata.next_row_id);
  }
}

/// The rows of data files, read by libparquet.
class Files {
 public:
  explicit Files(const FileIO& io) : io_(io) {}

  const arrow::RecordBatch& Read(const std::string& location) {
    auto& batch = batches_[location];
    if (batch == nullptr) batch = Load(location);
    return *batch;
  }

 private:
  std::shared_ptr<arrow::RecordBatch> Load(const std::string& location) const {
    auto file = arrow::io::ReadableFile::Open(*io_.LocalPath(location)).ValueOrDie();
    auto reader = ::parquet::arrow::OpenFile(file, arrow::default_memory_pool()).ValueOrDie();
    std::shared_ptr<arrow::Table> table = reader->ReadTable().ValueOrDie();
    return table->CombineChunksToBatch().ValueOrDie();
  }

  const FileIO& io_;
  std::map<std::string, std::shared_ptr<arrow::RecordBatch>> batches_;
};

// The rows of `batch` that `filter` keeps, as text.
std::string Matches(const expr::NodePtr& filter, const arrow::RecordBatch& batch) {
  auto rebound = expr::Rebind(filter, *batch.schema());
  EXPECT_TRUE(rebound.ok()) << rebound.status().ToString();
  auto kept = expr::Evaluate(*rebound, batch, arrow::default_memory_pool());
  EXPECT_TRUE(kept.ok()) << kept.status().ToString();
  std::string rows;
  for (int64_t i = 0; i < batch.num_rows(); ++i) rows += (*kept)->IsValid(i) && (*kept)->Value(i) ? '1' : '0';
  return rows;
}

constexpr const char* kFilters[] = {"id = 5",
                                    "id < 10",
                                    "id >= 20 AND id < 30",
                                    "id IN (1, 7, 40)",
                                    "id NOT IN (1, 2)",
                                    "i = -14",
                                    "i IS NULL",
                                    "i > 15",
                                    "i BETWEEN -10 AND 10",
                                    "i != 19",
                                    "name = 'beta'",
                                    "name LIKE 'al%'",
                                    "NOT name LIKE 'al%'",
                                    "name < 'b'",
                                    "name IS NULL",
                                    "cat = ''",
                                    "cat = 'p/q'",
                                    "cat IS NOT NULL",
                                    "cat IN ('a', 'p/q')",
                                    "cat != 'p/q'",
                                    "d = DATE '1969-12-31'",
                                    "d < DATE '1970-01-01'",
                                    "d <= DATE '1970-01-01'",
                                    "d >= DATE '2024-01-01'",
                                    "d IS NULL",
                                    "ts < TIMESTAMP '1970-01-01 00:00:00'",
                                    "ts >= TIMESTAMP '1970-01-01 00:00:00'",
                                    "ts = TIMESTAMP '1971-01-01 03:25:45.678901+00:00'",
                                    "ts < TIMESTAMP '1969-12-31 03:25:45.678902+00:00'",
                                    "ts > TIMESTAMP '2024-10-04 03:25:45.678901+00:00'",
                                    "dec = 3.10",
                                    "dec < 0",
                                    "dec >= 50",
                                    "bin = X'fa71'",
                                    "bin = X''",
                                    "bin < X'40'",
                                    "v != 3",
                                    "v IS NAN",
                                    "v > 5",
                                    "v <= 0",
                                    "bo = TRUE",
                                    "bo IS NULL",
                                    "id < 10 AND cat = 'p/q'",
                                    "id < 0 OR d = DATE '1969-12-31'",
                                    "NOT (i > 0 OR cat = '')",
                                    "d30 > 0",
                                    "tn < TIMESTAMP '1970-01-01 00:00:00'",
                                    "TRUE",
                                    "FALSE"};

// The plan under a filter: no file with a matching row may be missing, counts add up, and what is left of the filter
// keeps the same rows of each file.
void CheckPlan(const SparkTables& spark, const TableMetadata& metadata, const std::string& text, Files* files,
               PlanCounts* sum) {
  SCOPED_TRACE(metadata.location + " where " + text);
  auto filter = expr::Bind(Expression::Parse(text)->root(), **ToArrow(metadata.schema()));
  ASSERT_TRUE(filter.ok()) << filter.status().ToString();
  const ScanPlan all = spark.Plan(metadata, metadata.current_snapshot());
  const ScanPlan plan = spark.Plan(metadata, metadata.current_snapshot(), *filter);
  std::map<std::string, const FileScanTask*> planned;
  for (const FileScanTask& task : plan.tasks) planned[task.file.file_path] = &task;
  for (const FileScanTask& task : all.tasks) {
    const arrow::RecordBatch& batch = files->Read(task.file.file_path);
    const std::string expected = Matches(*filter, batch);
    auto found = planned.find(task.file.file_path);
    if (found == planned.end()) {
      EXPECT_EQ(expected.find('1'), std::string::npos) << "a match is lost in " << task.file.file_path;
    } else {
      EXPECT_EQ(Matches(found->second->residual, batch), expected)
          << "residual " << expr::ToString(found->second->residual) << " of " << task.file.file_path;
    }
  }
  const PlanCounts& counts = plan.counts;
  EXPECT_EQ(counts.data_files_total, static_cast<int64_t>(all.tasks.size()));
  EXPECT_EQ(counts.data_files_skipped, static_cast<int64_t>(all.tasks.size() - plan.tasks.size()));
  EXPECT_EQ(counts.data_files_skipped, counts.data_files_skipped_by_partition + counts.data_files_skipped_by_bounds);
  EXPECT_EQ(counts.manifests_total, counts.manifests_skipped + counts.manifests_read);
  sum->data_files_skipped_by_partition += counts.data_files_skipped_by_partition;
  sum->data_files_skipped_by_bounds += counts.data_files_skipped_by_bounds;
  sum->manifests_skipped += counts.manifests_skipped;
}

TEST(ScanPlan, FiltersNeverLoseARow) {
  CALVE_SHARED_DATA(folder);
  const SparkTables spark(folder);
  int tables = 0;
  for (const json& table : spark.tables()) {
    const std::string name = table["table"];
    if (name.rfind("t.p_", 0) != 0) continue;
    ++tables;
    const TableMetadata metadata = spark.Load(table);
    Files files(spark.io());
    PlanCounts skipped;
    for (const char* filter : kFilters) {
      bool fits = true;
      // Two of the tables have fewer columns.
      auto bound = expr::Bind(Expression::Parse(filter)->root(), **ToArrow(metadata.schema()));
      if (!bound.ok()) fits = false;
      if (fits) CheckPlan(spark, metadata, filter, &files, &skipped);
    }
    EXPECT_GT(skipped.data_files_skipped_by_bounds, 0) << name;
    EXPECT_GT(skipped.data_files_skipped_by_partition, 0) << name;
    EXPECT_GT(skipped.manifests_skipped, 0) << name;
  }
  EXPECT_EQ(tables, 19);
}

}  // namespace
}  // namespace calve::iceberg
