#include "calve/io/file_io.h"

#include "calve/io/location.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace calve {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FileIOTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "calve_io_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string At(const std::string& name) const { return folder_ + "/" + name; }
  static std::string Contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::vector<std::string> Names(const std::string& sub = "") const { return io_.List(At(sub)).ValueOrDie(); }

  std::string folder_;
  FileIO io_;
};

TEST(NormalizeLocation, FormsOfOneFile) {
  for (auto text : {"file:/a/b", "file:///a/b", "/a/b", "//a//b", "file://localhost/a/b", "FILE:/a/b"}) {
    EXPECT_EQ(NormalizeLocation(text), "/a/b") << text;
  }
  EXPECT_EQ(NormalizeLocation("a/b:c"), "a/b:c");
  EXPECT_EQ(NormalizeLocation("/a/p=x%2Fy"), "/a/p=x%2Fy");
  EXPECT_EQ(NormalizeLocation("s3://b//k"), "s3://b//k");
  EXPECT_EQ(NormalizeLocation("file://host/a"), "file://host/a");
}

TEST(SchemeOf, NeedsSlashes) {
  EXPECT_EQ(SchemeOf("s3a://x/y"), "s3a");
  EXPECT_EQ(SchemeOf("file:/y"), "file");
  EXPECT_EQ(SchemeOf("a:b"), "");
  EXPECT_EQ(SchemeOf("/x://y"), "");
  EXPECT_EQ(SchemeOf(""), "");
}

TEST(PathMap, LongestWholeSegmentPrefixWins) {
  PathMap map({{"file:/old/", "/new"}, {"/old/deep", "file:///other/"}, {"s3://bucket/w", "/copy"}, {"rel", "/r"}});
  EXPECT_EQ(map.Map("/old/x"), "/new/x");
  EXPECT_EQ(map.Map("file:///old/deep/x"), "/other/x");
  EXPECT_EQ(map.Map("/old/deeper/x"), "/new/deeper/x");
  EXPECT_EQ(map.Map("/older/x"), "/older/x");
  EXPECT_EQ(map.Map("/old"), "/new");
  EXPECT_EQ(map.Map("s3://bucket/w/t/f"), "/copy/t/f");
  EXPECT_EQ(map.Map("rel/f"), "/r/f");
  EXPECT_EQ(map.Map("/ol"), "/ol");
  EXPECT_EQ(PathMap().Map("file:/x"), "/x");
  EXPECT_EQ(PathMap({{"/", "/new"}}).Map("/x"), "/new/x");
}

TEST_F(FileIOTest, OtherSchemesAreNamed) {
  for (auto location : {"s3://b/k", "hdfs://n/p", "gs://b/k", "file://host/x"}) {
    auto status = io_.ReadAll(location).status();
    ASSERT_TRUE(status.IsNotImplemented()) << status;
    EXPECT_THAT(status.message(), HasSubstr(location));
  }
  FileIO mapped(PathMap({{"s3://b", folder_}}));
  ASSERT_TRUE(mapped.CreateNew("s3://b/k", "x").ok());
  EXPECT_EQ(io_.ReadAll(At("k")).ValueOrDie(), "x");
}

TEST_F(FileIOTest, CreateReadSizeDelete) {
  ASSERT_TRUE(io_.CreateNew("file:" + At("a/b%20c/f"), "hello").ok());
  EXPECT_EQ(io_.ReadAll("file://" + At("a/b%20c/f")).ValueOrDie(), "hello");
  EXPECT_EQ(io_.Size(At("a/b%20c/f")).ValueOrDie(), 5);
  EXPECT_TRUE(io_.Exists(At("a/b%20c/f")).ValueOrDie());
  EXPECT_THAT(Names("a/b%20c"), ElementsAre("f"));
  EXPECT_TRUE(io_.Delete(At("a/b%20c/f")).ok());
  EXPECT_FALSE(io_.Exists(At("a/b%20c/f")).ValueOrDie());
}

TEST_F(FileIOTest, MissingFilesAreNamed) {
  auto missing = At("none");
  for (auto status :
       {io_.ReadAll(missing).status(), io_.Size(missing).status(), io_.Open(missing).status(), io_.Delete(missing)}) {
    EXPECT_TRUE(status.IsIOError());
    EXPECT_EQ(status.message(), "no such file: " + missing);
  }
  EXPECT_TRUE(io_.List(missing).status().IsIOError());
  EXPECT_FALSE(io_.Exists(At("none/deeper")).ValueOrDie());
}

TEST_F(FileIOTest, FoldersAndPipesAreNoFiles) {
  EXPECT_THAT(io_.ReadAll(folder_).status().message(), HasSubstr("is a folder"));
  EXPECT_TRUE(io_.Size(folder_).status().IsIOError());
  ASSERT_EQ(::mkfifo(At("pipe").c_str(), 0600), 0);
  EXPECT_THAT(io_.Open(At("pipe")).status().message(), HasSubstr("not a regular file"));
  EXPECT_TRUE(io_.Create(folder_ + "/").status().IsInvalid());
  EXPECT_TRUE(io_.Create("").status().IsInvalid());
}

TEST_F(FileIOTest, CreateNewNeverReplaces) {
  ASSERT_TRUE(io_.CreateNew(At("f"), "first").ok());
  auto status = io_.CreateNew(At("f"), "second");
  ASSERT_TRUE(status.IsAlreadyExists()) << status;
  EXPECT_THAT(status.message(), HasSubstr(At("f")));
  EXPECT_EQ(Contents(At("f")), "first");
  EXPECT_THAT(Names(), ElementsAre("f"));
}

TEST_F(FileIOTest, OfRacingWritersOneSucceeds) {
  for (int round = 0; round < 10; ++round) {
    auto location = At("deep" + std::to_string(round) + "/er/v1");
    std::atomic<int> winners{0}, losers{0}, winner{-1};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        auto status = io_.CreateNew(location, "writer " + std::to_string(t));
        if (status.ok()) ++winners, winner = t;
        if (status.IsAlreadyExists()) ++losers;
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(winners, 1);
    EXPECT_EQ(losers, 7);
    EXPECT_EQ(Contents(location), "writer " + std::to_string(winner));
    EXPECT_THAT(Names("deep" + std::to_string(round) + "/er"), ElementsAre("v1"));
  }
}

TEST_F(FileIOTest, ReplaceIsOneStep) {
  ASSERT_TRUE(io_.Replace(At("hint"), "1").ok());
  ASSERT_TRUE(io_.Replace(At("hint"), "22").ok());
  EXPECT_EQ(Contents(At("hint")), "22");
  EXPECT_THAT(Names(), ElementsAre("hint"));
}

TEST_F(FileIOTest, OutputIsUnseenUntilCommitted) {
  auto output = io_.Create(At("x/data.parquet")).ValueOrDie();
  ASSERT_TRUE(output->stream()->Write("abc").ok());
  ASSERT_TRUE(output->stream()->Write(std::string(1 << 20, 'z')).ok());
  EXPECT_EQ(output->stream()->Tell().ValueOrDie(), 3 + (1 << 20));
  auto names = Names("x");
  ASSERT_EQ(names.size(), 1u);
  EXPECT_TRUE(names[0].starts_with(".data.parquet.") && names[0].ends_with(".tmp")) << names[0];
  EXPECT_EQ(output->Commit().ValueOrDie(), 3 + (1 << 20));
  EXPECT_THAT(Names("x"), ElementsAre("data.parquet"));
  EXPECT_EQ(io_.ReadAll(At("x/data.parquet")).ValueOrDie(), "abc" + std::string(1 << 20, 'z'));
  EXPECT_TRUE(output->Commit().status().IsInvalid());
}

TEST_F(FileIOTest, OutputDroppedLeavesNothing) {
  {
    auto output = io_.Create(At("new/folder/data")).ValueOrDie();
  }
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(FileIOTest, OutputWhoseNameIsTaken) {
  auto output = io_.Create(At("data")).ValueOrDie();
  ASSERT_TRUE(io_.CreateNew(At("data"), "other").ok());
  EXPECT_TRUE(output->Commit().status().IsAlreadyExists());
  EXPECT_TRUE(output->Commit().status().IsInvalid());
  EXPECT_EQ(Contents(At("data")), "other");
  EXPECT_THAT(Names(), ElementsAre("data"));
}

TEST_F(FileIOTest, StreamRefusesWritesAfterClose) {
  auto output = io_.Create(At("data")).ValueOrDie();
  ASSERT_TRUE(output->stream()->Write("abc").ok());
  ASSERT_TRUE(output->stream()->Close().ok());
  EXPECT_TRUE(output->stream()->closed());
  EXPECT_TRUE(output->stream()->Write("d").IsInvalid());
  EXPECT_EQ(output->Commit().ValueOrDie(), 3);
}

TEST_F(FileIOTest, LongNames) {
  std::string name(255, 'n');
  ASSERT_TRUE(io_.CreateNew(At(name), "x").ok());
  EXPECT_THAT(Names(), ElementsAre(name));
  auto status = io_.CreateNew(At(name + "n"), "x");
  EXPECT_TRUE(status.IsIOError());
  EXPECT_THAT(Names(), ElementsAre(name));
}

TEST_F(FileIOTest, FailedWriteNamesTheFileAndLeavesNothing) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 100000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  auto output = io_.Create(At("big")).ValueOrDie();
  auto large = output->stream()->Write(std::string(1 << 20, 'x'));
  auto again = output->stream()->Write("y");
  auto commit = output->Commit().status();
  auto whole = io_.CreateNew(At("whole"), std::string(150000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  for (const auto& status : {large, again, commit}) {
    EXPECT_TRUE(status.IsIOError());
    EXPECT_THAT(status.message(), HasSubstr("cannot write " + At("big")));
  }
  EXPECT_THAT(whole.message(), HasSubstr("cannot write " + At("whole")));
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(FileIOTest, ReadOnlyFolder) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  bool root = ::geteuid() == 0;  // root may write anywhere
  if (root) ASSERT_EQ(::seteuid(65534), 0);
  auto file = io_.CreateNew(At("f"), "x"), folder = io_.CreateNew(At("a/b/f"), "x");
  if (root) ASSERT_EQ(::seteuid(0), 0);
  ::chmod(folder_.c_str(), 0755);
  for (const auto& status : {file, folder}) {
    EXPECT_TRUE(status.IsIOError());
    EXPECT_THAT(status.message(), HasSubstr("Permission denied"));
    EXPECT_THAT(status.message(), HasSubstr(folder_));
  }
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(FileIOTest, RandomAccess) {
  ASSERT_TRUE(io_.CreateNew(At("f"), "0123456789").ok());
  auto file = io_.Open(At("f")).ValueOrDie();
  EXPECT_EQ(file->GetSize().ValueOrDie(), 10);
  EXPECT_EQ(file->ReadAt(3, 4).ValueOrDie()->ToString(), "3456");
  EXPECT_EQ(file->ReadAt(8, 100).ValueOrDie()->ToString(), "89");
  EXPECT_EQ(file->ReadAt(50, 5).ValueOrDie()->size(), 0);
  EXPECT_EQ(file->ReadAt(0, int64_t{1} << 60).ValueOrDie()->size(), 10);
  EXPECT_TRUE(file->ReadAt(-1, 1).status().IsInvalid());
  EXPECT_TRUE(file->ReadAt(1, -1).status().IsInvalid());
  EXPECT_EQ(file->Read(2).ValueOrDie()->ToString(), "01");
  EXPECT_EQ(file->Read(2).ValueOrDie()->ToString(), "23");
  EXPECT_EQ(file->Tell().ValueOrDie(), 4);
  ASSERT_TRUE(file->Seek(9).ok());
  EXPECT_EQ(file->Read(5).ValueOrDie()->ToString(), "9");
  ASSERT_TRUE(file->Close().ok());
  EXPECT_TRUE(file->ReadAt(0, 1).status().IsInvalid());
}

}  // namespace
}  // namespace calve
