#include "calve/parquet/page_index.h"

#include "calve/parquet/footer.h"

#include "indexed_parquet.h"
#include "test_data.h"

#include <arrow/io/file.h>
#include <arrow/json/from_string.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/page_index.h>

#include <numeric>

namespace calve::parquet {
namespace {

using testing::WriteIndexed;

std::shared_ptr<arrow::Table> Numbers() {
  std::string json = "[";
  for (int i = 0; i < 25; ++i) json += (i > 0 ? "," : "") + (i < 10 ? std::string("null") : std::to_string(i * 3));
  return arrow::Table::Make(arrow::schema({arrow::field("n", arrow::int64())}),
                            {*arrow::json::ArrayFromJSONString(arrow::int64(), json + "]")});
}

/// A file's bytes, footer and the place of one of its chunks.
struct OpenChunk {
  explicit OpenChunk(std::shared_ptr<arrow::io::RandomAccessFile> source, int leaf = 0, int row_group = 0)
      : file(std::move(source)), footer(Footer::Read(file.get()).ValueOrDie()) {
    const LeafColumn& column = footer->schema().leaves[static_cast<size_t>(leaf)];
    plan = PlanChunk(*footer, column, leaf, row_group).ValueOrDie();
    group = &footer->metadata().row_groups[static_cast<size_t>(row_group)];
    chunk = &group->columns[static_cast<size_t>(leaf)];
  }
  Result<std::optional<PageIndex>> Read(const ColumnChunk& of) const {
    return ReadPageIndex(file.get(), of, plan, group->num_rows, footer->begin(), true);
  }

  std::shared_ptr<arrow::io::RandomAccessFile> file;
  std::shared_ptr<const Footer> footer;
  ChunkPlan plan;
  const RowGroup* group;
  const ColumnChunk* chunk;
};

OpenChunk OpenNumbers() {
  return OpenChunk(std::make_shared<arrow::io::BufferReader>(WriteIndexed(*Numbers(), {.page_rows = 10})));
}

TEST(PageIndex, OfAFileWithANullPage) {
  const auto index = OpenNumbers().Read(*OpenNumbers().chunk).ValueOrDie();
  ASSERT_TRUE(index && index->columns);
  EXPECT_EQ(index->offsets.first_rows(), (std::vector<int64_t>{0, 10, 20}));
  EXPECT_EQ(index->columns->null_pages, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(index->columns->null_counts, (std::vector<int64_t>{10, 0, 0}));
  EXPECT_EQ(index->columns->min_values[1], (std::string("\x1e\0\0\0\0\0\0\0", 8)));
  EXPECT_EQ(index->columns->max_values[2], (std::string("\x48\0\0\0\0\0\0\0", 8)));
  EXPECT_FALSE(index->columns->nan_counts);
}

/// Every index of the file, against libparquet's parser.
void ExpectSameIndexes(const std::string& path, int64_t* pages) {
  auto file = arrow::io::ReadableFile::Open(path).ValueOrDie();
  const auto reader = ::parquet::ParquetFileReader::Open(file);
  const auto indexes = reader->GetPageIndexReader();
  for (int g = 0; g < reader->metadata()->num_row_groups(); ++g) {
    const auto group = indexes->RowGroup(g);
    for (int c = 0; c < reader->metadata()->num_columns(); ++c) {
      const auto offsets = group == nullptr ? nullptr : group->GetOffsetIndex(c);
      const auto columns = group == nullptr ? nullptr : group->GetColumnIndex(c);
      const OpenChunk chunk(file, c, g);
      const auto index = chunk.Read(*chunk.chunk).ValueOrDie();
      ASSERT_EQ(index.has_value(), offsets != nullptr) << path << " column " << c;
      if (!index) continue;
      ASSERT_EQ(index->offsets.page_locations.size(), offsets->page_locations().size());
      for (size_t i = 0; i < offsets->page_locations().size(); ++i) {
        const auto& got = index->offsets.page_locations[i];
        const auto& want = offsets->page_locations()[i];
        EXPECT_EQ(std::tuple(got.offset, got.compressed_page_size, got.first_row_index),
                  std::tuple(want.offset, want.compressed_page_size, want.first_row_index));
        ++*pages;
      }
      ASSERT_EQ(index->columns.has_value(), columns != nullptr);
      if (!index->columns) continue;
      EXPECT_EQ(index->columns->null_pages, columns->null_pages());
      EXPECT_EQ(index->columns->min_values, columns->encoded_min_values());
      EXPECT_EQ(index->columns->max_values, columns->encoded_max_values());
      EXPECT_EQ(static_cast<int>(index->columns->boundary_order), static_cast<int>(columns->boundary_order()));
      EXPECT_EQ(index->columns->null_counts.has_value(), columns->has_null_counts());
      if (index->columns->null_counts) EXPECT_EQ(*index->columns->null_counts, columns->null_counts());
    }
  }
}

TEST(PageIndex, OfOtherWritersAsLibparquetReadsIt) {
  CALVE_SHARED_DATA(folder);
  int64_t pages = 0;
  for (const char* name :
       {"alltypes_tiny_pages.parquet", "alltypes_tiny_pages_plain.parquet", "data_index_bloom_encoding_stats.parquet",
        "int32_with_null_pages.parquet", "sort_columns.parquet"}) {
    ExpectSameIndexes(folder + "/parquet-testing/data/" + name, &pages);
  }
  EXPECT_GT(pages, 1000);
}

/// The bytes of an index of `chunk`.
std::string BytesAt(const OpenChunk& chunk, std::optional<int64_t> offset, std::optional<int32_t> length) {
  return chunk.file->ReadAt(*offset, *length).ValueOrDie()->ToString();
}

std::span<const uint8_t> Span(const std::string& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

TEST(PageIndex, TruncatedAtEveryByte) {
  const auto numbers = OpenNumbers();
  const auto offsets = BytesAt(numbers, numbers.chunk->offset_index_offset, numbers.chunk->offset_index_length);
  const auto columns = BytesAt(numbers, numbers.chunk->column_index_offset, numbers.chunk->column_index_length);
  ASSERT_TRUE(ParseOffsetIndex(Span(offsets)).ok());
  ASSERT_TRUE(ParseColumnIndex(Span(columns)).ok());
  for (size_t size = 0; size < offsets.size(); ++size) {
    EXPECT_FALSE(ParseOffsetIndex(Span(offsets).first(size)).ok()) << size;
  }
  for (size_t size = 0; size < columns.size(); ++size) {
    EXPECT_FALSE(ParseColumnIndex(Span(columns).first(size)).ok()) << size;
  }
}

TEST(PageIndex, IsNotUsedWhenItDoesNotLieInTheFile) {
  const auto numbers = OpenNumbers();
  for (const int64_t offset : {int64_t{-1}, int64_t{0}, numbers.footer->begin(), int64_t{1} << 60}) {
    ColumnChunk chunk = *numbers.chunk;
    chunk.offset_index_offset = offset;
    EXPECT_FALSE(numbers.Read(chunk).ValueOrDie()) << offset;
  }
  for (const int32_t length : {-1, 0, 3, 1 << 30}) {
    ColumnChunk chunk = *numbers.chunk;
    chunk.offset_index_length = length;
    EXPECT_FALSE(numbers.Read(chunk).ValueOrDie()) << length;
    chunk = *numbers.chunk;
    chunk.column_index_length = length;
    const auto index = numbers.Read(chunk).ValueOrDie();
    EXPECT_TRUE(index && !index->columns) << length;
  }
}

std::string Refusal(const std::vector<PageLocation>& pages) {
  ChunkPlan plan;
  plan.offset = 4;
  plan.size_bytes = 96;
  return CheckOffsetIndex(OffsetIndex{pages}, plan, 10, 30).message();
}

TEST(CheckOffsetIndex, Fits) {
  EXPECT_EQ(Refusal({{10, 20, 0}, {30, 20, 10}, {50, 50, 20}}), "");
  // Bytes between pages do not matter.
  EXPECT_EQ(Refusal({{10, 10, 0}, {40, 10, 29}}), "");
  // A dictionary page where the footer says that the data pages begin.
  EXPECT_EQ(Refusal({{15, 15, 0}, {30, 20, 10}}), "");
}

TEST(CheckOffsetIndex, RefusesPagesOfAnotherChunk) {
  EXPECT_EQ(Refusal({}), "an offset index without pages");
  EXPECT_EQ(Refusal({{9, 20, 0}}), "the first page is at byte 9, the footer says 10");
  EXPECT_EQ(Refusal({{10, 91, 0}}), "page 0 of 91 bytes at byte 10 does not end before byte 100");
  EXPECT_EQ(Refusal({{10, 21, 0}, {30, 20, 10}}), "page 0 of 21 bytes at byte 10 does not end before byte 30");
  EXPECT_EQ(Refusal({{10, -5, 0}}), "page 0 of -5 bytes at byte 10 does not end before byte 100");
  EXPECT_EQ(Refusal({{10, 20, 0}, {30, 20, 0}}), "page 0 begins at row 0, the next one at row 0");
  EXPECT_EQ(Refusal({{10, 20, 0}, {30, 20, 30}}), "page 1 begins at row 30, the next one at row 30");
}

TEST(CheckOffsetIndex, RefusesAnIndexThatDoesNotStartAtRow0) {
  EXPECT_EQ(Refusal({{10, 20, 5}, {30, 20, 10}}), "the first page begins at row 5");
}

TEST(CheckColumnIndex, ListsAreOfOneLength) {
  ColumnIndex index;
  index.null_pages = {false, false};
  index.min_values = index.max_values = {"a", "b"};
  EXPECT_TRUE(CheckColumnIndex(index, 2).ok());
  EXPECT_FALSE(CheckColumnIndex(index, 3).ok());
  index.null_counts = {1};
  EXPECT_EQ(CheckColumnIndex(index, 2).message(), "1 null counts for 2 pages");
  index.null_counts = {1, -1};
  EXPECT_EQ(CheckColumnIndex(index, 2).message(), "null counts of -1");
  index.null_counts = std::nullopt;
  index.nan_counts = {0, 0, 0};
  EXPECT_EQ(CheckColumnIndex(index, 2).message(), "3 NaN counts for 2 pages");
}

}  // namespace
}  // namespace calve::parquet
