#include "calve/parquet/page_index.h"
#include "calve/parquet/size_statistics.h"

#include "indexed_parquet.h"

#include "calve/parquet/footer.h"

#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

// Indexes that libparquet wrote, parsed and written again, are the same bytes.

namespace calve::parquet {
namespace {

std::shared_ptr<arrow::Table> Mixed() {
  const auto type = arrow::struct_({arrow::field("n", arrow::int64()), arrow::field("s", arrow::utf8()),
                                    arrow::field("l", arrow::list(arrow::int32()))});
  std::string json = "[";
  for (int i = 0; i < 45; ++i) {
    const std::string number = std::to_string(i * 3);
    json += (i > 0 ? "," : "") + std::string("{\"n\":") + (i < 10 ? "null" : number) + ",\"s\":\"" + number +
            "\",\"l\":" +
            (i % 3 == 0   ? "null"
             : i % 3 == 1 ? "[]"
                          : "[" + number + ",null]") +
            "}";
  }
  auto batch = arrow::RecordBatch::FromStructArray(arrow::json::ArrayFromJSONString(type, json + "]").ValueOrDie());
  return arrow::Table::FromRecordBatches({*batch}).ValueOrDie();
}

std::string BytesAt(const arrow::Buffer& file, std::optional<int64_t> offset, std::optional<int32_t> length) {
  return std::string(reinterpret_cast<const char*>(file.data()) + *offset, static_cast<size_t>(*length));
}

std::span<const uint8_t> SpanOf(const std::string& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

TEST(PageIndexWriter, SameBytesAsLibparquet) {
  const auto file = testing::WriteIndexed(*Mixed(), {.page_rows = 10});
  const auto footer = Footer::Read(std::make_shared<arrow::io::BufferReader>(file).get()).ValueOrDie();
  for (const ColumnChunk& chunk : footer->metadata().row_groups[0].columns) {
    const std::string offsets = BytesAt(*file, chunk.offset_index_offset, chunk.offset_index_length);
    const auto offset_index = ParseOffsetIndex(SpanOf(offsets)).ValueOrDie();
    EXPECT_GT(offset_index.page_locations.size(), 3u);
    EXPECT_EQ(Serialize(offset_index), offsets);
    const std::string columns = BytesAt(*file, chunk.column_index_offset, chunk.column_index_length);
    const auto column_index = ParseColumnIndex(SpanOf(columns)).ValueOrDie();
    EXPECT_FALSE(column_index.definition_level_histograms.empty());
    EXPECT_EQ(Serialize(column_index), columns);
  }
}

TEST(PageIndexWriter, NanCounts) {
  ColumnIndex index;
  index.null_pages = {false, true};
  index.min_values = index.max_values = {"a", ""};
  index.null_counts = {0, 3};
  index.nan_counts = {{2, 0}};
  const auto parsed = ParseColumnIndex(SpanOf(Serialize(index))).ValueOrDie();
  EXPECT_EQ(parsed.nan_counts, index.nan_counts);
  EXPECT_EQ(parsed.null_pages, index.null_pages);
}

TEST(SizeStatistics, WrittenAndRead) {
  SizeStatistics statistics;
  statistics.unencoded_byte_array_data_bytes = 300;
  statistics.definition_level_histogram = {1, 2, 150};
  ThriftWriter out;
  WriteSizeStatistics(&out, statistics);
  const std::string bytes = out.Finish();
  // By hand: member 1, i64 zigzag 600; member 3, a list of three i64.
  EXPECT_EQ(bytes, std::string("\x16\xd8\x04\x29\x36\x02\x04\xac\x02\x00", 10));
  ThriftReader in(SpanOf(bytes));
  SizeStatistics read;
  ReadSizeStatistics(in, &read);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(read.unencoded_byte_array_data_bytes, 300);
  EXPECT_EQ(read.definition_level_histogram, statistics.definition_level_histogram);
  EXPECT_TRUE(read.repetition_level_histogram.empty());
}

}  // namespace
}  // namespace calve::parquet
