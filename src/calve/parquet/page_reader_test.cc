#include "calve/parquet/page_reader.h"

#include "calve/compress/codec.h"
#include "calve/hash/hash.h"

#include "counting_file.h"

#include <arrow/io/memory.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::parquet {
namespace {

struct TestPage {
  PageHeader header;
  std::string body;
};

TestPage V1(std::string body, int32_t num_values) {
  TestPage page{{}, std::move(body)};
  page.header.type = PageType::kDataPage;
  page.header.compressed_page_size = page.header.uncompressed_page_size = static_cast<int32_t>(page.body.size());
  page.header.data_page.emplace().num_values = num_values;
  return page;
}

TestPage V2(std::string body, int32_t num_values, int32_t repetition_bytes, int32_t definition_bytes) {
  TestPage page = V1(std::move(body), num_values);
  page.header.type = PageType::kDataPageV2;
  page.header.data_page.reset();
  DataPageHeaderV2& header = page.header.data_page_v2.emplace();
  header.num_values = num_values;
  header.repetition_levels_byte_length = repetition_bytes;
  header.definition_levels_byte_length = definition_bytes;
  return page;
}

std::string ChunkOf(const std::vector<TestPage>& pages) {
  std::string chunk;
  for (const TestPage& page : pages) chunk += Serialize(page.header) + page.body;
  return chunk;
}

struct Chunk {
  Chunk(const std::vector<TestPage>& pages, int64_t num_values,
        CompressionCodec codec = CompressionCodec::kUncompressed, bool verify_crc = false)
      : bytes(ChunkOf(pages)), file(arrow::Buffer::FromString("PAR1" + bytes)) {
    plan.offset = 4;
    plan.size_bytes = static_cast<int64_t>(bytes.size());
    plan.num_values = num_values;
    plan.codec = codec;
    PageOptions options;
    options.verify_crc = verify_crc;
    options.pool = arrow::default_memory_pool();
    reader = std::make_unique<PageReader>(ChunkBytes(&file, plan.offset, plan.size_bytes, 1 << 20, options.pool), plan,
                                          options);
  }
  std::string error() {
    auto page = reader->Next();
    return page.ok() ? "ok" : page.status().message();
  }
  std::string bytes;
  arrow::io::BufferReader file;
  ChunkPlan plan;
  std::unique_ptr<PageReader> reader;
};

std::string_view Text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(PageReader, YieldsPagesUntilAllValuesAreSeen) {
  TestPage index = V1("index", 0);
  index.header.type = PageType::kIndexPage;
  Chunk chunk({V1("one", 3), index, V1("", 0), V2("rrddtwo", 4, 2, 2)}, 7);
  const Page* page = chunk.reader->Next().ValueOrDie();
  EXPECT_EQ(Text(page->body), "one");
  EXPECT_EQ(page->place().text(), "page 0 at byte 4");
  EXPECT_EQ(chunk.reader->Next().ValueOrDie()->num_values(), 0);
  page = chunk.reader->Next().ValueOrDie();
  EXPECT_EQ(Text(page->repetition_levels), "rr");
  EXPECT_EQ(Text(page->definition_levels), "dd");
  EXPECT_EQ(Text(page->body), "two");
  EXPECT_EQ(page->num_values(), 4);
  EXPECT_EQ(chunk.reader->Next().ValueOrDie(), nullptr);
}

TEST(PageReader, DecompressesEveryCodec) {
  const std::string text(1000, 'x');
  for (const auto& [codec, with] :
       std::vector<std::pair<CompressionCodec, Codec>>{{CompressionCodec::kSnappy, Codec::kSnappy},
                                                       {CompressionCodec::kGzip, Codec::kGzip},
                                                       {CompressionCodec::kBrotli, Codec::kBrotli},
                                                       {CompressionCodec::kZstd, Codec::kZstd},
                                                       {CompressionCodec::kLz4Raw, Codec::kLz4Raw},
                                                       {CompressionCodec::kLz4, Codec::kLz4Hadoop}}) {
    TestPage page = V1(CompressToString(with, {}, text).ValueOrDie(), 1);
    page.header.uncompressed_page_size = 1000;
    Chunk chunk({page}, 1, codec);
    EXPECT_EQ(Text(chunk.reader->Next().ValueOrDie()->body), text) << ToString(codec);
    for (int32_t wrong : {998, 1002, 999, 1001}) {
      page.header.uncompressed_page_size = wrong;
      EXPECT_THAT(Chunk({page}, 1, codec).error(), ::testing::StartsWith("page 0 at byte 4: "))
          << ToString(codec) << wrong;
    }
  }
}

TEST(PageReader, RefusesLzoByName) {
  EXPECT_EQ(Chunk({V1("abc", 1)}, 1, CompressionCodec::kLzo).error(), "page 0 at byte 4: compression codec LZO (3)");
}

TEST(PageReader, EmptyPagesAreNotDecompressed) {
  // A v2 page whose values are nothing at all, and one whose values are one byte of snappy that stands for nothing.
  for (const char* body : {"dd", "dd\0"}) {
    TestPage page = V2(std::string(body, body == std::string("dd") ? 2 : 3), 1, 0, 2);
    page.header.uncompressed_page_size = 2;
    Chunk chunk({page}, 1, CompressionCodec::kSnappy);
    const auto got = chunk.reader->Next();
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE((*got)->body.empty());
  }
}

TEST(PageReader, V2ThatIsNotCompressedMustSayOneSize) {
  TestPage page = V2("ddvalues", 1, 0, 2);
  page.header.data_page_v2->is_compressed = false;
  EXPECT_EQ(Text(Chunk({page}, 1, CompressionCodec::kSnappy).reader->Next().ValueOrDie()->definition_levels), "dd");
  page.header.uncompressed_page_size = 100;
  EXPECT_EQ(Chunk({page}, 1, CompressionCodec::kSnappy).error(),
            "page 0 at byte 4: 6 bytes of values that are not compressed, 98 uncompressed");
}

TEST(PageReader, RefusesSizesThatLie) {
  TestPage page = V1("abc", 1);
  page.header.uncompressed_page_size = 2147483647;
  EXPECT_EQ(Chunk({page}, 1).error(), "page 0 at byte 4: 3 bytes that are not compressed, 2147483647 uncompressed");
  EXPECT_EQ(Chunk({page}, 1, CompressionCodec::kSnappy).error(),
            "page 0 at byte 4: 3 bytes of SNAPPY cannot become 2147483647 bytes");
  EXPECT_EQ(Chunk({page}, 1, CompressionCodec::kGzip).error(),
            "page 0 at byte 4: 3 bytes of GZIP cannot become 2147483647 bytes");
  for (auto codec : {CompressionCodec::kZstd, CompressionCodec::kBrotli}) {
    EXPECT_THAT(Chunk({page}, 1, codec).error(), ::testing::StartsWith("page 0 at byte 4: "));
  }
  page.header.compressed_page_size = 2147483647;
  EXPECT_EQ(Chunk({page}, 1).error(), "page 0 at byte 4: a page of 2147483647 bytes, the column chunk has 3 left");
  page.header.compressed_page_size = -1;
  EXPECT_EQ(Chunk({page}, 1).error(), "page 0 at byte 4: a page of -1 bytes, the column chunk has 3 left");
  page.header.compressed_page_size = 3;
  page.header.uncompressed_page_size = -1;
  EXPECT_EQ(Chunk({page}, 1).error(), "page 0 at byte 4: an uncompressed size of -1 bytes");
  EXPECT_EQ(Chunk({V2("abc", 1, 2, 2)}, 1).error(),
            "page 0 at byte 4: levels of 2 + 2 bytes in a page of 3 bytes (3 uncompressed)");
  EXPECT_EQ(Chunk({V2("abc", 1, -1, 2)}, 1).error(),
            "page 0 at byte 4: levels of -1 + 2 bytes in a page of 3 bytes (3 uncompressed)");
}

TEST(PageReader, RefusesCountsThatLie) {
  EXPECT_EQ(Chunk({V1("abc", 8)}, 7).error(), "page 0 at byte 4: a page of 8 values, the column chunk has 7 left");
  EXPECT_EQ(Chunk({V1("abc", -1)}, 7).error(), "page 0 at byte 4: a page of -1 values");
  Chunk chunk({V1("abc", 3)}, 7);
  EXPECT_EQ(chunk.error(), "ok");
  EXPECT_THAT(chunk.error(), ::testing::MatchesRegex("the pages end at byte [0-9]+ with 3 of 7 values"));
}

TEST(PageReader, ChecksCrcs) {
  TestPage page = V1("abc", 1);
  page.header.crc = static_cast<int32_t>(Crc32({reinterpret_cast<const uint8_t*>("abc"), 3}));
  EXPECT_EQ(Chunk({page}, 1, CompressionCodec::kUncompressed, true).error(), "ok");
  page.body = "abd";
  EXPECT_EQ(Chunk({page}, 1, CompressionCodec::kUncompressed, false).error(), "ok");
  EXPECT_THAT(Chunk({page}, 1, CompressionCodec::kUncompressed, true).error(),
              ::testing::MatchesRegex("page 0 at byte 4: CRC [0-9a-f]+, the header says 352441c2"));
}

TEST(PageReader, HeadersLongerThanTheFirstLook) {
  TestPage page = V1("abc", 1);
  page.header.data_page->statistics.emplace().max_value = std::string(3 << 20, 'z');
  Chunk chunk({page, page}, 2);
  EXPECT_EQ(Text(chunk.reader->Next().ValueOrDie()->body), "abc");
  EXPECT_EQ(Text(chunk.reader->Next().ValueOrDie()->body), "abc");
}

TEST(PageReader, ReadsNoByteTwice) {
  std::vector<TestPage> pages;
  for (size_t i = 0; i < 40; ++i)
    pages.push_back(V1(std::string(900 + i * 37 % 300, static_cast<char>('a' + i % 26)), 1));
  pages[7].body = std::string(20000, '!');
  pages[7].header.compressed_page_size = pages[7].header.uncompressed_page_size = 20000;
  const Chunk whole(pages, 40);
  for (const int64_t window : {1, 100, 1500, 5000, 8000, 1 << 20}) {
    testing::CountingFile file(arrow::Buffer::FromString("PAR1" + whole.bytes));
    ReadCounters counters;
    PageOptions options;
    options.pool = arrow::default_memory_pool();
    options.counters = &counters;
    PageReader reader(ChunkBytes(&file, 4, whole.plan.size_bytes, window, options.pool, &counters), whole.plan,
                      options);
    for (const TestPage& page : pages) EXPECT_EQ(Text(reader.Next().ValueOrDie()->body), page.body) << window;
    EXPECT_EQ(reader.Next().ValueOrDie(), nullptr);
    EXPECT_EQ(file.bytes_read, whole.plan.size_bytes) << window;
    EXPECT_EQ(counters.bytes_read, file.bytes_read) << window;
  }
}

TEST(PageReader, CutAtEveryByte) {
  const std::vector<TestPage> pages = {V1("one", 3), V2("rrddtwo", 4, 2, 2)};
  const size_t size = ChunkOf(pages).size();
  for (size_t cut = 0; cut < size; ++cut) {
    Chunk whole(pages, 7);
    whole.plan.size_bytes = static_cast<int64_t>(cut);
    PageOptions options;
    options.pool = arrow::default_memory_pool();
    PageReader reader(ChunkBytes(&whole.file, 4, whole.plan.size_bytes, 1 << 20, options.pool), whole.plan, options);
    Status status;
    for (int i = 0; i < 3 && status.ok(); ++i) status = reader.Next().status();
    EXPECT_TRUE(status.IsInvalid()) << cut << " " << status;
  }
}

}  // namespace
}  // namespace calve::parquet
