#include "calve/parquet_reader.h"

#include <arrow/io/memory.h>
#include <arrow/json/from_string.h>
#include <arrow/table.h>
#include <parquet/arrow/writer.h>

namespace calve {
namespace {

const char kRows[] = R"([
  {"id": 1, "day": 0, "price": "12.34", "name": "a", "tags": ["x", "y"]},
  {"id": 2, "day": 19782, "price": "-0.50", "name": null, "tags": []},
  {"id": -3, "day": null, "price": null, "name": "b", "tags": null}])";

// Written by libparquet.
std::string WriteFile() {
  const auto schema =
      arrow::schema({arrow::field("id", arrow::int64(), false), arrow::field("day", arrow::date32()),
                     arrow::field("price", arrow::decimal128(9, 2)), arrow::field("name", arrow::utf8()),
                     arrow::field("tags", arrow::list(arrow::utf8()))});
  const auto rows = arrow::json::ArrayFromJSONString(arrow::struct_(schema->fields()), kRows).ValueOrDie();
  const auto batch = arrow::RecordBatch::FromStructArray(rows).ValueOrDie();
  const auto table = arrow::Table::FromRecordBatches(schema, {batch}).ValueOrDie();
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  EXPECT_TRUE(::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, 2).ok());
  return sink->Finish().ValueOrDie()->ToString();
}

arrow::Result<ParquetDescription> DescribeBytes(const std::string& bytes) {
  auto file = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  ARROW_ASSIGN_OR_RAISE(auto reader, ParquetReader::Open(std::move(file), "f.parquet"));
  return Describe(*reader);
}

std::string Cell(const arrow::RecordBatch& batch, const std::string& column, int64_t row) {
  return batch.GetColumnByName(column)->GetScalar(row).ValueOrDie()->ToString();
}

TEST(Describe, SchemaAsATree) {
  const auto description = DescribeBytes(WriteFile()).ValueOrDie();
  EXPECT_THAT(description.schema, testing::StartsWith("required INT64 id\noptional INT32 day (DATE)\n"));
  EXPECT_THAT(description.schema, testing::EndsWith("optional group tags (LIST)\n"
                                                    "  repeated group list\n"
                                                    "    optional BYTE_ARRAY element (STRING)\n"));
  EXPECT_THAT(description.created_by, testing::HasSubstr("parquet-cpp"));
}

TEST(Describe, RowGroupsAndChunks) {
  const auto description = DescribeBytes(WriteFile()).ValueOrDie();
  ASSERT_EQ(description.row_groups->num_rows(), 2);
  EXPECT_EQ(Cell(*description.row_groups, "rows", 0), "2");
  EXPECT_EQ(Cell(*description.row_groups, "offset", 0), "4");
  const arrow::RecordBatch& chunks = *description.column_chunks;
  ASSERT_EQ(chunks.num_rows(), 10);
  EXPECT_EQ(Cell(chunks, "column", 4), "tags.list.element");
  EXPECT_EQ(Cell(chunks, "row_group", 5), "1");
  EXPECT_EQ(Cell(chunks, "codec", 0), "UNCOMPRESSED");
}

TEST(Describe, BoundsByTheColumnsType) {
  const auto description = DescribeBytes(WriteFile()).ValueOrDie();
  const arrow::RecordBatch& chunks = *description.column_chunks;
  EXPECT_EQ(Cell(chunks, "min", 0) + " " + Cell(chunks, "max", 0), "1 2");
  EXPECT_EQ(Cell(chunks, "min", 5), "-3");
  EXPECT_EQ(Cell(chunks, "min", 1) + " " + Cell(chunks, "max", 1), "1970-01-01 2024-02-29");
  EXPECT_EQ(Cell(chunks, "min", 2) + " " + Cell(chunks, "max", 2), "-0.50 12.34");
  EXPECT_EQ(Cell(chunks, "min", 3) + " " + Cell(chunks, "nulls", 3), "a 1");
  EXPECT_EQ(Cell(chunks, "min", 6), "null");
}

TEST(Describe, ABitFlippedAnywhereInTheFooterIsAnErrorOrTextNeverACrash) {
  const std::string whole = WriteFile();
  const size_t footer = whole.size() - 1600;
  int described = 0;
  for (size_t at = footer; at < whole.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      described += DescribeBytes(bytes).ok() ? 1 : 0;
    }
  }
  EXPECT_GT(described, 0);
}

}  // namespace
}  // namespace calve
