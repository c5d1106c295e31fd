#include "calve/expression.h"
#include "calve/parquet/schema.h"
#include "calve/parquet_reader.h"

#include "indexed_parquet.h"
#include "random_array.h"
#include "read_parquet.h"

#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

// Filtered reads give the same batches however many threads read them.

namespace calve::parquet {
namespace {

struct Batch {
  std::shared_ptr<arrow::RecordBatch> batch;
  std::vector<RowRange> rows;
};

std::shared_ptr<arrow::Buffer> WriteGroups(int64_t rows, int64_t group_rows, int64_t page_bytes) {
  const auto schema = arrow::schema({arrow::field("n", arrow::int32()), arrow::field("s", arrow::utf8()),
                                     arrow::field("l", arrow::list(arrow::field("element", arrow::int64()))),
                                     arrow::field("d", arrow::float64())});
  testing::RandomArrays arrays(17, {.null_probability = 0.2});
  arrow::ArrayVector columns;
  for (const auto& field : schema->fields()) columns.push_back(arrays.Make(*field, rows));
  ::parquet::WriterProperties::Builder properties;
  properties.max_row_group_length(group_rows)->data_pagesize(page_bytes)->compression(::parquet::Compression::SNAPPY);
  properties.enable_write_page_index();
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto table = arrow::Table::Make(schema, columns, rows);
  EXPECT_TRUE(
      ::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, group_rows, properties.build()).ok());
  return sink->Finish().ValueOrDie();
}

std::vector<Batch> ReadFiltered(const std::shared_ptr<arrow::Buffer>& bytes, const std::string& filter, int threads) {
  Context context;
  context.threads = threads;
  ParquetReadOptions options;
  options.batch_rows = 1000;
  const auto source = std::make_shared<arrow::io::BufferReader>(bytes);
  const auto file = ParquetReader::Open(source, "x.parquet", options, context).ValueOrDie();
  ParquetReadRequest request;
  request.leaves.resize(file->file_schema().leaves.size());
  std::iota(request.leaves.begin(), request.leaves.end(), 0);
  request.filter = Expression::Parse(filter).ValueOrDie();
  const auto reader = file->Read(request).ValueOrDie();
  std::vector<Batch> batches;
  while (true) {
    auto batch = reader->Next();
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok() || *batch == nullptr) return batches;
    EXPECT_TRUE((*batch)->ValidateFull().ok());
    batches.push_back({*batch, reader->rows()});
  }
}

TEST(FilteredThreads, SameBatchesForAnyNumber) {
  for (const int64_t group_rows : {1500, 20000}) {
    const auto bytes = WriteGroups(20000, group_rows, 4096);
    for (const char* filter : {"n > 0", "n IS NULL", "n > 2000000000", "d IS NOT NULL AND n < 0", "s = 'no such'"}) {
      SCOPED_TRACE(fmt::format("{} in groups of {} rows", filter, group_rows));
      const auto expected = ReadFiltered(bytes, filter, 1);
      for (const int threads : {2, 5}) {
        const auto got = ReadFiltered(bytes, filter, threads);
        ASSERT_EQ(got.size(), expected.size());
        for (size_t i = 0; i < got.size(); ++i) {
          EXPECT_EQ(got[i].rows, expected[i].rows);
          EXPECT_TRUE(got[i].batch->Equals(*expected[i].batch, true, arrow::EqualOptions::Defaults().nans_equal(true)));
        }
      }
    }
  }
}

TEST(FilteredThreads, AReaderMayGoBeforeItsEnd) {
  const auto bytes = WriteGroups(20000, 1500, 4096);
  Context context;
  context.threads = 4;
  for (int taken = 0; taken < 4; ++taken) {
    const auto source = std::make_shared<arrow::io::BufferReader>(bytes);
    const auto file = ParquetReader::Open(source, "x.parquet", {}, context).ValueOrDie();
    ParquetReadRequest request;
    request.leaves = {0, 1};
    request.filter = Expression::Parse("n > 0").ValueOrDie();
    const auto reader = file->Read(request).ValueOrDie();
    for (int i = 0; i < taken; ++i) EXPECT_NE(reader->Next().ValueOrDie(), nullptr);
  }
}

}  // namespace
}  // namespace calve::parquet
