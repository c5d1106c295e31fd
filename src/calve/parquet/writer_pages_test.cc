// How a file is cut into row groups and pages, and what its footer says of them.

#include "calve/parquet_writer.h"

#include "parquet_footer.h"
#include "random_array.h"

#include <arrow/builder.h>
#include <arrow/util/cancel.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <sys/mman.h>

namespace calve {
namespace {

using arrow::field;
using parquet::Encoding;
using parquet::PageType;
using testing::Batches;
using testing::ExpectRoundTrip;
using testing::Footer;
using testing::FromJson;
using testing::OneColumn;
using testing::RandomArrays;
using testing::WrittenParquet;

struct Page {
  PageType type;
  Encoding encoding;
  int64_t rows = 0, values = 0;  ///< rows: of the second version's pages only
  int64_t uncompressed_bytes = 0;
};

/// The headers of a chunk's pages, read one after another; offsets and sizes of the footer must lead there.
std::vector<Page> PagesOf(const WrittenParquet& file, int row_group = 0, int column = 0) {
  const parquet::ColumnMetadata metadata = *Footer(file).row_groups.at(row_group).columns.at(column).metadata;
  int64_t at = metadata.dictionary_page_offset.value_or(metadata.data_page_offset);
  const int64_t end = at + metadata.total_compressed_size;
  int64_t uncompressed = 0;
  std::vector<Page> pages;
  while (at < end) {
    size_t size = 0;
    auto header = parquet::ParsePageHeader({file.bytes->data() + at, static_cast<size_t>(end - at)}, &size);
    EXPECT_TRUE(header.ok()) << header.status();
    if (!header.ok()) return pages;
    EXPECT_TRUE(header->crc.has_value());
    Page page{header->type, Encoding::kPlain};
    page.uncompressed_bytes = header->uncompressed_page_size;
    if (header->data_page) {
      page.encoding = header->data_page->encoding;
      page.values = header->data_page->num_values;
    } else if (header->data_page_v2) {
      page.encoding = header->data_page_v2->encoding;
      page.values = header->data_page_v2->num_values;
      page.rows = header->data_page_v2->num_rows;
    } else {
      EXPECT_EQ(at, metadata.dictionary_page_offset);
      page.values = header->dictionary_page->num_values;
    }
    if (header->type != PageType::kDictionaryPage &&
        (pages.empty() || pages.back().type == PageType::kDictionaryPage)) {
      EXPECT_EQ(at, metadata.data_page_offset);
    }
    pages.push_back(page);
    uncompressed += static_cast<int64_t>(size) + header->uncompressed_page_size;
    at += static_cast<int64_t>(size) + header->compressed_page_size;
  }
  EXPECT_EQ(at, end);
  EXPECT_EQ(uncompressed, metadata.total_uncompressed_size);
  return pages;
}

std::shared_ptr<arrow::Array> Int64s(int64_t count, int64_t distinct) {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < count; ++i) EXPECT_TRUE(builder.Append(i % distinct).ok());
  return *builder.Finish();
}

const auto kInt64Schema = arrow::schema({field("c", arrow::int64())});

TEST(ParquetWriterPages, CutByRows) {
  ParquetWriteOptions options;
  options.page_rows = 1000;
  options.data_page_v2 = true;
  // Pages do not end with batches.
  const auto file = ExpectRoundTrip(
      kInt64Schema, {OneColumn(Int64s(700, 9)), OneColumn(Int64s(1700, 9)), OneColumn(Int64s(50, 9))}, options);
  const auto pages = PagesOf(file);
  ASSERT_EQ(pages.size(), 4u);
  EXPECT_EQ(pages[0].type, PageType::kDictionaryPage);
  EXPECT_EQ(pages[0].values, 9);
  EXPECT_EQ(pages[1].rows, 1000);
  EXPECT_EQ(pages[2].rows, 1000);
  EXPECT_EQ(pages[3].rows, 450);
}

TEST(ParquetWriterPages, CutByBytes) {
  for (int64_t page_bytes : {1, 100, 5000, 100000}) {
    ParquetWriteOptions options;
    options.page_bytes = page_bytes;
    options.dictionary = false;
    options.data_page_v2 = true;
    const auto file = ExpectRoundTrip(kInt64Schema, {OneColumn(Int64s(3000, 3000))}, options);
    int64_t rows = 0;
    for (const Page& page : PagesOf(file)) {
      rows += page.rows;
      EXPECT_TRUE(page.uncompressed_bytes <= page_bytes + 8 || page.rows == 1) << page.uncompressed_bytes;
    }
    EXPECT_EQ(rows, 3000);
  }
}

// Fault 3: pages of lists are cut, between rows, whatever the batches are.
TEST(ParquetWriterPages, LongListsInSmallBatches) {
  const auto type = arrow::list(arrow::int64());
  Batches batches;
  for (int b = 0; b < 50; ++b) {
    const auto values = Int64s(3000, 1 << 30);
    const auto offsets = FromJson(arrow::int32(), "[0, 1000, 1000, 3000]");
    batches.push_back(OneColumn(arrow::ListArray::FromArrays(*offsets, *values).ValueOrDie()));
  }
  ParquetWriteOptions options;
  options.page_bytes = 20000;
  options.data_page_v2 = true;
  options.dictionary = false;
  const auto file = ExpectRoundTrip(arrow::schema({field("c", type)}), batches, options);
  const auto pages = PagesOf(file);
  EXPECT_GE(pages.size(), 75u);
  for (const Page& page : pages) EXPECT_TRUE(page.uncompressed_bytes <= 20000 || page.rows == 1);
}

TEST(ParquetWriterPages, DictionaryThenPlain) {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < 10000; ++i) ASSERT_TRUE(builder.Append(i < 5000 ? i % 10 : i).ok());
  ParquetWriteOptions options;
  options.page_rows = 1000;
  options.dictionary_bytes = 1000;
  options.encoding = ParquetEncoding::kPlain;
  const auto file = ExpectRoundTrip(kInt64Schema, {OneColumn(*builder.Finish())}, options);
  const auto pages = PagesOf(file);
  ASSERT_EQ(pages.size(), 11u);
  EXPECT_EQ(pages[0].type, PageType::kDictionaryPage);
  for (size_t i = 1; i <= 5; ++i) EXPECT_EQ(pages[i].encoding, Encoding::kRleDictionary);
  for (size_t i = 6; i <= 10; ++i) EXPECT_EQ(pages[i].encoding, Encoding::kPlain);
}

// Fault 18: encoding_stats are always there, and right.
TEST(ParquetWriterPages, EncodingStats) {
  for (bool v2 : {false, true}) {
    ParquetWriteOptions options;
    options.page_rows = 1000;
    options.data_page_v2 = v2;
    const auto schema =
        arrow::schema({field("a", arrow::int64()), field("b", arrow::int64()), field("c", arrow::boolean())});
    RandomArrays arrays(1, {});
    const auto batch = arrow::RecordBatch::Make(
        schema, 2500, {Int64s(2500, 10), Int64s(2500, 2500), arrays.Make(*schema->field(2), 2500)});
    const auto file = ExpectRoundTrip(schema, {batch}, options);
    const auto footer = Footer(file);
    for (int c = 0; c < 3; ++c) {
      const auto pages = PagesOf(file, 0, c);
      const auto& column = *footer.row_groups[0].columns[c].metadata;
      int64_t count = 0;
      for (const auto& stats : column.encoding_stats) {
        count += stats.count;
        EXPECT_EQ(stats.count, std::count_if(pages.begin(), pages.end(), [&](const Page& page) {
                    return page.type == stats.page_type && page.encoding == stats.encoding;
                  }));
        EXPECT_NE(std::find(column.encodings.begin(), column.encodings.end(), stats.encoding), column.encodings.end());
      }
      EXPECT_EQ(count, static_cast<int64_t>(pages.size()));
    }
  }
}

TEST(ParquetWriterPages, RowGroupsByRows) {
  ParquetWriteOptions options;
  options.row_group_rows = 1000;
  const auto file = ExpectRoundTrip(kInt64Schema, {OneColumn(Int64s(2500, 9)), OneColumn(Int64s(700, 9))}, options);
  const auto footer = Footer(file);
  ASSERT_EQ(footer.row_groups.size(), 4u);
  ASSERT_EQ(file.summary.row_group_offsets.size(), 4u);
  for (size_t g = 0; g < 4; ++g) {
    const auto& group = footer.row_groups[g];
    EXPECT_EQ(group.num_rows, g == 3 ? 200 : 1000);
    EXPECT_EQ(group.ordinal, static_cast<int16_t>(g));
    EXPECT_EQ(group.file_offset, file.summary.row_group_offsets[g]);
    EXPECT_EQ(group.file_offset, group.columns[0].metadata->dictionary_page_offset);
    EXPECT_EQ(group.total_compressed_size, group.columns[0].metadata->total_compressed_size);
    EXPECT_EQ(group.total_byte_size, group.columns[0].metadata->total_uncompressed_size);
  }
  EXPECT_EQ(file.summary.row_group_offsets[0], 4);
}

TEST(ParquetWriterPages, RowGroupsByBytes) {
  ParquetWriteOptions options;
  options.row_group_bytes = 1 << 20;
  options.compression = ParquetCompression::kUncompressed;
  RandomArrays arrays(2, {});
  const auto batch = OneColumn(arrays.Make(*kInt64Schema->field(0), 600000));
  const auto file = ExpectRoundTrip(kInt64Schema, {batch}, options);
  const auto footer = Footer(file);
  EXPECT_GE(footer.row_groups.size(), 4u);
  for (const auto& group : footer.row_groups)
    EXPECT_LE(*group.total_compressed_size, (1 << 20) + (1 << 19) + (1 << 16));
}

TEST(ParquetWriterPages, RowGroupsByBytesOfSharedValues) {
  arrow::StringBuilder words;
  arrow::Int8Builder indices;
  for (char c = 'a'; c <= 'z'; ++c) ASSERT_TRUE(words.Append(std::string(2000, c)).ok());
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(indices.Append(static_cast<int8_t>(i % 26)).ok());
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto array = arrow::DictionaryArray::FromArrays(type, *indices.Finish(), *words.Finish()).ValueOrDie();
  ParquetWriteOptions options;
  options.row_group_bytes = 16 << 20;
  options.compression = ParquetCompression::kUncompressed;
  options.dictionary = false;
  const auto file = WrittenParquet::Make(arrow::schema({field("c", type)}), {OneColumn(array)}, options).ValueOrDie();
  const auto footer = Footer(file);
  EXPECT_GE(footer.row_groups.size(), 5u);
  for (const auto& group : footer.row_groups) EXPECT_LE(*group.total_compressed_size, 48 << 20);
}

// Rows of a megabyte do not wait for a round of many rows to end.
TEST(ParquetWriterPages, RowGroupsByBytesOfLargeValues) {
  const std::string text(1 << 20, 'x');
  arrow::StringBuilder strings;
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(strings.Append(text).ok());
  ParquetWriteOptions options;
  options.row_group_bytes = 16 << 20;
  options.compression = ParquetCompression::kUncompressed;
  options.dictionary = false;
  const auto file =
      ExpectRoundTrip(arrow::schema({field("c", arrow::utf8())}), {OneColumn(*strings.Finish())}, options);
  EXPECT_GE(Footer(file).row_groups.size(), 3u);
}

TEST(ParquetWriterPages, EstimateFollowsWhatIsWritten) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  ParquetWriteOptions options;
  options.dictionary = false;
  options.encoding = ParquetEncoding::kPlain;
  options.compression = ParquetCompression::kUncompressed;
  auto writer = ParquetWriter::Make(sink.get(), kInt64Schema, options).ValueOrDie();
  int64_t before = writer->estimated_bytes();
  EXPECT_LT(before, 1000);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(writer->Write(*OneColumn(Int64s(5000, 5000))).ok());
    // Levels of a page that is done take less than was feared.
    EXPECT_GE(writer->estimated_bytes(), before + 5000 * 8 - 3000);
    before = writer->estimated_bytes();
  }
  const auto summary = writer->Close().ValueOrDie();
  EXPECT_NEAR(static_cast<double>(before), static_cast<double>(summary.bytes), 2000);
}

TEST(ParquetWriterPages, ChecksumsAreVerified) {
  ParquetWriteOptions options;
  options.compression = ParquetCompression::kUncompressed;
  options.encoding = ParquetEncoding::kPlain;
  auto file = WrittenParquet::Make(kInt64Schema, {OneColumn(Int64s(1000, 1000))}, options).ValueOrDie();
  ASSERT_TRUE(file.Read().ok());
  std::string bytes = file.bytes->ToString();
  bytes[500] ^= 1;
  file.bytes = arrow::Buffer::FromString(bytes);
  auto read = file.Read();
  EXPECT_FALSE(read.ok());
  EXPECT_NE(read.status().ToString().find("CRC"), std::string::npos) << read.status();
}

TEST(ParquetWriterPages, FooterSaysWhoWroteAndWhatWasAsked) {
  ParquetWriteOptions options;
  options.key_value_metadata = {{"iceberg.schema", "{}"}, {"k", ""}};
  const auto schema = kInt64Schema->WithMetadata(arrow::key_value_metadata({"ARROW:schema"}, {"no"}));
  const auto file = WrittenParquet::Make(schema, {OneColumn(Int64s(10, 10))}, options).ValueOrDie();
  EXPECT_EQ(file.metadata()->created_by(), "calve version 0.1.0");
  const auto pairs = file.metadata()->key_value_metadata();
  EXPECT_EQ(pairs->size(), 3);
  EXPECT_EQ(*pairs->Get("iceberg.schema"), "{}");
  EXPECT_EQ(*pairs->Get("k"), "");
  EXPECT_NE(*pairs->Get("ARROW:schema"), "no");
  options.store_arrow_schema = false;
  const auto plain = WrittenParquet::Make(schema, {OneColumn(Int64s(10, 10))}, options).ValueOrDie();
  EXPECT_EQ(plain.metadata()->key_value_metadata()->size(), 2);
  EXPECT_EQ(Footer(file).type_defined_order, std::vector<bool>{true});
}

TEST(ParquetWriterPages, ValuesThatDoNotFit) {
  const auto error = [](const std::shared_ptr<arrow::Array>& array) {
    return WrittenParquet::Make(arrow::schema({field("c", array->type())}), {OneColumn(array)}).status().ToString();
  };
  EXPECT_EQ(error(FromJson(arrow::timestamp(arrow::TimeUnit::SECOND), "[9223372036854775]")), "OK");
  EXPECT_EQ(error(FromJson(arrow::timestamp(arrow::TimeUnit::SECOND), "[9223372036854776]")),
            "Invalid: column 'c': timestamp[s] value 9223372036854776 is outside what Parquet holds");
  const std::string large(16, '\x7F');
  const auto decimal =
      arrow::ArrayData::Make(arrow::decimal128(5, 0), 1, {nullptr, arrow::Buffer::FromString(large)}, 0);
  EXPECT_EQ(error(arrow::MakeArray(decimal)),
            "Invalid: column 'c': a value has more digits than decimal128(5, 0) allows");
}

// A value of more than 2^31 bytes, of memory that is never touched: its size alone is the error.
TEST(ParquetWriterPages, ValueLargerThanAPage) {
  const int64_t size = (int64_t{1} << 31) + 10;
  void* memory =
      ::mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const int64_t offsets[] = {0, size};
  const auto values = std::make_shared<arrow::Buffer>(static_cast<const uint8_t*>(memory), size);
  const auto data = arrow::ArrayData::Make(
      arrow::large_binary(), 1,
      {nullptr, arrow::Buffer::FromString(std::string(reinterpret_cast<const char*>(offsets), sizeof(offsets))),
       values},
      0);
  auto written =
      WrittenParquet::Make(arrow::schema({field("c", arrow::large_binary())}), {OneColumn(arrow::MakeArray(data))});
  EXPECT_EQ(written.status().ToString(),
            "Invalid: column 'c': a row of 2147483663 bytes does not fit into a page, which holds at most 2146435071");
  ::munmap(memory, static_cast<size_t>(size));
}

// Fault 16: many columns, in bounded memory and one footer.
TEST(ParquetWriterPages, ManyColumns) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (int i = 0; i < 1600; ++i) {
    fields.push_back(field("c" + std::to_string(i), arrow::int64()));
    columns.push_back(Int64s(50, 50));
  }
  const auto schema = arrow::schema(fields);
  const auto file = ExpectRoundTrip(schema, {arrow::RecordBatch::Make(schema, 50, columns)});
  EXPECT_EQ(Footer(file).row_groups[0].columns.size(), 1600u);
}

TEST(ParquetWriterPages, ProgressOfAStopRequest) {
  arrow::StopSource source;
  const arrow::StopToken token = source.token();
  Context context;
  context.stop = &token;
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto writer = ParquetWriter::Make(sink.get(), kInt64Schema, {}, context).ValueOrDie();
  ASSERT_TRUE(writer->Write(*OneColumn(Int64s(100, 10))).ok());
  source.RequestStop();
  context.threads = 1;
  EXPECT_TRUE(writer->Write(*OneColumn(Int64s(100, 10))).IsCancelled());
}

}  // namespace
}  // namespace calve
