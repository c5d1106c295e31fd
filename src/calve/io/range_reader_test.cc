#include "calve/io/range_reader.h"

#include "calve/base/status.h"
#include "calve/io/mapped_file.h"
#include "temp_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace calve {
namespace {

/// Notes what is asked of it.
class NotingFile : public arrow::io::RandomAccessFile {
 public:
  explicit NotingFile(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override {
    reads.push_back({position, size});
    return static_cast<int64_t>(bytes_.copy(static_cast<char*>(out), size, position));
  }
  Status Close() override { return Status::OK(); }
  bool closed() const override { return false; }
  Status Seek(int64_t) override { return Status::OK(); }
  Result<int64_t> Tell() const override { return 0; }
  Result<int64_t> GetSize() override { return static_cast<int64_t>(bytes_.size()); }
  Result<int64_t> Read(int64_t size, void* out) override { return ReadAt(0, size, out); }
  Result<std::shared_ptr<arrow::Buffer>> Read(int64_t) override { return Status::NotImplemented("not asked"); }

  std::vector<ByteRange> reads;

 private:
  std::string bytes_;
};

struct Fixture {
  explicit Fixture(std::vector<ByteRange> reads)
      : file("0123456789abcdefghij"), ranges(&file, reads, arrow::default_memory_pool()) {}
  std::string Read(ByteRange range) {
    auto bytes = ranges.Read(range, &read_bytes);
    if (!bytes.ok()) return bytes.status().ToString();
    return *bytes == nullptr ? "none" : (*bytes)->ToString();
  }
  NotingFile file;
  RangeReader ranges;
  int64_t read_bytes = -1;
};

TEST(RangeReader, OneReadBringsAllRangesInIt) {
  Fixture f({{2, 8}, {15, 5}});
  EXPECT_EQ(f.Read({2, 2}), "23");
  EXPECT_EQ(f.read_bytes, 8);
  EXPECT_EQ(f.Read({7, 3}), "789");
  EXPECT_EQ(f.read_bytes, 0);
  EXPECT_EQ(f.Read({16, 4}), "ghij");
  EXPECT_EQ(f.read_bytes, 5);
  EXPECT_THAT(f.file.reads, ::testing::ElementsAre(ByteRange{2, 8}, ByteRange{15, 5}));
}

TEST(RangeReader, KnowsWhatLiesInNoRead) {
  Fixture f({{2, 8}, {15, 5}});
  for (const ByteRange& range : {ByteRange{0, 1}, ByteRange{1, 4}, ByteRange{9, 2}, ByteRange{11, 1}}) {
    EXPECT_EQ(f.Read(range), "none");
  }
  EXPECT_TRUE(f.file.reads.empty());
}

TEST(RangeReader, ReadsThatOverlap) {
  Fixture f({{0, 10}, {4, 2}, {5, 10}});
  EXPECT_EQ(f.Read({4, 6}), "456789");
  EXPECT_EQ(f.Read({6, 8}), "6789abcd");
}

TEST(RangeReader, AFileThatEndsBefore) {
  Fixture f({{15, 10}});
  EXPECT_EQ(f.Read({15, 2}), "IOError: 5 bytes at byte 15 of the file, 10 expected");
}

class MappedFileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& bytes) {
    const std::string path = folder_.path() + "/mapped";
    std::ofstream(path) << bytes;
    return path;
  }
  testing::TempFolder folder_;
};

TEST_F(MappedFileTest, GivesItsBytesWithoutCopies) {
  auto file = OpenMappedFile(Write("0123456789"), "there").ValueOrDie();
  EXPECT_TRUE(file->supports_zero_copy());
  EXPECT_EQ(file->GetSize().ValueOrDie(), 10);
  auto bytes = file->ReadAt(3, 4).ValueOrDie();
  EXPECT_EQ(bytes->ToString(), "3456");
  EXPECT_EQ(file->ReadAt(3, 4).ValueOrDie()->data(), bytes->data());
  char copy[4];
  EXPECT_EQ(file->ReadAt(8, 4, copy).ValueOrDie(), 2);
  EXPECT_EQ(std::string(copy, 2), "89");
  ASSERT_TRUE(file->Seek(7).ok());
  EXPECT_EQ(file->Read(2).ValueOrDie()->ToString(), "78");
  EXPECT_EQ(file->Tell().ValueOrDie(), 9);
  ASSERT_TRUE(file->Close().ok());
  EXPECT_TRUE(file->ReadAt(0, 1).status().IsInvalid());
  file.reset();
  EXPECT_EQ(bytes->ToString(), "3456") << "what is held stays mapped";
}

TEST_F(MappedFileTest, ReadsNothingOutsideOfIt) {
  auto file = OpenMappedFile(Write("0123456789"), "there").ValueOrDie();
  const int64_t max = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(file->ReadAt(8, max).ValueOrDie()->ToString(), "89");
  EXPECT_EQ(file->ReadAt(10, 1).ValueOrDie()->size(), 0);
  EXPECT_EQ(file->ReadAt(max, max).ValueOrDie()->size(), 0);
  EXPECT_EQ(file->ReadAt(-1, 1).status().message(), "cannot read 1 bytes at -1 of there");
  EXPECT_TRUE(file->ReadAt(0, -1).status().IsInvalid());
  EXPECT_EQ(OpenMappedFile(Write(""), "there").ValueOrDie()->ReadAt(0, 5).ValueOrDie()->size(), 0);
}

TEST_F(MappedFileTest, AFileCutShortIsAnErrorWhereItIsNoticed) {
  const std::string path = Write("0123456789");
  auto file = OpenMappedFile(path, "there").ValueOrDie();
  std::filesystem::resize_file(path, 4);
  EXPECT_EQ(file->ReadAt(0, 4).ValueOrDie()->ToString(), "0123");
  const auto status = file->ReadAt(3, 4).status();
  EXPECT_TRUE(status.IsIOError());
  EXPECT_EQ(status.message(), "there was cut short to 4 bytes while it is mapped");
}

TEST_F(MappedFileTest, WhatIsNoFile) {
  EXPECT_EQ(OpenMappedFile(folder_.path() + "/none", "there").status().message(), "no such file: there");
  EXPECT_EQ(OpenMappedFile(folder_.path(), "there").status().message(), "cannot open there: it is a folder");
}

}  // namespace
}  // namespace calve
