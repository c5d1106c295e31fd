#include "calve/catalog/filesystem_table.h"

#include "calve/base/status.h"
#include "catalog_testing.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace calve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

class FilesystemTables : public ::testing::Test {
 protected:
  void SetUp() override {
    catalog_ = testing::OpenCatalog(testing::FilesystemConfig(folder_));
    ASSERT_NE(catalog_, nullptr);
    metadata_folder_ = folder_ / "wh/db/t/metadata/";
  }
  Table Create(std::map<std::string, std::string> properties = {}) {
    CreateTableOptions options;
    options.properties = std::move(properties);
    options.properties.try_emplace("commit.retry.min-wait-ms", "1");
    auto table = catalog_->CreateTable("db.t", *testing::IdAndName(), options);
    EXPECT_TRUE(table.ok()) << table.status();
    return *table;
  }
  Table MakeWithCommits(int commits, std::map<std::string, std::string> properties = {}) {
    Table table = Create(std::move(properties));
    for (int i = 0; i < commits; ++i) {
      auto result = testing::AppendOne(table, fmt::format("f{}", i));
      EXPECT_TRUE(result.ok()) << result.status();
    }
    return table.Refresh().ValueOrDie();
  }
  std::string Newest() {
    auto table = OpenTable(folder_ / "wh/db/t");
    if (!table.ok()) return table.status().ToString();
    return std::filesystem::path(table->metadata_location()).filename();
  }
  void Remove(const std::string& name) { std::filesystem::remove(metadata_folder_ + name); }
  void WriteHint(const std::string& text) { testing::WriteText(metadata_folder_ + "version-hint.text", text); }

  testing::TempFolder folder_;
  std::unique_ptr<Catalog> catalog_;
  std::string metadata_folder_;
};

TEST_F(FilesystemTables, VersionFilesAndHint) {
  MakeWithCommits(2);
  EXPECT_THAT(testing::FileNames(metadata_folder_),
              IsSupersetOf({"v1.metadata.json", "v2.metadata.json", "v3.metadata.json", "version-hint.text"}));
  EXPECT_EQ(testing::ReadText(metadata_folder_ + "version-hint.text"), "3");
  EXPECT_EQ(Newest(), "v3.metadata.json");
  auto table = catalog_->LoadTable("db.t").ValueOrDie();
  EXPECT_EQ(table.name(), "db.t");
  EXPECT_THAT(table.version()->metadata.metadata_log.back().metadata_file, HasSubstr("/metadata/v2.metadata.json"));
}

// version-hint missing, stale or garbage: probe forward, or list.
TEST_F(FilesystemTables, HintIsOnlyAHint) {
  MakeWithCommits(10);
  ASSERT_EQ(Newest(), "v11.metadata.json");
  Remove("version-hint.text");
  EXPECT_EQ(Newest(), "v11.metadata.json");
  for (const char* hint :
       {"1", "9\n", " 11 ", "12", "999", "", "garbage", "-3", "1.5", "99999999999999999999999", "v11"}) {
    WriteHint(hint);
    EXPECT_EQ(Newest(), "v11.metadata.json") << "hint '" << hint << "'";
  }
  // Versions older than the hint may be gone.
  for (int version = 1; version < 9; ++version) Remove(fmt::format("v{}.metadata.json", version));
  WriteHint("3");
  EXPECT_EQ(Newest(), "v11.metadata.json");
}

TEST_F(FilesystemTables, StaleHintIsPutRight) {
  Table table = MakeWithCommits(3);
  WriteHint("2");
  ASSERT_TRUE(testing::AppendOne(table, "x").ok());
  EXPECT_EQ(testing::ReadText(metadata_folder_ + "version-hint.text"), "5");
  EXPECT_EQ(Newest(), "v5.metadata.json");
}

TEST_F(FilesystemTables, VersionThatOverflowsIsRefused) {
  MakeWithCommits(0);
  const std::string last = "v9223372036854775807.metadata.json";
  std::filesystem::rename(metadata_folder_ + "v1.metadata.json", metadata_folder_ + last);
  WriteHint("9223372036854775807");
  ASSERT_EQ(Newest(), last);
  const auto before = testing::FileNames(metadata_folder_);
  auto result = testing::AppendOne(catalog_->LoadTable("db.t").ValueOrDie(), "x");
  EXPECT_TRUE(result.status().IsInvalid()) << result.status();
  EXPECT_THAT(result.status().message(), HasSubstr("version after 9223372036854775807"));
  EXPECT_EQ(testing::FileNames(metadata_folder_), before);
}

TEST_F(FilesystemTables, GzippedMetadata) {
  Table table = MakeWithCommits(2, {{"write.metadata.compression-codec", "gzip"}});
  EXPECT_EQ(Newest(), "v3.gz.metadata.json");
  EXPECT_EQ(testing::ReadText(metadata_folder_ + "v3.gz.metadata.json").substr(0, 2), "\x1f\x8b");
  // The name that old writers give it.
  std::filesystem::rename(metadata_folder_ + "v3.gz.metadata.json", metadata_folder_ + "v3.metadata.json.gz");
  EXPECT_EQ(Newest(), "v3.metadata.json.gz");
  Remove("version-hint.text");
  EXPECT_EQ(Newest(), "v3.metadata.json.gz");
  ASSERT_TRUE(testing::AppendOne(table, "x").ok());
  EXPECT_EQ(Newest(), "v4.gz.metadata.json");
}

// Publishing metadata must never replace an existing version, in whichever spelling it is there.
TEST_F(FilesystemTables, NeverReplacesAVersion) {
  for (const char* rival : {"v3.metadata.json", "v3.gz.metadata.json", "v3.metadata.json.gz"}) {
    Table table = MakeWithCommits(1);
    auto stale = *table.version();
    testing::WriteText(metadata_folder_ + rival, testing::ReadText(metadata_folder_ + "v2.metadata.json"));
    const std::string before = testing::ReadText(metadata_folder_ + rival);
    iceberg::TableMetadata next = stale.metadata;
    next.properties["x"] = "y";
    auto swapped = table.store()->Swap(stale, next);
    EXPECT_EQ(CommitFailureOf(swapped.status()), CommitFailure::kConflict) << swapped.status();
    EXPECT_EQ(testing::ReadText(metadata_folder_ + rival), before);
    ASSERT_TRUE(catalog_->DropTable("db.t", true).ok());
  }
}

// A version whose name is free again because it was committed and cleaned away long ago is not current.
TEST_F(FilesystemTables, StaleBaseWithCleanedSuccessorsIsAConflict) {
  Table stale = MakeWithCommits(1);
  Table table = stale;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(testing::AppendOne(table, fmt::format("g{}", i)).ok());
  for (int version = 1; version <= 4; ++version) Remove(fmt::format("v{}.metadata.json", version));
  auto swapped = stale.store()->Swap(*stale.version(), stale.version()->metadata);
  EXPECT_EQ(CommitFailureOf(swapped.status()), CommitFailure::kConflict) << swapped.status();
  EXPECT_EQ(Newest(), "v6.metadata.json");
}

// A writer that keeps the old version in hand loses no commit of others.
TEST_F(FilesystemTables, CommitOnAStaleVersionKeepsOtherCommits) {
  Table stale = MakeWithCommits(1);
  ASSERT_TRUE(testing::AppendOne(stale, "other").ok());
  iceberg::SnapshotChange change;
  change.operation = "append";
  change.added.push_back(iceberg::DataFile{.file_path = folder_ / "wh/db/t/data/mine", .file_format = "PARQUET"});
  auto result = iceberg::CommitSnapshot(*stale.store(), *stale.version(), change);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->attempts, 2);
  EXPECT_EQ(testing::LiveDataFiles(stale.Refresh().ValueOrDie()).size(), 3u);
}

TEST_F(FilesystemTables, TwoThreadsRace) {
  Table table = Create({{"commit.retry.num-retries", "1000"}, {"commit.retry.max-wait-ms", "20"}});
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

// Two processes race, one loses and retries, no commit is lost.
TEST_F(FilesystemTables, EightProcessesRace) {
  Table table = Create({{"commit.retry.num-retries", "1000"}, {"commit.retry.max-wait-ms", "50"}});
  testing::InProcesses(8, [&](int process) {
    auto mine = OpenTable(folder_ / "wh/db/t");
    for (int i = 0; mine.ok() && i < 4; ++i) {
      auto result = testing::AppendOne(*mine, fmt::format("p{}-{}", process, i));
      if (!result.ok()) return false;
    }
    return mine.ok();
  });
  testing::ExpectWholeHistory(table.Refresh().ValueOrDie(), 32);
}

TEST_F(FilesystemTables, OldMetadataIsDeletedWhenAsked) {
  MakeWithCommits(
      5, {{"write.metadata.previous-versions-max", "2"}, {"write.metadata.delete-after-commit.enabled", "true"}});
  std::vector<std::string> left;
  for (const std::string& name : testing::FileNames(metadata_folder_)) {
    if (name.ends_with(".metadata.json")) left.push_back(name);
  }
  EXPECT_THAT(left, ElementsAre("v4.metadata.json", "v5.metadata.json", "v6.metadata.json"));
}

TEST_F(FilesystemTables, FullDiskChangesNothing) {
  Table table = MakeWithCommits(1);
  const auto before = testing::FileNames(metadata_folder_);
  for (rlim_t bytes : {rlim_t{0}, rlim_t{100}, rlim_t{1500}}) {
    testing::InProcesses(1, [&](int) {
      testing::LimitFileSize(bytes);
      arrow::Status status = testing::AppendOne(table, "a").status();
      return status.IsIOError() && CommitFailureOf(status) == CommitFailure::kNone;
    });
    EXPECT_EQ(testing::FileNames(metadata_folder_), before) << bytes;
  }
  EXPECT_TRUE(testing::AppendOne(table, "a").ok());
}

// ---- Folders that a catalog owns ----

TEST_F(FilesystemTables, CatalogsTableByPathIsReadOnly) {
  auto sql = testing::OpenCatalog(testing::SqlConfig(folder_));
  Table owned = sql->CreateTable("db.owned", *testing::IdAndName(), {}).ValueOrDie();
  ASSERT_TRUE(testing::AppendOne(owned, "a").ok());
  auto table = OpenTable(folder_ / "wh/db/owned");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(testing::LiveDataFiles(*table).size(), 1u);
  Status status = testing::AppendOne(*table, "b").status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("belongs to a catalog"));
  EXPECT_EQ(testing::LiveDataFiles(owned.Refresh().ValueOrDie()).size(), 1u);
}

TEST_F(FilesystemTables, TwoNewestFilesOfACatalogAreAmbiguous) {
  auto sql = testing::OpenCatalog(testing::SqlConfig(folder_));
  Table owned = sql->CreateTable("db.owned", *testing::IdAndName(), {}).ValueOrDie();
  ASSERT_TRUE(testing::AppendOne(owned, "a").ok());
  const std::string current = std::filesystem::path(owned.Refresh().ValueOrDie().metadata_location()).filename();
  const std::string folder = folder_ / "wh/db/owned/metadata/";
  testing::WriteText(folder + "00001-lost.metadata.json", testing::ReadText(folder + current));
  Status status = OpenTable(folder_ / "wh/db/owned").status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("00001-lost.metadata.json"));
  testing::WriteText(folder + "version-hint.text", current.substr(0, current.find('.')));
  auto hinted = OpenTable(folder_ / "wh/db/owned");
  ASSERT_TRUE(hinted.ok()) << hinted.status();
  EXPECT_EQ(std::filesystem::path(hinted->metadata_location()).filename(), current);
}

// ---- By path ----

TEST_F(FilesystemTables, MetadataFileIsReadOnly) {
  MakeWithCommits(2);
  auto table = OpenTable(metadata_folder_ + "v2.metadata.json");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(testing::LiveDataFiles(*table).size(), 1u);
  EXPECT_EQ(testing::LiveDataFiles(table->Refresh().ValueOrDie()).size(), 1u);
  Status status = testing::AppendOne(*table, "x").status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("can be read only"));
}

TEST_F(FilesystemTables, CopiedTable) {
  MakeWithCommits(1);
  std::filesystem::copy(folder_ / "wh/db/t", folder_ / "copy", std::filesystem::copy_options::recursive);
  // Without a map the copy reads through the original's files, and is not written to.
  auto unmapped = OpenTable(folder_ / "copy");
  ASSERT_TRUE(unmapped.ok()) << unmapped.status();
  Status status = testing::AppendOne(*unmapped, "x").status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("was copied"));

  std::filesystem::remove_all(folder_ / "wh");
  auto mapped = OpenTable(folder_ / "copy", {{folder_ / "wh/db/t", folder_ / "copy"}});
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  EXPECT_EQ(testing::LiveDataFiles(*mapped).size(), 1u);
  auto result = testing::AppendOne(*mapped, "x");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(testing::FileNames(folder_ / "copy/metadata"), ::testing::Contains("v3.metadata.json"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "wh"));
  // The table goes on speaking of where it was made.
  EXPECT_EQ(result->version.metadata_location, folder_ / "wh/db/t/metadata/v3.metadata.json");
  EXPECT_THAT(result->snapshot.manifest_list, ::testing::StartsWith(folder_ / "wh/db/t/metadata/snap-"));
}

TEST_F(FilesystemTables, NoTable) {
  for (const std::string& path : {folder_ / "nowhere", folder_.path(), std::string("relative/nowhere")}) {
    Status status = OpenTable(path).status();
    EXPECT_TRUE(status.IsInvalid()) << status;
    EXPECT_THAT(status.message(), HasSubstr("no such table"));
    EXPECT_THAT(status.message(), HasSubstr(path));
  }
  std::filesystem::create_directories(folder_ / "empty/metadata");
  EXPECT_THAT(OpenTable(folder_ / "empty").status().message(), HasSubstr("has no metadata files"));
  testing::WriteText(folder_ / "file", "no json");
  EXPECT_THAT(OpenTable(folder_ / "file").status().message(), HasSubstr(folder_ / "file"));
}

TEST_F(FilesystemTables, DamagedMetadataIsAnErrorNotAnOlderVersion) {
  MakeWithCommits(2);
  const std::string path = metadata_folder_ + "v3.metadata.json";
  const std::string whole = testing::ReadText(path);
  for (size_t size : {size_t{0}, size_t{1}, whole.size() / 2, whole.size() - 2}) {
    testing::WriteText(path, whole.substr(0, size));
    Status status = OpenTable(folder_ / "wh/db/t").status();
    EXPECT_FALSE(status.ok()) << size;
    EXPECT_THAT(status.message(), HasSubstr("v3.metadata.json"));
  }
}

}  // namespace
}  // namespace calve
