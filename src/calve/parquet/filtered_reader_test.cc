#include "calve/parquet/filtered_reader.h"

#include "selection_testing.h"
#include "test_data.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

// What comes out by every way of selection, against all rows (as libparquet reads them) and the filter.

namespace calve::parquet {
namespace {

using testing::AllRows;
using testing::ExpectRows;
using testing::IndexedFile;
using testing::kRows;
using testing::MaskOf;
using testing::MixedTable;
using testing::PositionsOf;
using testing::SelectionCase;
using testing::Selections;
using testing::WriteIndexed;

const std::vector<std::string>& Filters() {
  static const std::vector<std::string> filters = {
      "id = 4000",
      "id = 4001",
      "id < 100",
      "id >= 9990",
      "id > 9998",
      "id BETWEEN 3190 AND 3215",
      "id < 0",
      "id IN (2, 400, 401, 9998)",
      "id NOT IN (2, 4)",
      "id != 4000",
      "NOT (id < 9000)",
      "v = 3",
      "v IS NULL",
      "v IS NOT NULL",
      "v > 490",
      "v = 5000",
      "v < -495 OR id < 10",
      "id < 3000 AND v = 7",
      "(id < 150 OR id > 9800) AND t LIKE 'text 00%'",
      "d = 0",
      "d = -0.0",
      "d != 0",
      "d IS NAN",
      "d IS NOT NAN",
      "d > 1249",
      "d < 1",
      "d >= 100 AND d < 101",
      "d IS NULL",
      "t = 'text 0004 '",
      "t LIKE 'text 0007%'",
      "t < 'text 0001'",
      "t > 'zzz'",
      "t NOT LIKE 'text%'",
      "big >= 9223372036854775808",
      "big < 9223372036854774000",
      "big = 9223372036854775807",
      "dec = -1.23",
      "dec > 5.9",
      "dec IN (1.00, 9.99)",
      "grp = 101",
      "grp = 103",
      "grp IN (7, 403)",
      "grp > 400",
      "h = 7",
      "h > 48.5",
      "ts = TIMESTAMP '1970-01-01 00:00:00.5'",
      "ts < TIMESTAMP '1970-01-01 00:00:00.01'",
      "rare",
      "rare = TRUE",
      "rare IS NULL",
      "rare = FALSE AND id < 20",
      "rec.v = 3",
      "rec.v IS NULL AND id < 300",
      "rec.t > 'text 0200' AND id > 9900",
      "rec IS NULL",
      "list IS NULL",
      "TRUE",
      "FALSE",
      "id % 2 = 0",
  };
  return filters;
}

/// Every filter by every way of selection.
/// In a long run all filters, otherwise one in six.
void ExpectAllWays(const IndexedFile& written, const std::vector<std::string>& columns, int64_t batch_rows = 700) {
  const auto filters = Filters();
  const auto bytes = WriteIndexed(*MixedTable(), written);
  const auto all = AllRows(bytes);
  for (size_t f = 0; f < filters.size(); f += testing::LongTests() ? 1 : 6) {
    const std::string& text = filters[f];
    const auto filter = Expression::Parse(text);
    if (!filter.ok() || !testing::BoundFilter(text, *all->schema()).ok()) continue;
    const auto expected = PositionsOf(*MaskOf(text, *all), RowRanges::Of(0, kRows));
    for (size_t i = 0; i < Selections().size(); ++i) {
      SCOPED_TRACE(fmt::format("{} by selection {}", text, i));
      SelectionCase one(bytes, Selections()[i], batch_rows);
      ParquetReadRequest request;
      request.leaves = columns.empty() ? one.AllLeaves() : one.Leaves(columns);
      request.filter = *filter;
      ExpectRows(&one, request, *all, expected);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(FilteredReader, AllFiltersAllWaysOfAPlainFile) { ExpectAllWays({.bloom_filters = {"id", "v", "t", "grp"}}, {}); }

TEST(FilteredReader, AllFiltersAllWaysOfDictionariesAndVersion2Pages) {
  ExpectAllWays({.page_rows = 37, .dictionary = true, .data_pages = ::parquet::ParquetDataPageVersion::V2}, {});
}

TEST(FilteredReader, AllFiltersAllWaysOfMisalignedPages) {
  // Pages end by bytes: those of every column elsewhere.
  ExpectAllWays({.page_rows = 1000, .page_bytes = 200, .codec = ::parquet::Compression::UNCOMPRESSED}, {}, 100);
}

TEST(FilteredReader, AllFiltersAllWaysWithoutPageIndex) {
  ExpectAllWays({.page_rows = 1000, .page_index = false, .page_bytes = 300, .dictionary = true}, {"list", "rec", "d"});
}

TEST(FilteredReader, AllFiltersAllWaysOfOneColumn) { ExpectAllWays({.dictionary = true}, {"t"}, 64); }

TEST(FilteredReader, RowsAndFilterTogether) {
  const auto bytes = WriteIndexed(*MixedTable(), {.dictionary = true});
  const auto all = AllRows(bytes);
  std::mt19937_64 random(5);
  for (int i = 0; i < 60; ++i) {
    RowRanges rows;
    for (int64_t row = static_cast<int64_t>(random() % 500); row < kRows;) {
      const auto end = std::min<int64_t>(kRows, row + static_cast<int64_t>(random() % (i % 2 == 0 ? 900 : 9)));
      rows.Append({row, end});
      row = end + static_cast<int64_t>(random() % (i % 3 == 0 ? 1500 : 40));
    }
    const std::string text = i % 4 == 0 ? "TRUE" : i % 4 == 1 ? "v > 0" : i % 4 == 2 ? "id > 5000" : "grp = 103";
    SCOPED_TRACE(text);
    SelectionCase one(bytes, {}, 300);
    ParquetReadRequest request;
    request.leaves = one.AllLeaves();
    request.rows = rows.ranges();
    request.filter = *Expression::Parse(text);
    ExpectRows(&one, request, *all, PositionsOf(*MaskOf(text, *all), rows));
    if (HasFailure()) return;
  }
}

TEST(FilteredReader, RowGroupsAskedForKeepTheirPositions) {
  const auto bytes = WriteIndexed(*MixedTable());
  SelectionCase one(bytes, {});
  ParquetReadRequest request;
  request.leaves = one.Leaves({"t"});
  request.row_groups = {1, 3};
  request.filter = *Expression::Parse("id >= 3990 AND id < 6010");
  ASSERT_TRUE(one.Read(request).ok());
  EXPECT_EQ(one.positions, (std::vector<int64_t>{1995, 1996, 1997, 1998, 1999, 3000, 3001, 3002, 3003, 3004}));
}

TEST(FilteredReader, WithNoColumnOnlyRowsAreCounted) {
  const auto bytes = WriteIndexed(*MixedTable());
  SelectionCase one(bytes, {});
  ParquetReadRequest request;
  request.filter = *Expression::Parse("id < 100");
  EXPECT_EQ(one.Read(request).ValueOrDie()->num_rows(), 50);
  request.filter = Expression();
  request.rows = std::vector<RowRange>{{10, 20}, {990, 1010}};
  EXPECT_EQ(one.Read(request).ValueOrDie()->num_rows(), 30);
}

TEST(FilteredReader, RefusesRequestsThatDoNotFit) {
  SelectionCase one(WriteIndexed(*MixedTable()), {});
  ParquetReadRequest request;
  request.rows = std::vector<RowRange>{{10, kRows + 1}};
  EXPECT_EQ(one.reader->Read(request).status().message(),
            "x.parquet: row range up to row 5001, the file has 5000 rows");
  request.rows = std::vector<RowRange>{{10, 5}};
  EXPECT_FALSE(one.reader->Read(request).ok());
  request.rows.reset();
  request.filter = *Expression::Parse("missing = 1");
  EXPECT_THAT(one.reader->Read(request).status().message(), ::testing::HasSubstr("no column 'missing'"));
  request.filter = *Expression::Parse("id = 1");
  request.row_groups = {7};
  EXPECT_FALSE(one.reader->Read(request).ok());
}

}  // namespace
}  // namespace calve::parquet
