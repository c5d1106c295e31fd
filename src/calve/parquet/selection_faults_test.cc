#include "calve/parquet/filtered_reader.h"

#include "selection_testing.h"

#include <gtest/gtest.h>

// Faults that others had.

namespace calve::parquet {
namespace {

using testing::AllRows;
using testing::ExpectSameTable;
using testing::IndexedFile;
using testing::kRows;
using testing::MaskOf;
using testing::MixedTable;
using testing::PositionsOf;
using testing::SelectionCase;
using testing::Selections;
using testing::TakeRows;
using testing::WriteIndexed;

std::vector<int64_t> Selected(const std::shared_ptr<arrow::DataType>& type, const std::string& json,
                              const std::string& filter, const IndexedFile& written) {
  const auto table = arrow::Table::Make(arrow::schema({arrow::field("c", type), arrow::field("p", type)}),
                                        {testing::ArrayOf(type, json), testing::ArrayOf(type, json)});
  const auto bytes = WriteIndexed(*table, written);
  std::vector<int64_t> positions;
  for (size_t i = 0; i < Selections().size(); ++i) {
    SelectionCase one(bytes, Selections()[i]);
    ParquetReadRequest request;
    request.leaves = one.AllLeaves();
    request.filter = *Expression::Parse(filter);
    EXPECT_TRUE(one.Read(request).ok());
    if (i > 0) EXPECT_EQ(one.positions, positions) << "selection " << i;
    positions = one.positions;
  }
  return positions;
}

TEST(SelectionFaults, NaNsAreNotPruned) {
  for (const int64_t page_rows : {1, 2, 3}) {
    EXPECT_EQ(Selected(arrow::float64(), "[5, 5, NaN]", "c != 5", {.page_rows = page_rows}), (std::vector<int64_t>{2}));
    EXPECT_EQ(Selected(arrow::float64(), "[5, 5, NaN]", "c > 7", {.page_rows = page_rows}), (std::vector<int64_t>{2}));
    EXPECT_EQ(Selected(arrow::float32(), "[5, NaN, 5]", "c IS NAN", {.page_rows = page_rows, .dictionary = true}),
              (std::vector<int64_t>{1}));
  }
}

TEST(SelectionFaults, NoPhantomRowBehindThree) {
  for (const int64_t page_rows : {1, 2, 3, 100}) {
    EXPECT_EQ(Selected(arrow::int32(), "[1, 2, 3]", "c >= 0", {.page_rows = page_rows}),
              (std::vector<int64_t>{0, 1, 2}));
    EXPECT_EQ(Selected(arrow::int32(), "[1, 2, 3]", "c = 0", {.page_rows = page_rows}), (std::vector<int64_t>{}));
  }
}

TEST(SelectionFaults, DeltaWithSparseNulls) {
  std::string json = "[";
  std::vector<int64_t> expected;
  for (int i = 0; i < 600; ++i) {
    const bool null = i % 97 == 5;
    json += (i > 0 ? "," : "") + (null ? std::string("null") : std::to_string(i * 3 % 50));
    if (!null && i * 3 % 50 == 7) expected.push_back(i);
  }
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(Selected(arrow::int32(), json + "]", "c = 7",
                     {.page_rows = 50, .encoding = ::parquet::Encoding::DELTA_BINARY_PACKED}),
            expected);
}

TEST(SelectionFaults, InWithMoreThan128Values) {
  std::string json = "[", values;
  for (int i = 0; i < 1000; ++i) json += (i > 0 ? "," : "") + std::to_string(i);
  std::vector<int64_t> expected;
  for (int i = 0; i < 300; ++i) {
    values += (i > 0 ? ", " : "") + std::to_string(i * 3);
    expected.push_back(i * 3);
  }
  EXPECT_EQ(Selected(arrow::int32(), json + "]", "c IN (" + values + ")", {.bloom_filters = {"c"}}), expected);
}

TEST(SelectionFaults, UnsignedNumbersAboveTheSignedRange) {
  EXPECT_EQ(Selected(arrow::uint32(), "[1, 4000000000, 5]", "c > 3000000000", {.page_rows = 1}),
            (std::vector<int64_t>{1}));
  EXPECT_EQ(Selected(arrow::uint64(), "[1, 18446744073709551615, 5]", "c >= 18446744073709551615", {.page_rows = 1}),
            (std::vector<int64_t>{1}));
}

TEST(SelectionFaults, RowsLargerThanABatchMayHold) {
  // Batches end early by bytes, in the middle of ranges of rows and of masks.
  const auto bytes = WriteIndexed(*MixedTable(), {.page_rows = 50, .dictionary = true});
  const auto all = AllRows(bytes);
  OpenFile file;
  file.file = std::make_shared<arrow::io::BufferReader>(bytes);
  file.footer = Footer::Read(file.file.get()).ValueOrDie();
  for (const std::string text : {"v > 0", "id BETWEEN 100 AND 5000", "v = 0", "TRUE"}) {
    ParquetReadRequest request;
    for (int i = 0; i < file.footer->num_columns(); ++i) request.leaves.push_back(i);
    request.filter = *Expression::Parse(text);
    request.rows = std::vector<RowRange>{{0, kRows}};
    BatchLimits limits;
    limits.soft_bytes = 600;
    auto batches = FilteredReader::Make(file, request, limits).ValueOrDie();
    std::vector<int64_t> positions;
    std::vector<std::shared_ptr<arrow::RecordBatch>> parts;
    while (auto batch = batches->Next().ValueOrDie()) {
      for (const RowRange& range : batches->rows()) {
        for (int64_t row = range.begin; row < range.end; ++row) positions.push_back(row);
      }
      parts.push_back(batch);
    }
    const auto expected = PositionsOf(*MaskOf(text, *all), RowRanges::Of(0, kRows));
    ASSERT_EQ(positions, expected) << text;
    ExpectSameTable(arrow::Table::FromRecordBatches(batches->schema(), parts),
                    TakeRows(*all, expected, *batches->schema()));
  }
}

}  // namespace
}  // namespace calve::parquet
