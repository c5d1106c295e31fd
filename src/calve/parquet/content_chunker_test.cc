#include "calve/parquet/content_chunker.h"

#include "calve/parquet_writer.h"

#include "written_parquet.h"

#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <parquet/page_index.h>

#include <random>
#include <set>

namespace calve {
namespace {

using arrow::field;
using testing::ExpectRoundTrip;
using testing::OneColumn;
using testing::WrittenParquet;

ParquetWriteOptions Chunked(bool content) {
  ParquetWriteOptions options;
  options.page_rows = 1 << 30;
  options.page_bytes = 24 << 10;
  options.dictionary = false;
  options.encoding = ParquetEncoding::kPlain;
  options.compression = ParquetCompression::kUncompressed;
  if (content) options.content_chunking = ParquetContentChunking{16 << 10, 48 << 10, 0};
  return options;
}

/// The pages of the first column, as libparquet finds them, header and all.
std::vector<std::string> PagesOf(const WrittenParquet& file) {
  auto reader = file.Open();
  const auto offsets = reader->GetPageIndexReader()->RowGroup(0)->GetOffsetIndex(0);
  std::vector<std::string> pages;
  for (const auto& page : offsets->page_locations()) {
    pages.emplace_back(reinterpret_cast<const char*>(file.bytes->data()) + page.offset, page.compressed_page_size);
  }
  return pages;
}

WrittenParquet Write(const std::shared_ptr<arrow::Array>& array, const ParquetWriteOptions& options) {
  return ExpectRoundTrip(arrow::schema({field("c", array->type())}), {OneColumn(array)}, options);
}

double ShareInCommon(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const std::set<std::string> pages(a.begin(), a.end());
  double common = 0;
  for (const std::string& page : b) common += pages.contains(page) ? 1 : 0;
  return common / static_cast<double>(b.size());
}

/// Random rows of a kind, from a seed.
std::shared_ptr<arrow::Array> Rows(const std::string& kind, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  if (kind == "int64") {
    arrow::Int64Builder builder;
    for (int64_t i = 0; i < count; ++i) EXPECT_TRUE(builder.Append(static_cast<int64_t>(random() >> 1)).ok());
    return *builder.Finish();
  }
  if (kind == "string") {
    arrow::StringBuilder builder;
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_TRUE((random() % 4 == 0 ? builder.AppendNull() : builder.Append(std::to_string(random()))).ok());
    }
    return *builder.Finish();
  }
  auto values = std::make_shared<arrow::Int64Builder>();
  arrow::ListBuilder builder(arrow::default_memory_pool(), values);
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_TRUE(builder.Append(random() % 8 != 0).ok());
    for (uint64_t length = random() % 4; length > 0; --length) {
      EXPECT_TRUE(values->Append(static_cast<int64_t>(random() >> 1)).ok());
    }
  }
  return *builder.Finish();
}

std::shared_ptr<arrow::Array> Joined(const arrow::ArrayVector& parts) { return *arrow::Concatenate(parts); }

/// A few rows put in, taken out and changed leave nearly all pages as they were; cuts by size change all that follow.
TEST(ContentChunker, PagesStayWhereRowsDo) {
  for (const char* kind : {"int64", "string", "list"}) {
    const auto rows = Rows(kind, 120000, 1), other = Rows(kind, 7, 2);
    const auto edited = Joined({rows->Slice(0, 40000), other, rows->Slice(40003)});
    const auto before = PagesOf(Write(rows, Chunked(true))), after = PagesOf(Write(edited, Chunked(true)));
    EXPECT_GT(before.size(), 20u) << kind;
    EXPECT_GT(ShareInCommon(before, after), 0.85) << kind;
    EXPECT_LT(ShareInCommon(PagesOf(Write(rows, Chunked(false))), PagesOf(Write(edited, Chunked(false)))), 0.5) << kind;
  }
}

/// Where batches end does not matter.
TEST(ContentChunker, SamePagesFromOtherBatches) {
  for (const char* kind : {"int64", "string", "list"}) {
    const auto rows = Rows(kind, 60000, 3);
    const auto schema = arrow::schema({field("c", rows->type())});
    testing::Batches batches;
    for (int64_t at = 0; at < rows->length(); at += 777) batches.push_back(OneColumn(rows->Slice(at, 777)));
    EXPECT_EQ(PagesOf(ExpectRoundTrip(schema, batches, Chunked(true))), PagesOf(Write(rows, Chunked(true)))) << kind;
  }
}

// Long runs of nulls are taken in at once, which short batches do not have: places are the same.
TEST(ContentChunker, SamePlacesAmongNulls) {
  std::mt19937_64 random(7);
  arrow::Int32Builder numbers;
  arrow::ListBuilder lists(arrow::default_memory_pool(), std::make_shared<arrow::Int32Builder>());
  auto& elements = static_cast<arrow::Int32Builder&>(*lists.value_builder());
  for (int64_t i = 0; i < 60000; ++i) {
    const bool null = i < 20000 || random() % 500 != 0;
    const auto value = static_cast<int32_t>(random());
    ASSERT_TRUE((null ? numbers.AppendNull() : numbers.Append(value)).ok());
    ASSERT_TRUE((null ? lists.AppendNull() : lists.Append()).ok());
    if (!null) ASSERT_TRUE(elements.AppendValues({value, value, 3}).ok());
  }
  ParquetWriteOptions options = Chunked(true);
  options.content_chunking = ParquetContentChunking{1000, 6000, 0};
  const auto nulls = arrow::MakeArrayOfNull(arrow::int32(), 60000).ValueOrDie();
  for (const std::shared_ptr<arrow::Array>& array : {*numbers.Finish(), *lists.Finish(), nulls}) {
    const auto schema = arrow::schema({field("c", array->type())});
    std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
    for (int64_t row = 0; row < array->length(); row += 50) batches.push_back(OneColumn(array->Slice(row, 50)));
    const auto whole = PagesOf(Write(array, options));
    EXPECT_GT(whole.size(), 9u);
    EXPECT_EQ(whole, PagesOf(ExpectRoundTrip(schema, batches, options))) << array->type()->ToString();
  }
}

TEST(ContentChunker, SizesAreBetweenTheLimits) {
  for (const int norm : {-2, 0, 2}) {
    auto options = Chunked(true);
    options.content_chunking->norm_level = norm;
    const auto pages = PagesOf(Write(Rows("int64", 300000, 4), options));
    double sum = 0;
    for (size_t i = 0; i + 1 < pages.size(); ++i) {
      // A slot of 8 bytes counts for 9, with its level.
      EXPECT_GE(pages[i].size(), size_t{16 << 10} * 8 / 9);
      EXPECT_LE(pages[i].size(), size_t{49 << 10});
      sum += static_cast<double>(pages[i].size());
    }
    const double mean = sum / static_cast<double>(pages.size() - 1);
    EXPECT_GT(mean, 16 << 10) << norm;
    EXPECT_LT(mean, 44 << 10) << norm;
  }
}

TEST(ContentChunker, OptionsAreChecked) {
  ParquetWriteOptions options;
  options.content_chunking = ParquetContentChunking{100, 100, 0};
  const auto file = WrittenParquet::Make(arrow::schema({field("c", arrow::int32())}), {}, options);
  EXPECT_EQ(file.status().message(), "content_chunking.max_bytes must be more than min_bytes, got 100 and 100");
}

}  // namespace
}  // namespace calve
