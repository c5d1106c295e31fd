#include "calve/parquet_footer_cache.h"

#include "calve/parquet/footer.h"
#include "calve/parquet_reader.h"
#include "counting_file.h"
#include "temp_folder.h"

#include <arrow/array/util.h>
#include <arrow/io/file.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <thread>

namespace calve {
namespace {

/// A file of `columns` columns of nulls.
std::shared_ptr<arrow::Buffer> File(int columns, int64_t rows = 3) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (int i = 0; i < columns; ++i) {
    fields.push_back(arrow::field("c" + std::to_string(i), arrow::int64()));
    arrays.push_back(arrow::MakeArrayOfNull(arrow::int64(), rows).ValueOrDie());
  }
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto table = arrow::Table::Make(arrow::schema(fields), arrays);
  EXPECT_TRUE(::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink).ok());
  return sink->Finish().ValueOrDie();
}

ParquetReadOptions With(const std::shared_ptr<ParquetFooterCache>& cache, std::string version) {
  ParquetReadOptions options;
  options.footer_cache = cache;
  options.file_version = std::move(version);
  return options;
}

int64_t RowsOf(const ParquetReader& file) {
  const auto reader = file.ReadAll({"c0"}).ValueOrDie();
  int64_t rows = 0;
  while (const auto batch = reader->Next().ValueOrDie()) rows += batch->num_rows();
  return rows;
}

TEST(FooterCache, AHitReadsNothingOfTheFooter) {
  const auto cache = std::make_shared<ParquetFooterCache>();
  const auto bytes = File(5);
  const auto first = std::make_shared<testing::CountingFile>(bytes),
             second = std::make_shared<testing::CountingFile>(bytes);
  ASSERT_TRUE(ParquetReader::Open(first, "a", With(cache, "1")).ok());
  EXPECT_GT(first->bytes_read, 0);
  const auto file = ParquetReader::Open(second, "a", With(cache, "1")).ValueOrDie();
  EXPECT_EQ(second->bytes_read, 0);
  EXPECT_EQ(cache->counts().hits, 1);
  EXPECT_EQ(cache->counts().misses, 1);
  EXPECT_EQ(RowsOf(*file), 3);
  EXPECT_EQ(file->schema()->num_fields(), 5);
}

TEST(FooterCache, AHitFindsColumnsAsAMissDoes) {
  const auto cache = std::make_shared<ParquetFooterCache>();
  const auto source = std::make_shared<arrow::io::BufferReader>(File(300));
  for (int opened = 0; opened < 3; ++opened) {
    const auto file = ParquetReader::Open(source, "a", With(cache, "1")).ValueOrDie();
    for (int i = 0; i < 300; ++i) {
      EXPECT_EQ(file->LeavesOf("c" + std::to_string(i)).ValueOrDie(), std::vector<int>{i}) << opened;
    }
    EXPECT_FALSE(file->LeavesOf("c300").ok());
    EXPECT_EQ(file->LeavesOfFieldId(0), std::vector<int>{}) << opened;
  }
}

TEST(FooterCache, ReadersCountTheirHits) {
  const auto cache = std::make_shared<ParquetFooterCache>();
  const auto source = std::make_shared<arrow::io::BufferReader>(File(2));
  for (const int64_t hits : {0, 1}) {
    const auto file = ParquetReader::Open(source, "a", With(cache, "1")).ValueOrDie();
    EXPECT_EQ(file->Read({0}, {0}).ValueOrDie()->metrics().footer_cache_hits, hits);
  }
}

TEST(FooterCache, AnotherNameSizeOrVersionIsAnotherFile) {
  const auto cache = std::make_shared<ParquetFooterCache>();
  const auto open = [&](const std::shared_ptr<arrow::Buffer>& bytes, const std::string& name, std::string version) {
    const auto source = std::make_shared<arrow::io::BufferReader>(bytes);
    return ParquetReader::Open(source, name, With(cache, std::move(version))).ValueOrDie()->schema()->num_fields();
  };
  EXPECT_EQ(open(File(5), "a", "1"), 5);
  EXPECT_EQ(open(File(7), "a", "1"), 7);  // of another size
  EXPECT_EQ(open(File(5), "b", "1"), 5);
  EXPECT_EQ(open(File(5), "a", "2"), 5);
  EXPECT_EQ(cache->counts().hits, 0);
  EXPECT_EQ(open(File(5), "a", "1"), 5);
  EXPECT_EQ(cache->counts().hits, 1);
}

TEST(FooterCache, IsNotUsedForFilesOfUnknownVersion) {
  const auto cache = std::make_shared<ParquetFooterCache>();
  const auto source = std::make_shared<arrow::io::BufferReader>(File(2));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(ParquetReader::Open(source, "a", With(cache, "")).ok());
  EXPECT_EQ(cache->counts().hits, 0);
  EXPECT_EQ(cache->counts().footers, 0);
}

void WriteFile(const std::string& path, const arrow::Buffer& bytes) {
  const auto out = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  ASSERT_TRUE(out->Write(bytes.data(), bytes.size()).ok() && out->Close().ok());
}

TEST(FooterCache, FilesOpenedByPathHaveTheirVersion) {
  const testing::TempFolder folder;
  const std::string path = folder.path() + "/x.parquet", other = folder.path() + "/y.parquet";
  const auto cache = std::make_shared<ParquetFooterCache>();
  const auto open = [&] { return ParquetReader::Open(path, With(cache, "")).ValueOrDie()->num_rows(); };
  WriteFile(path, *File(2, 3));
  EXPECT_EQ(open(), 3);
  EXPECT_EQ(open(), 3);
  EXPECT_EQ(cache->counts().hits, 1);
  // Another file of that name: whatever its size and the clock's resolution, it is another inode.
  WriteFile(other, *File(2, 4));
  std::filesystem::rename(other, path);
  EXPECT_EQ(open(), 4);
  EXPECT_EQ(cache->counts().hits, 1);
}

TEST(FooterCache, ForgetsWhatWasUsedLeastRecently) {
  const auto bytes = File(20);
  int64_t one = 0;
  {
    const auto cache = std::make_shared<ParquetFooterCache>();
    ASSERT_TRUE(ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "a", With(cache, "1")).ok());
    one = cache->counts().bytes;
    EXPECT_GT(one, 20 * 50);
  }
  const auto cache = std::make_shared<ParquetFooterCache>(2 * one + one / 2);
  const auto hits = [&](const char* name) {
    const int64_t before = cache->counts().hits;
    EXPECT_TRUE(ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), name, With(cache, "1")).ok());
    return cache->counts().hits > before;
  };
  EXPECT_FALSE(hits("a"));
  EXPECT_FALSE(hits("b"));
  EXPECT_TRUE(hits("a"));
  EXPECT_FALSE(hits("c"));  // b goes
  EXPECT_TRUE(hits("a"));
  EXPECT_TRUE(hits("c"));
  EXPECT_FALSE(hits("b"));
  EXPECT_EQ(cache->counts().footers, 2);
  EXPECT_EQ(cache->counts().evicted, 2);
  EXPECT_LE(cache->counts().bytes, 2 * one + one / 2);
  cache->Clear();
  EXPECT_EQ(cache->counts().bytes, 0);
  EXPECT_FALSE(hits("c"));
}

TEST(FooterCache, DoesNotKeepWhatIsLargerThanIt) {
  const auto cache = std::make_shared<ParquetFooterCache>(1000);
  const auto source = std::make_shared<arrow::io::BufferReader>(File(100));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(ParquetReader::Open(source, "a", With(cache, "1")).ok());
  EXPECT_EQ(cache->counts().hits, 0);
  EXPECT_EQ(cache->counts().footers, 0);
}

TEST(FooterCache, DoesNotKeepDamagedFooters) {
  const auto cache = std::make_shared<ParquetFooterCache>();
  std::string bytes = File(3)->ToString();
  bytes[bytes.size() - 40] = '\x7f';
  bytes[bytes.size() - 8] ^= 1;  // the footer's size
  const auto source = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(ParquetReader::Open(source, "a", With(cache, "1")).ok());
  EXPECT_EQ(cache->counts().footers, 0);
}

TEST(FooterCache, ServesManyThreads) {
  std::vector<std::shared_ptr<arrow::Buffer>> files;
  for (int i = 1; i <= 8; ++i) files.push_back(File(i));
  const auto cache = std::make_shared<ParquetFooterCache>(10000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const int columns = 1 + (i * (t + 1)) % 8;
        const auto source = std::make_shared<arrow::io::BufferReader>(files[static_cast<size_t>(columns - 1)]);
        const auto file = ParquetReader::Open(source, std::to_string(columns), With(cache, "1")).ValueOrDie();
        ASSERT_EQ(file->schema()->num_fields(), columns);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache->counts().hits + cache->counts().misses, 800);
  EXPECT_LE(cache->counts().bytes, 10000);
}

}  // namespace
}  // namespace calve
