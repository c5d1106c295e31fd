#include "catalog_testing.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace calve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FilesystemCatalogs : public ::testing::Test {
 protected:
  void SetUp() override { catalog_ = testing::OpenCatalog(testing::FilesystemConfig(folder_)); }
  arrow::Result<Table> Create(const std::string& name, const CreateTableOptions& options = {}) {
    return catalog_->CreateTable(name, *testing::IdAndName(), options);
  }

  testing::TempFolder folder_;
  std::unique_ptr<Catalog> catalog_;
};

TEST_F(FilesystemCatalogs, CreateListLoadDrop) {
  ASSERT_TRUE(Create("db.t").ok());
  ASSERT_TRUE(Create("db.deep.er.u").ok());
  ASSERT_TRUE(Create("other.v").ok());
  std::filesystem::create_directories(folder_ / "wh/.hidden");
  EXPECT_THAT(catalog_->ListNamespaces().ValueOrDie(), ElementsAre("db", "db.deep", "db.deep.er", "other"));
  EXPECT_THAT(catalog_->ListTables("db").ValueOrDie(), ElementsAre("t"));
  EXPECT_THAT(catalog_->ListTables("db.deep").ValueOrDie(), ElementsAre());
  EXPECT_THAT(catalog_->ListTables("db.deep.er").ValueOrDie(), ElementsAre("u"));

  auto table = catalog_->LoadTable("db.deep.er.u");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->name(), "db.deep.er.u");
  EXPECT_EQ(table->version()->metadata.location, folder_ / "wh/db/deep/er/u");
  EXPECT_EQ(table->format_version(), 2);

  ASSERT_TRUE(catalog_->DropTable("db.t", true).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "wh/db/t"));
  EXPECT_THAT(catalog_->ListTables("db").ValueOrDie(), ElementsAre());
}

TEST_F(FilesystemCatalogs, CreateWithPartitionsAndProperties) {
  CreateTableOptions options;
  options.partition_by = "bucket(4, id), name";
  options.format_version = 3;
  options.properties = {{"k", "v"}};
  auto table = Create("db.t", options);
  ASSERT_TRUE(table.ok()) << table.status();
  auto loaded = catalog_->LoadTable("db.t").ValueOrDie();
  const auto& metadata = loaded.version()->metadata;
  ASSERT_EQ(metadata.spec().fields.size(), 2u);
  EXPECT_EQ(metadata.spec().fields[0].name, "id_bucket");
  EXPECT_EQ(metadata.last_partition_id, 1001);
  EXPECT_EQ(metadata.properties.at("k"), "v");
  EXPECT_EQ(metadata.format_version, 3);
  options.partition_by = "nope";
  EXPECT_THAT(Create("db.u", options).status().message(), HasSubstr("no column 'nope'"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "wh/db/u"));
  options = {};
  options.format_version = 4;
  EXPECT_TRUE(Create("db.u", options).status().IsNotImplemented());
}

TEST_F(FilesystemCatalogs, TableThatExists) {
  ASSERT_TRUE(Create("db.t").ok());
  arrow::Status status = Create("db.t").status();
  EXPECT_TRUE(status.IsAlreadyExists());
  EXPECT_THAT(status.message(), HasSubstr("db.t"));
}

TEST_F(FilesystemCatalogs, LocationIsGiven) {
  CreateTableOptions options;
  options.location = folder_ / "elsewhere";
  EXPECT_TRUE(Create("db.t", options).status().IsInvalid());
  options.location = "file://" + (folder_ / "wh/db/t/");
  EXPECT_TRUE(Create("db.t", options).ok());
}

TEST_F(FilesystemCatalogs, Names) {
  for (const char* name : {"t", "", "a..t", "a/b.t", "../x.t", "a.b/c"}) {
    EXPECT_TRUE(Create(name).status().IsInvalid()) << name;
    EXPECT_TRUE(catalog_->LoadTable(name).status().IsInvalid()) << name;
  }
  EXPECT_THAT(catalog_->LoadTable("db.none").status().message(), HasSubstr("no such table: db.none"));
  EXPECT_THAT(catalog_->ListTables("none").status().message(), HasSubstr("no such namespace: 'none'"));
  EXPECT_FALSE(catalog_->DropTable("db.none", true).ok());
  EXPECT_FALSE(catalog_->ListNamespaces().ok()) << "the warehouse does not exist";
}

TEST_F(FilesystemCatalogs, DroppingNeedsPurge) {
  ASSERT_TRUE(Create("db.t").ok());
  EXPECT_THAT(catalog_->DropTable("db.t", false).message(), HasSubstr("purge"));
  EXPECT_TRUE(catalog_->LoadTable("db.t").ok());
}

TEST_F(FilesystemCatalogs, PurgeDeletesOnlyTheTablesOwnFiles) {
  Table table = Create("db.t").ValueOrDie();
  Table neighbour = Create("db.t.inner").ValueOrDie();
  ASSERT_TRUE(testing::AppendOne(table, "a.parquet").ok());
  ASSERT_TRUE(testing::AppendOne(neighbour, "b.parquet").ok());
  testing::WriteText(folder_ / "wh/db/t/data/a.parquet", "rows");
  testing::WriteText(folder_ / "wh/db/t/data/not-of-the-table", "rows");
  ASSERT_TRUE(catalog_->DropTable("db.t", true).ok());
  EXPECT_THAT(testing::FileNames(folder_ / "wh/db/t/data"), ElementsAre("not-of-the-table"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "wh/db/t/metadata"));
  EXPECT_EQ(testing::LiveDataFiles(catalog_->LoadTable("db.t.inner").ValueOrDie()).size(), 1u);
}

TEST_F(FilesystemCatalogs, PurgeLeavesFilesElsewhere) {
  CreateTableOptions options;
  options.properties = {{"write.data.path", folder_ / "shared"}};
  Table table = Create("db.t", options).ValueOrDie();
  testing::WriteText(folder_ / "shared/a", "rows");
  ASSERT_TRUE(testing::AppendOne(table, "a").ok());
  ASSERT_TRUE(catalog_->DropTable("db.t", true).ok());
  EXPECT_TRUE(std::filesystem::exists(folder_ / "shared/a"));

  options.properties = {{"gc.enabled", "false"}};
  ASSERT_TRUE(Create("db.u", options).ok());
  EXPECT_THAT(catalog_->DropTable("db.u", true).message(), HasSubstr("gc.enabled"));
}

}  // namespace
}  // namespace calve
