#include "catalog_testing.h"
#include "test_data.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace calve {
namespace {

namespace fs = std::filesystem;

std::string NewestOf(const arrow::Result<Table>& table) {
  return table.ok() ? fs::path(table->metadata_location()).filename().string() : table.status().ToString();
}

/// Every table that Spark wrote opens at the version that its hint names, through the map from where it was written.
TEST(OpenTable, TablesOfSpark) {
  CALVE_SHARED_DATA(shared);
  const std::string warehouse = shared + "/spark-iceberg/warehouse";
  int tables = 0;
  for (const auto& entry : fs::directory_iterator(warehouse + "/t")) {
    auto table = OpenTable(entry.path(), {{"/tmp/calve-warehouse", warehouse}});
    ASSERT_TRUE(table.ok()) << table.status();
    const std::string hint = testing::ReadText(entry.path() / "metadata/version-hint.text");
    EXPECT_THAT(NewestOf(table), ::testing::MatchesRegex("v" + hint + "(\\.gz)?\\.metadata\\.json")) << entry.path();
    EXPECT_THAT(table->metadata_location(), ::testing::StartsWith("/tmp/calve-warehouse/t/")) << entry.path();
    tables += 1;
  }
  EXPECT_EQ(tables, 61);
}

TEST(OpenTable, TablesOfOthers) {
  CALVE_SHARED_DATA(shared);
  const std::string root = shared + "/duckdb-iceberg/";
  const std::vector<std::pair<std::string, std::string>> moved = {{"data/persistent", root + "data/persistent"}};
  const std::pair<const char*, const char*> cases[] = {
      {"iceberg/lineitem_iceberg", "v2.metadata.json"},
      {"iceberg/lineitem_iceberg_gz", "v2.gz.metadata.json"},
      {"name_mapping/warehouse_1/mydb/t1", "v7.metadata.json"},
      {"uuid", "00001-43fda1f4-1c96-4376-ad16-91beb71d0759.metadata.json"},
      {"is_null_is_not_null", "00001-43ceeb9a-cd0d-4556-b1e2-513b5bf88ff8.metadata.json"},
      {"null_stats/default/test_nulls", "00003-9d6a621e-8a72-4190-a880-f6ca02e32b86.metadata.json"},
      {"legacy_bare_deletion_vector/warehouse/default/legacy_bare_deletion_vector",
       "00002-legacy-bare-dv.metadata.json"},
      {"iceberg_v1_deprecated/default/legacy_v1", "v2.metadata.json"}};
  for (const auto& [folder, newest] : cases) {
    EXPECT_EQ(NewestOf(OpenTable(root + "data/persistent/" + folder, moved)), newest) << folder;
  }
}

/// Purging a table of Spark leaves nothing of it, checksum files included.
TEST(OpenTable, PurgingATableOfSpark) {
  CALVE_SHARED_DATA(shared);
  for (const std::string name : {"p_bucket_id", "pe_v2", "v1_snaps", "refs_v2"}) {
    testing::TempFolder folder;
    fs::create_directories(folder / "wh/db");
    fs::copy(shared + "/spark-iceberg/warehouse/t/" + name, folder / "wh/db/t", fs::copy_options::recursive);
    CatalogConfig config = testing::FilesystemConfig(folder);
    config.moved = {{"/tmp/calve-warehouse/t/" + name, folder / "wh/db/t"}};
    auto catalog = testing::OpenCatalog(config);
    ASSERT_GT(testing::LiveDataFiles(catalog->LoadTable("db.t").ValueOrDie()).size(), 0u);
    ASSERT_TRUE(catalog->DropTable("db.t", true).ok());
    std::vector<std::string> left;
    for (const auto& entry : fs::recursive_directory_iterator(folder / "wh")) left.push_back(entry.path());
    EXPECT_THAT(left, ::testing::ElementsAre(folder / "wh/db")) << name;
  }
}

/// Appends to copies of tables of each format version keep everything that was there.
TEST(OpenTable, AppendsToCopiesOfTablesOfSpark) {
  CALVE_SHARED_DATA(shared);
  for (const char* name : {"v1_snaps", "p_bucket_id", "pe_v2", "se_basic", "refs_v2", "dv_v3", "v2_to_v3", "meta_gzip",
                           "eq_deletes_v2", "mor_v2_file", "cow_v2", "m_expire"}) {
    testing::TempFolder folder;
    fs::copy(shared + "/spark-iceberg/warehouse/t/" + name, folder / name, fs::copy_options::recursive);
    auto table = OpenTable(folder / name, {{std::string("/tmp/calve-warehouse/t/") + name, folder / name}});
    ASSERT_TRUE(table.ok()) << table.status();
    const auto files = testing::LiveDataFiles(*table);
    const iceberg::TableMetadata before = table->version()->metadata;

    iceberg::SnapshotChange change;
    change.operation = "append";
    iceberg::DataFile file;
    file.file_path = iceberg::DataLocation(before) + "/new.parquet";
    file.file_format = "PARQUET";
    file.spec_id = before.default_spec_id;
    file.partition.resize(before.spec().fields.size());
    file.record_count = 3;
    file.file_size_in_bytes = 100;
    change.added = {file};
    auto result = iceberg::CommitSnapshot(*table->store(), *table->version(), change);
    ASSERT_TRUE(result.ok()) << name << ": " << result.status();

    auto reopened = table->Refresh();
    ASSERT_TRUE(reopened.ok()) << reopened.status();
    const iceberg::TableMetadata& after = reopened->version()->metadata;
    EXPECT_EQ(testing::LiveDataFiles(*reopened).size(), files.size() + 1) << name;
    EXPECT_EQ(after.snapshots.size(), before.snapshots.size() + 1) << name;
    EXPECT_EQ(after.refs.size(), std::max<size_t>(before.refs.size(), 1)) << name;
    EXPECT_EQ(after.schemas.size(), before.schemas.size()) << name;
    if (after.format_version < 3) continue;
    EXPECT_GE(after.next_row_id, before.next_row_id + 3) << name;
  }
}

}  // namespace
}  // namespace calve
