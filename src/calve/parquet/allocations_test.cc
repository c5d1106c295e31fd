#include "calve/parquet_reader.h"

#include "allocation_counter.h"
#include "random_array.h"
#include "replace_operator_new.h"

#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <algorithm>
#include <vector>

// What a batch costs in calls of operator new once a reader has its memory: batches that are dropped give the next ones
// theirs.

namespace calve::parquet {
namespace {

constexpr int64_t kRows = 200000, kBatchRows = 4096;

std::shared_ptr<arrow::Buffer> WriteColumns(const arrow::FieldVector& fields, bool dictionary) {
  testing::RandomArrays arrays(5, {.null_probability = 0.2});
  arrow::ArrayVector columns;
  for (const auto& field : fields) columns.push_back(arrays.Make(*field, kRows));
  const auto table = arrow::Table::Make(arrow::schema(fields), columns, kRows);
  auto properties = ::parquet::WriterProperties::Builder();
  properties.max_row_group_length(kRows);
  if (!dictionary) properties.disable_dictionary();
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  EXPECT_TRUE(::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, kRows, properties.build()).ok());
  return sink->Finish().ValueOrDie();
}

/// The calls of operator new for each batch but the first ones and the last, each dropped before the next is asked for.
std::vector<int64_t> AllocationsOfBatches(const std::shared_ptr<arrow::Buffer>& bytes,
                                          const ParquetReadOptions& read_options) {
  ParquetReadOptions options = read_options;
  options.batch_rows = kBatchRows;
  Context context;
  context.threads = 1;
  auto file = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x.parquet", options, context);
  auto reader = file.ValueOrDie()->ReadAll({}).ValueOrDie();
  std::vector<int64_t> counts;
  while (true) {
    testing::Allocations counted;
    const testing::CountNew count(&counted);
    auto batch = reader->Next().ValueOrDie();
    if (batch == nullptr) break;
    counts.push_back(counted.count);
  }
  constexpr size_t kWarmUp = 8;
  EXPECT_GT(counts.size(), 2 * kWarmUp);
  return {counts.begin() + kWarmUp, counts.end() - 1};
}

void ExpectAtMostFourAndOneAColumn(const arrow::FieldVector& fields, const ParquetReadOptions& options = {}) {
  for (const bool dictionary : {true, false}) {
    SCOPED_TRACE(dictionary ? "dictionary" : "plain");
    std::vector<int64_t> counts = AllocationsOfBatches(WriteColumns(fields, dictionary), options);
    // A page that begins in a batch costs something of its own, so the count is that of the batch in the middle.
    std::sort(counts.begin(), counts.end());
    EXPECT_LE(counts[counts.size() / 2], 4 + static_cast<int64_t>(fields.size()))
        << fmt::format("{}", fmt::join(counts, " "));
  }
}

TEST(AllocationsABatch, FixedWidthColumns) {
  ExpectAtMostFourAndOneAColumn({arrow::field("a", arrow::int32()), arrow::field("b", arrow::int64()),
                                 arrow::field("c", arrow::float64()), arrow::field("d", arrow::float32()),
                                 arrow::field("e", arrow::decimal128(20, 3)), arrow::field("f", arrow::date32()),
                                 arrow::field("g", arrow::boolean()), arrow::field("h", arrow::int16())});
}

TEST(AllocationsABatch, Strings) {
  ExpectAtMostFourAndOneAColumn({arrow::field("a", arrow::utf8()), arrow::field("b", arrow::binary()),
                                 arrow::field("c", arrow::utf8(), /*nullable=*/false)});
}

TEST(AllocationsABatch, StringViews) {
  ParquetReadOptions options;
  options.strings = StringOutput::kUtf8View;
  ExpectAtMostFourAndOneAColumn({arrow::field("a", arrow::utf8()), arrow::field("b", arrow::utf8())}, options);
}

TEST(AllocationsABatch, Lists) {
  ExpectAtMostFourAndOneAColumn(
      {arrow::field("a", arrow::list(arrow::field("element", arrow::int64()))), arrow::field("b", arrow::int64())});
}

}  // namespace
}  // namespace calve::parquet
