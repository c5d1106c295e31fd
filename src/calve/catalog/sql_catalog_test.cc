#include "calve/catalog/sql_catalog.h"

#include "calve/base/status.h"
#include "catalog_testing.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace calve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Mode = SqliteConnection::Mode;

class SqlCatalogs : public ::testing::Test {
 protected:
  void SetUp() override { catalog_ = testing::OpenCatalog(testing::SqlConfig(folder_)); }
  arrow::Result<Table> Create(const std::string& name, const CreateTableOptions& options = {}) {
    return catalog_->CreateTable(name, *testing::IdAndName(), options);
  }
  SqliteConnection Database() { return SqliteConnection::Open(folder_ / "catalog.db", Mode::kCreate).ValueOrDie(); }
  std::vector<SqliteConnection::Row> Query(const std::string& sql) {
    auto rows = Database().Query(sql, {});
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.ValueOr({});
  }
  std::vector<std::string> MetadataFiles() {
    std::vector<std::string> names;
    for (const std::string& name : testing::FileNames(folder_ / "wh/db/t/metadata")) {
      if (name.ends_with(".metadata.json")) names.push_back(name);
    }
    return names;
  }

  testing::TempFolder folder_;
  std::unique_ptr<Catalog> catalog_;
};

TEST_F(SqlCatalogs, CreateListLoadDrop) {
  ASSERT_TRUE(Create("db.t").ok());
  ASSERT_TRUE(Create("a.b.u").ok());
  EXPECT_THAT(catalog_->ListNamespaces().ValueOrDie(), ElementsAre("a.b", "db"));
  EXPECT_THAT(catalog_->ListTables("db").ValueOrDie(), ElementsAre("t"));
  EXPECT_THAT(catalog_->ListTables("a").ValueOrDie(), ElementsAre());
  EXPECT_THAT(catalog_->ListTables("none").status().message(), HasSubstr("no such namespace"));
  auto table = catalog_->LoadTable("a.b.u");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->version()->metadata.location, folder_ / "wh/a/b/u");
  EXPECT_EQ(table->name(), "a.b.u");

  ASSERT_TRUE(catalog_->DropTable("db.t", false).ok());
  EXPECT_FALSE(catalog_->LoadTable("db.t").ok());
  EXPECT_EQ(MetadataFiles().size(), 1u) << "its files stay";
  EXPECT_THAT(catalog_->DropTable("db.t", false).message(), HasSubstr("no such table: db.t"));
  ASSERT_TRUE(catalog_->DropTable("a.b.u", true).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "wh/a/b/u"));
}

TEST_F(SqlCatalogs, RowsAsPyicebergWritesThem) {
  Table table = Create("db.t").ValueOrDie();
  auto rows = Query(
      "SELECT catalog_name, table_namespace, table_name, metadata_location, previous_metadata_location, "
      "iceberg_type FROM iceberg_tables");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0][0], "test");
  EXPECT_EQ(rows[0][1], "db");
  EXPECT_EQ(rows[0][2], "t");
  const std::string first = rows[0][3].value();
  EXPECT_THAT(first, MatchesRegex(".*/wh/db/t/metadata/00000-[0-9a-f-]{36}\\.metadata\\.json"));
  EXPECT_EQ(rows[0][4], std::nullopt);
  EXPECT_EQ(rows[0][5], "TABLE");
  auto properties = Query(
      "SELECT catalog_name, namespace, property_key, property_value FROM "
      "iceberg_namespace_properties");
  ASSERT_EQ(properties.size(), 1u);
  EXPECT_THAT(properties[0], ElementsAre("test", "db", "exists", "true"));

  ASSERT_TRUE(testing::AppendOne(table, "a").ok());
  rows = Query("SELECT metadata_location, previous_metadata_location FROM iceberg_tables");
  EXPECT_THAT(rows[0][0].value(), MatchesRegex(".*/00001-[0-9a-f-]{36}\\.metadata\\.json"));
  EXPECT_EQ(rows[0][1], first);
  EXPECT_EQ(Query("PRAGMA journal_mode")[0][0], "delete");
}

TEST_F(SqlCatalogs, TableThatExists) {
  ASSERT_TRUE(Create("db.t").ok());
  Status status = Create("db.t").status();
  EXPECT_TRUE(status.IsAlreadyExists()) << status;
  EXPECT_EQ(MetadataFiles().size(), 1u) << "the second metadata file is deleted";
}

TEST_F(SqlCatalogs, CatalogsShareADatabase) {
  ASSERT_TRUE(Create("db.t").ok());
  auto other = testing::OpenCatalog(testing::SqlConfig(folder_, "other"));
  EXPECT_FALSE(other->LoadTable("db.t").ok());
  EXPECT_THAT(other->ListNamespaces().ValueOrDie(), ElementsAre());
}

TEST_F(SqlCatalogs, NoDatabase) {
  EXPECT_THAT(catalog_->LoadTable("db.t").status().message(), HasSubstr("no such catalog database"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "catalog.db")) << "reading made one";
  ASSERT_TRUE(Database().Execute("CREATE TABLE x (a TEXT)").ok());
  EXPECT_THAT(catalog_->ListNamespaces().status().message(), HasSubstr("no table iceberg_tables"));
  EXPECT_TRUE(Create("db.t").ok());
}

// Schema V0 of Java's JdbcCatalog: no iceberg_type.
TEST_F(SqlCatalogs, SchemaV0) {
  ASSERT_TRUE(
      Database()
          .Execute("CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL,table_namespace VARCHAR(255) "
                   "NOT NULL,table_name VARCHAR(255) NOT NULL,metadata_location VARCHAR(1000),"
                   "previous_metadata_location VARCHAR(1000),PRIMARY KEY (catalog_name, table_namespace, "
                   "table_name))")
          .ok());
  Table table = Create("db.t").ValueOrDie();
  ASSERT_TRUE(testing::AppendOne(table, "a").ok());
  EXPECT_THAT(catalog_->ListTables("db").ValueOrDie(), ElementsAre("t"));
  EXPECT_EQ(testing::LiveDataFiles(catalog_->LoadTable("db.t").ValueOrDie()).size(), 1u);
  ASSERT_TRUE(catalog_->DropTable("db.t", true).ok());
}

TEST_F(SqlCatalogs, ViewsAreNoTables) {
  ASSERT_TRUE(Create("db.t").ok());
  ASSERT_TRUE(Database().Execute("INSERT INTO iceberg_tables VALUES ('test', 'db', 'v', '/x', NULL, 'VIEW')").ok());
  ASSERT_TRUE(Database().Execute("UPDATE iceberg_tables SET iceberg_type = NULL WHERE table_name = 't'").ok());
  EXPECT_THAT(catalog_->ListTables("db").ValueOrDie(), ElementsAre("t"));
  EXPECT_TRUE(catalog_->LoadTable("db.t").ok());
  EXPECT_THAT(catalog_->LoadTable("db.v").status().message(), HasSubstr("db.v is a VIEW"));
  EXPECT_TRUE(Create("db.v").status().IsAlreadyExists());
  EXPECT_FALSE(catalog_->DropTable("db.v", false).ok());
}

TEST_F(SqlCatalogs, Locations) {
  CreateTableOptions options;
  options.location = folder_ / "own/place/";
  EXPECT_EQ(Create("db.t", options).ValueOrDie().version()->metadata.location, folder_ / "own/place");
  ASSERT_TRUE(Database()
                  .Execute("INSERT INTO iceberg_namespace_properties VALUES ('test', 'db', 'location', ?)",
                           {"file://" + (folder_ / "ns")})
                  .ok());
  EXPECT_EQ(Create("db.u").ValueOrDie().version()->metadata.location, "file://" + (folder_ / "ns/u"));
  CatalogConfig config = testing::SqlConfig(folder_);
  config.properties.erase("warehouse");
  auto without = testing::OpenCatalog(config);
  EXPECT_THAT(without->CreateTable("x.t", *testing::IdAndName(), {}).status().message(), HasSubstr("'warehouse'"));
}

TEST_F(SqlCatalogs, PurgeKnowsAllSpellingsOfALocation) {
  CreateTableOptions options;
  options.location = "file://" + (folder_ / "wh/db/t");
  Table table = Create("db.t", options).ValueOrDie();
  for (const char* scheme : {"", "file:", "file://"}) {
    iceberg::SnapshotChange change;
    change.operation = "append";
    const std::string path = folder_ / fmt::format("wh/db/t/data/{}.parquet", std::string(scheme).size());
    testing::WriteText(path, "rows");
    change.added.push_back(iceberg::DataFile{.file_path = scheme + path, .file_format = "PARQUET"});
    Table newest = table.Refresh().ValueOrDie();
    auto result = iceberg::CommitSnapshot(*newest.store(), *newest.version(), change);
    ASSERT_TRUE(result.ok()) << result.status();
  }
  ASSERT_TRUE(catalog_->DropTable("db.t", true).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "wh/db/t"));
}

// ---- Commits ----

TEST_F(SqlCatalogs, SwapOfAStaleVersionIsAConflict) {
  Table stale = Create("db.t").ValueOrDie();
  ASSERT_TRUE(testing::AppendOne(stale, "a").ok());
  const auto before = MetadataFiles();
  auto swapped = stale.store()->Swap(*stale.version(), stale.version()->metadata);
  EXPECT_EQ(CommitFailureOf(swapped.status()), CommitFailure::kConflict) << swapped.status();
  EXPECT_EQ(MetadataFiles(), before) << "the metadata file of the lost attempt is left";
}

TEST_F(SqlCatalogs, LockedDatabaseWaits) {
  Table table = Create("db.t").ValueOrDie();
  auto connection = Database();
  auto transaction = SqliteTransaction::Begin(&connection).ValueOrDie();
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    transaction.reset();
  });
  auto result = testing::AppendOne(table, "a");
  release.join();
  EXPECT_TRUE(result.ok()) << result.status();
}

TEST_F(SqlCatalogs, DroppedTableIsNotCommittedTo) {
  Table table = Create("db.t").ValueOrDie();
  ASSERT_TRUE(catalog_->DropTable("db.t", false).ok());
  iceberg::SnapshotChange change;
  change.operation = "append";
  auto result = iceberg::CommitSnapshot(*table.store(), *table.version(), change);
  EXPECT_THAT(result.status().message(), HasSubstr("no such table"));
  EXPECT_EQ(MetadataFiles().size(), 1u);
}

TEST_F(SqlCatalogs, TwoThreadsRace) {
  CreateTableOptions options;
  options.properties = {
      {"commit.retry.num-retries", "1000"}, {"commit.retry.min-wait-ms", "1"}, {"commit.retry.max-wait-ms", "20"}};
  Table table = Create("db.t", options).ValueOrDie();
  auto work = [&](int writer) {
    for (int i = 0; i < 10; ++i) {
      auto result = testing::AppendOne(table, fmt::format("w{}-{}", writer, i));
      EXPECT_TRUE(result.ok()) << result.status();
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  testing::ExpectWholeHistory(table.Refresh().ValueOrDie(), 20);
}

TEST_F(SqlCatalogs, EightProcessesRace) {
  CreateTableOptions options;
  options.properties = {
      {"commit.retry.num-retries", "1000"}, {"commit.retry.min-wait-ms", "1"}, {"commit.retry.max-wait-ms", "50"}};
  Table table = Create("db.t", options).ValueOrDie();
  testing::InProcesses(8, [&](int process) {
    auto mine = testing::OpenCatalog(testing::SqlConfig(folder_))->LoadTable("db.t");
    for (int i = 0; mine.ok() && i < 4; ++i) {
      auto result = testing::AppendOne(*mine, fmt::format("p{}-{}", process, i));
      if (!result.ok()) return false;
    }
    return mine.ok();
  });
  testing::ExpectWholeHistory(table.Refresh().ValueOrDie(), 32);
  EXPECT_EQ(MetadataFiles().size(), 33u) << "metadata files of lost attempts are left";
}

// An error after the UPDATE was sent leaves it open whether the commit happened: the metadata file stays, and the table
// is looked up. Here the database's pages cannot be written, while all smaller files can.
TEST_F(SqlCatalogs, FailureWhileCommittingIsUnknown) {
  auto connection = Database();
  Table other = Create("db.other").ValueOrDie();
  {
    auto transaction = SqliteTransaction::Begin(&connection).ValueOrDie();
    for (int i = 0; i < 500; ++i) {
      ASSERT_TRUE(connection
                      .Execute("INSERT INTO iceberg_tables VALUES ('filler', 'db', ?, ?, NULL, NULL)",
                               {fmt::format("t{}", i), std::string(900, 'x')})
                      .ok());
    }
    bool rolled_back = false;
    ASSERT_TRUE(transaction->Commit(&rolled_back).ok());
  }
  Table table = Create("db.t").ValueOrDie();
  testing::InProcesses(1, [&](int) {
    testing::LimitFileSize(100'000);
    auto swapped = table.store()->Swap(*table.version(), table.version()->metadata);
    return CommitFailureOf(swapped.status()) == CommitFailure::kStateUnknown;
  });
  EXPECT_EQ(MetadataFiles().size(), 2u);
  auto reloaded = table.Refresh();
  ASSERT_TRUE(reloaded.ok()) << reloaded.status();
  EXPECT_EQ(reloaded->metadata_location(), table.metadata_location());
  EXPECT_TRUE(testing::AppendOne(table, "a").ok());
}

TEST_F(SqlCatalogs, GzippedMetadata) {
  CreateTableOptions options;
  options.properties = {{"write.metadata.compression-codec", "gzip"}};
  Table table = Create("db.t", options).ValueOrDie();
  ASSERT_TRUE(testing::AppendOne(table, "a").ok());
  EXPECT_THAT(MetadataFiles(), ElementsAre(MatchesRegex("00000-.*\\.gz\\.metadata\\.json"),
                                           MatchesRegex("00001-.*\\.gz\\.metadata\\.json")));
}

}  // namespace
}  // namespace calve
