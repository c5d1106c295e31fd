#include "calve/parquet_reader.h"

#include "selection_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

// How much a selection leaves out, against a count over the values.

namespace calve::parquet {
namespace {

using testing::AllRows;
using testing::Column;
using testing::kGroupRows;
using testing::kPageRows;
using testing::kRows;
using testing::MaskOf;
using testing::MixedTable;
using testing::Only;
using testing::PositionsOf;
using testing::SelectionCase;
using testing::WriteIndexed;

// `id` is 2 * row, so its bounds are known of every page and row group.

/// How many of the stretches of `size` rows have a row with `passes`.
template <typename Passes>
int64_t StretchesWith(int64_t size, Passes&& passes) {
  std::set<int64_t> stretches;
  for (int64_t i = 0; i < kRows; ++i) {
    if (passes(i)) stretches.insert(i / size);
  }
  return static_cast<int64_t>(stretches.size());
}

TEST(SelectionCounts, RowGroupsByStatistics) {
  SelectionCase one(WriteIndexed(*MixedTable()), Only(&ParquetSelectionOptions::statistics));
  ParquetReadRequest request;
  request.leaves = one.Leaves({"t"});
  request.filter = *Expression::Parse("id BETWEEN 1990 AND 2010");
  ASSERT_TRUE(one.Read(request).ok());
  const auto wanted = StretchesWith(kGroupRows, [](int64_t i) { return 2 * i >= 1990 && 2 * i <= 2010; });
  EXPECT_EQ(one.counts().row_groups, kRows / kGroupRows);
  EXPECT_EQ(one.counts().row_groups_skipped_by_statistics, kRows / kGroupRows - wanted);
  EXPECT_GT(one.counts().row_groups_skipped_by_statistics, 0);
  EXPECT_EQ(one.metrics.row_groups_skipped, 3);
  EXPECT_EQ(one.metrics.row_groups_read, 2);
}

TEST(SelectionCounts, PagesByTheirIndex) {
  SelectionCase one(WriteIndexed(*MixedTable()), Only(&ParquetSelectionOptions::page_index));
  ParquetReadRequest request;
  request.leaves = one.Leaves({"t", "list"});
  request.filter = *Expression::Parse("id BETWEEN 1990 AND 2010 OR id = 2500");
  ASSERT_TRUE(one.Read(request).ok());
  const auto passes = [](int64_t i) { return (2 * i >= 1990 && 2 * i <= 2010) || 2 * i == 2500; };
  const auto pages = StretchesWith(kPageRows, passes), groups = StretchesWith(kGroupRows, passes);
  // Three columns are read of the groups that are left: t, list and id.
  EXPECT_EQ(one.counts().row_groups_skipped_by_page_index, kRows / kGroupRows - groups);
  EXPECT_EQ(one.counts().pages, 3 * groups * kGroupRows / kPageRows);
  EXPECT_EQ(one.counts().pages_skipped_by_page_index, 3 * (groups * kGroupRows / kPageRows - pages));
  EXPECT_GT(one.counts().pages_skipped_by_page_index, 0);
  EXPECT_EQ(one.counts().rows_tested, pages * kPageRows);
}

TEST(SelectionCounts, PagesNotWantedAreNotRead) {
  // 64 columns' worth of bytes would be read without: the file is far larger than what is wanted of it.
  const auto bytes = WriteIndexed(*MixedTable(), {.codec = ::parquet::Compression::UNCOMPRESSED});
  int64_t read[2];
  for (const bool by_pages : {false, true}) {
    ParquetReadOptions options;
    options.selection.page_index = by_pages;
    options.read_latency_us = 0;
    auto reader = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x", options).ValueOrDie();
    ParquetReadRequest request;
    request.leaves = reader->LeavesOf("t").ValueOrDie();
    request.filter = *Expression::Parse("id = 2000");
    auto batches = reader->Read(request).ValueOrDie();
    ASSERT_EQ(batches->Next().ValueOrDie()->num_rows(), 1);
    ASSERT_EQ(batches->Next().ValueOrDie(), nullptr);
    read[by_pages] = batches->metrics().bytes_read;
  }
  EXPECT_LT(read[1], read[0] / 5);
}

TEST(SelectionCounts, RowGroupsByBloomFilters) {
  const auto bytes = WriteIndexed(*MixedTable(), {.bloom_filters = {"id", "grp"}});
  SelectionCase one(bytes, Only(&ParquetSelectionOptions::bloom_filters));
  ParquetReadRequest request;
  request.leaves = one.Leaves({"t"});
  // Odd numbers lie within the bounds and are nowhere.
  for (const std::string text : {"id = 4001", "id IN (1, 2001, 9001)", "id = 1 OR id = 4003", "id = 2001 AND v > 0"}) {
    request.filter = *Expression::Parse(text);
    EXPECT_EQ(one.Read(request).ValueOrDie()->num_rows(), 0) << text;
    EXPECT_EQ(one.counts().row_groups_skipped_by_bloom_filter, kRows / kGroupRows) << text;
  }
  request.filter = *Expression::Parse("id IN (2, 4001, 9002)");
  ASSERT_TRUE(one.Read(request).ok());
  const auto wanted = StretchesWith(kGroupRows, [](int64_t i) { return i == 1 || i == 4501; });
  EXPECT_EQ(one.counts().row_groups_skipped_by_bloom_filter, kRows / kGroupRows - wanted);
  EXPECT_EQ(one.positions, (std::vector<int64_t>{1, 4501}));
  for (const std::string text : {"id = 4001 OR v > 0", "NOT (id = 4001)", "id < 4001"}) {
    request.filter = *Expression::Parse(text);
    ASSERT_TRUE(one.Read(request).ok());
    EXPECT_EQ(one.counts().row_groups_skipped_by_bloom_filter, 0) << text;
  }
}

TEST(SelectionCounts, RowGroupsByDictionaries) {
  const auto bytes = WriteIndexed(*MixedTable(), {.dictionary = true});
  const auto all = AllRows(bytes);
  SelectionCase one(bytes, Only(&ParquetSelectionOptions::dictionaries));
  ParquetReadRequest request;
  request.leaves = one.Leaves({"list"});
  for (const std::string text : {"grp = 103", "grp IN (104, 409)", "grp > 400", "t = 'text 0004 '", "grp = 7"}) {
    request.filter = *Expression::Parse(text);
    ASSERT_TRUE(one.Read(request).ok());
    std::set<int64_t> groups;
    for (int64_t row : PositionsOf(*MaskOf(text, *all), RowRanges::Of(0, kRows))) groups.insert(row / kGroupRows);
    EXPECT_EQ(one.counts().row_groups_skipped_by_dictionary, kRows / kGroupRows - static_cast<int64_t>(groups.size()))
        << text;
    EXPECT_GT(one.counts().row_groups_skipped_by_dictionary, 0) << text;
  }
  // Nulls are in no dictionary.
  request.filter = *Expression::Parse("v IS NULL");
  ASSERT_TRUE(one.Read(request).ok());
  EXPECT_EQ(one.counts().row_groups_skipped_by_dictionary, 0);
}

TEST(SelectionCounts, DictionariesThatPagesFallBackFromDecideNothing) {
  // More distinct texts than the dictionary takes: the later pages are PLAIN.
  const auto text = Column<arrow::StringBuilder>(
      arrow::utf8(), [](int64_t i) { return std::optional<std::string>(fmt::format("{:0200}", i)); }, 20000);
  const auto table = arrow::Table::Make(arrow::schema({arrow::field("t", arrow::utf8())}), {text});
  SelectionCase one(WriteIndexed(*table, {.row_group_rows = 20000, .page_rows = 1000, .dictionary = true}),
                    Only(&ParquetSelectionOptions::dictionaries));
  ParquetReadRequest request;
  request.leaves = one.AllLeaves();
  request.filter = *Expression::Parse(fmt::format("t = '{:0200}'", 19990));
  ASSERT_TRUE(one.Read(request).ok());
  EXPECT_EQ(one.positions, (std::vector<int64_t>{19990}));
  EXPECT_EQ(one.counts().row_groups_skipped_by_dictionary, 0);
}

TEST(SelectionCounts, MaterializationFollowsWhatPasses) {
  const auto bytes = WriteIndexed(*MixedTable());
  SelectionCase one(bytes, Only(&ParquetSelectionOptions::late_materialization), 1000);
  ParquetReadRequest request;
  request.leaves = one.Leaves({"t", "list"});
  const auto read = [&](const std::string& text) {
    request.filter = *Expression::Parse(text);
    EXPECT_TRUE(one.Read(request).ok());
    return one.counts();
  };
  auto counts = read("id BETWEEN 4100 AND 4300");
  EXPECT_EQ(counts.batches_empty, 4);
  EXPECT_EQ(counts.batches_by_rows, 1);
  EXPECT_EQ(counts.batches_by_mask, 0);
  EXPECT_EQ(counts.rows_tested, kRows);
  counts = read("v > 0");  // two of five rows, one by one
  EXPECT_EQ(counts.batches_by_mask, 5);
  counts = read("v = 0");  // one of a thousand
  EXPECT_EQ(counts.batches_by_mask, 0);
  EXPECT_GT(counts.batches_by_rows, 0);
}

}  // namespace
}  // namespace calve::parquet
