#include "calve/table.h"

#include "calve/iceberg/commit.h"
#include "calve/iceberg/json_members.h"
#include "calve/io/file_io.h"
#include "test_data.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace calve::iceberg {
namespace {

using nlohmann::json;

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A table that only its metadata file is known of.
class FileStore : public TableStore {
 public:
  FileStore(std::string path, PathMap paths) : path_(std::move(path)), io_(std::move(paths)) {}
  const FileIO& io() const override { return io_; }
  const std::string& name() const override { return path_; }
  Result<TableVersion> Load() override {
    ARROW_ASSIGN_OR_RAISE(TableMetadata metadata, ParseTableMetadata(Contents(path_)));
    return TableVersion{std::move(metadata), path_};
  }
  Result<TableVersion> Swap(const TableVersion&, const TableMetadata&) override { return NotImplemented("swap"); }

 private:
  std::string path_;
  FileIO io_;
};

Table Open(const std::string& folder, const std::string& metadata) {
  const std::string warehouse = folder + "/spark-iceberg/warehouse";
  auto store = std::make_shared<FileStore>(warehouse + "/" + metadata, PathMap({{"/tmp/calve-warehouse", warehouse}}));
  auto version = store->Load();
  EXPECT_TRUE(version.ok()) << version.status().ToString();
  return Table(store, std::make_shared<const TableVersion>(*version));
}

std::shared_ptr<arrow::RecordBatch> Rows(const Result<std::shared_ptr<arrow::RecordBatch>>& batch) {
  EXPECT_TRUE(batch.ok()) << batch.status().ToString();
  return batch.ok() ? *batch : nullptr;
}

std::string Cell(const arrow::RecordBatch& batch, const std::string& column, int64_t row) {
  return batch.GetColumnByName(column)->GetScalar(row).ValueOrDie()->ToString();
}

TEST(Table, HandleTellsItsVersion) {
  CALVE_SHARED_DATA(folder);
  const Table table = Open(folder, "t/refs_v2/metadata/v10.metadata.json");
  EXPECT_EQ(table.format_version(), 2);
  EXPECT_EQ(table.current_snapshot_id(), 440275860196146887);
  EXPECT_EQ(table.properties().at("write.parquet.compression-codec"), "zstd");
  EXPECT_EQ((*table.schema())->num_fields(), 4);
  EXPECT_TRUE(table.metadata_location().ends_with("v10.metadata.json"));
  EXPECT_EQ(table.Refresh()->current_snapshot_id(), table.current_snapshot_id());
  EXPECT_EQ((*ParseJson(*table.MetadataJson()))["location"], "/tmp/calve-warehouse/t/refs_v2");
}

TEST(Table, SnapshotsAndRefs) {
  CALVE_SHARED_DATA(folder);
  const Table table = Open(folder, "t/refs_v2/metadata/v10.metadata.json");
  auto snapshots = Rows(table.Snapshots());
  ASSERT_EQ(snapshots->num_rows(), 6);
  EXPECT_EQ(Cell(*snapshots, "snapshot_id", 0), "5278309716072472687");
  EXPECT_EQ(Cell(*snapshots, "parent_id", 0), "null");
  EXPECT_EQ(Cell(*snapshots, "parent_id", 1), "5278309716072472687");
  EXPECT_EQ(Cell(*snapshots, "committed_at", 0), "2026-11-30 19:49:28.061Z");
  EXPECT_EQ(Cell(*snapshots, "sequence_number", 5), "6");
  EXPECT_EQ(Cell(*snapshots, "operation", 3), "overwrite");
  EXPECT_NE(Cell(*snapshots, "summary", 0).find("added-records"), std::string::npos);
  auto refs = Rows(table.Refs());
  ASSERT_EQ(refs->num_rows(), 4);
  EXPECT_EQ(Cell(*refs, "name", 3), "t1");
  EXPECT_EQ(Cell(*refs, "type", 3), "TAG");
  EXPECT_EQ(Cell(*refs, "max_reference_age_in_ms", 3), "315360000000");
  EXPECT_EQ(Cell(*refs, "type", 0), "BRANCH");
}

TEST(Table, FilesAndManifests) {
  CALVE_SHARED_DATA(folder);
  const Table table = Open(folder, "t/p_ident_cat/metadata/v2.metadata.json");
  auto files = Rows(table.Files());
  ASSERT_EQ(files->num_rows(), 8);
  std::set<std::string> partitions;
  int64_t rows = 0;
  for (int64_t i = 0; i < files->num_rows(); ++i) {
    EXPECT_EQ(Cell(*files, "content", i), "data");
    EXPECT_EQ(Cell(*files, "file_format", i), "PARQUET");
    EXPECT_NE(Cell(*files, "lower_bounds", i).find("id"), std::string::npos);
    // Java puts the same text into its paths.
    const std::string partition = Cell(*files, "partition", i);
    EXPECT_NE(Cell(*files, "file_path", i).find("/data/" + partition + "/"), std::string::npos) << partition;
    partitions.insert(partition);
    rows += static_cast<const arrow::Int64Array&>(*files->GetColumnByName("record_count")).Value(i);
  }
  EXPECT_EQ(partitions.size(), 8u);
  EXPECT_EQ(rows, 60);
  auto manifests = Rows(table.Manifests());
  ASSERT_EQ(manifests->num_rows(), 1);
  EXPECT_EQ(Cell(*manifests, "content", 0), "data");
  EXPECT_EQ(Cell(*manifests, "added_files_count", 0), "8");
  EXPECT_EQ(Cell(*manifests, "added_rows_count", 0), "60");
  EXPECT_TRUE(table.Files(123).status().IsInvalid());
}

TEST(Table, DeleteFilesAreListed) {
  CALVE_SHARED_DATA(folder);
  const Table table = Open(folder, "t/mor_v2_file/metadata/v9.metadata.json");
  auto files = Rows(table.Files());
  int deletes = 0;
  for (int64_t i = 0; i < files->num_rows(); ++i) deletes += Cell(*files, "content", i) == "position_deletes";
  EXPECT_GT(deletes, 0);
  EXPECT_LT(deletes, files->num_rows());
}

TEST(Table, EmptyTableHasNoRows) {
  CALVE_SHARED_DATA(folder);
  const Table table = Open(folder, "t/empty/metadata/v1.metadata.json");
  EXPECT_EQ(Rows(table.Snapshots())->num_rows(), 0);
  EXPECT_EQ(Rows(table.Refs())->num_rows(), 0);
  EXPECT_EQ(Rows(table.Files())->num_rows(), 0);
  EXPECT_EQ(Rows(table.Manifests())->num_rows(), 0);
}

}  // namespace
}  // namespace calve::iceberg
