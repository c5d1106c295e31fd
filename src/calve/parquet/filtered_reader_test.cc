#include "calve/parquet/filtered_reader.h"

#include "calve/expr/evaluate.h"
#include "calve/expression.h"

#include "filter_testing.h"
#include "indexed_parquet.h"
#include "read_parquet.h"
#include "test_data.h"

#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/util/float16.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <set>

// What comes out by every way of selection, against all rows (as libparquet reads them) and the filter; and how much
// was left out, against a count over the values.

namespace calve::parquet {
namespace {

using testing::IndexedFile;
using testing::WriteIndexed;

constexpr int64_t kRows = 5000, kGroupRows = 1000, kPageRows = 100;

template <typename Builder, typename Value>
std::shared_ptr<arrow::Array> Column(const std::shared_ptr<arrow::DataType>& type, Value&& value,
                                     int64_t rows = kRows) {
  Builder builder(type, arrow::default_memory_pool());
  for (int64_t i = 0; i < rows; ++i) {
    const auto v = value(i);
    EXPECT_TRUE((v ? builder.Append(*v) : builder.AppendNull()).ok());
  }
  return builder.Finish().ValueOrDie();
}

/// Columns that differ in how well statistics, pages, dictionaries and bloom filters fit them.
std::shared_ptr<arrow::Table> MixedTable() {
  std::mt19937_64 random(11);
  const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
  using Int64 = std::optional<int64_t>;
  const auto sorted = Column<arrow::Int64Builder>(arrow::int64(), [](int64_t i) { return Int64(i * 2); });
  const auto scattered = Column<arrow::Int32Builder>(arrow::int32(), [&](int64_t) {
    return chance(20) ? std::nullopt : std::optional<int32_t>(static_cast<int32_t>(random() % 1000) - 500);
  });
  const auto real = Column<arrow::DoubleBuilder>(arrow::float64(), [&](int64_t i) -> std::optional<double> {
    if (chance(10)) return std::nullopt;
    if (i / kPageRows % 7 == 3) return chance(50) ? std::nan("") : -0.0;
    return static_cast<double>(i) / 4;
  });
  const auto text = Column<arrow::StringBuilder>(arrow::utf8(), [&](int64_t i) -> std::optional<std::string> {
    if (chance(5)) return std::nullopt;
    return fmt::format("text {:04} {}", 7 * (random() % 40) + i / kGroupRows, std::string(random() % 30, 'x'));
  });
  const auto big = Column<arrow::UInt64Builder>(arrow::uint64(), [&](int64_t i) {
    return std::optional<uint64_t>((uint64_t{1} << 63) - 2000 + static_cast<uint64_t>(i));
  });
  const auto decimal = Column<arrow::Decimal128Builder>(arrow::decimal128(20, 2), [&](int64_t i) {
    return std::optional<arrow::Decimal128>(arrow::Decimal128(i * 37 % 901 - 300));
  });
  const auto group = Column<arrow::Int32Builder>(arrow::int32(), [&](int64_t i) {
    return std::optional<int32_t>(static_cast<int32_t>(3 * (random() % 5) + 100 * (i / kGroupRows)));
  });
  const auto half = Column<arrow::HalfFloatBuilder>(arrow::float16(), [&](int64_t i) {
    return std::optional<uint16_t>(arrow::util::Float16(static_cast<float>(i / kPageRows)).bits());
  });
  const auto stamp = Column<arrow::TimestampBuilder>(arrow::timestamp(arrow::TimeUnit::MICRO),
                                                     [](int64_t i) { return Int64(i / 3 * 1000); });
  const auto rare = Column<arrow::BooleanBuilder>(arrow::boolean(), [](int64_t i) -> std::optional<bool> {
    if (i >= 2000 && i < 2200) return std::nullopt;
    return i >= 3000 && i < 3003;
  });
  auto lists = arrow::ListBuilder(arrow::default_memory_pool(), std::make_shared<arrow::Int32Builder>());
  auto* elements = static_cast<arrow::Int32Builder*>(lists.value_builder());
  for (int64_t i = 0; i < kRows; ++i) {
    if (chance(10)) {
      EXPECT_TRUE(lists.AppendNull().ok());
      continue;
    }
    EXPECT_TRUE(lists.Append().ok());
    for (uint64_t n = random() % 5; n > 0; --n) EXPECT_TRUE(elements->Append(static_cast<int32_t>(i)).ok());
  }
  const auto list = lists.Finish().ValueOrDie();
  const auto validity =
      Column<arrow::BooleanBuilder>(arrow::boolean(), [&](int64_t) { return std::optional<bool>(!chance(15)); });
  const auto record =
      arrow::StructArray::Make({scattered, text}, {arrow::field("v", arrow::int32()), arrow::field("t", arrow::utf8())},
                               validity->data()->buffers[1])
          .ValueOrDie();
  arrow::FieldVector fields;
  const std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>> columns = {
      {"id", sorted}, {"v", scattered}, {"d", real},   {"t", text},    {"big", big},   {"dec", decimal},
      {"grp", group}, {"h", half},      {"ts", stamp}, {"rare", rare}, {"list", list}, {"rec", record}};
  arrow::ArrayVector arrays;
  for (const auto& [name, array] : columns) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(array);
  }
  return arrow::Table::Make(arrow::schema(fields), arrays);
}

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

ParquetSelectionOptions Only(bool ParquetSelectionOptions::* one) {
  ParquetSelectionOptions options{false, false, false, false, false};
  if (one != nullptr) options.*one = true;
  return options;
}

const std::vector<ParquetSelectionOptions>& Selections() {
  static const std::vector<ParquetSelectionOptions> selections = {{},
                                                                  Only(nullptr),
                                                                  Only(&ParquetSelectionOptions::statistics),
                                                                  Only(&ParquetSelectionOptions::bloom_filters),
                                                                  Only(&ParquetSelectionOptions::dictionaries),
                                                                  Only(&ParquetSelectionOptions::page_index),
                                                                  Only(&ParquetSelectionOptions::late_materialization)};
  return selections;
}

/// A file in memory, and how it is read.
class SelectionCase {
 public:
  SelectionCase(const std::shared_ptr<arrow::Buffer>& bytes, const ParquetSelectionOptions& selection,
                int64_t batch_rows = 700) {
    ParquetReadOptions options;
    options.selection = selection;
    options.batch_rows = batch_rows;
    source_ = std::make_shared<arrow::io::BufferReader>(bytes);
    reader = ParquetReader::Open(source_, "x.parquet", options).ValueOrDie();
  }

  std::vector<int> Leaves(const std::vector<std::string>& columns) const {
    std::vector<int> leaves;
    for (const auto& column : columns) {
      const auto found = reader->LeavesOf(column).ValueOrDie();
      leaves.insert(leaves.end(), found.begin(), found.end());
    }
    std::sort(leaves.begin(), leaves.end());
    return leaves;
  }
  std::vector<int> AllLeaves() const {
    std::vector<int> leaves(reader->file_schema().leaves.size());
    std::iota(leaves.begin(), leaves.end(), 0);
    return leaves;
  }

  /// Reads by `request`; positions and counts of what came are kept.
  arrow::Result<std::shared_ptr<arrow::Table>> Read(const ParquetReadRequest& request) {
    positions.clear();
    ARROW_ASSIGN_OR_RAISE(auto batches, reader->Read(request));
    std::vector<std::shared_ptr<arrow::RecordBatch>> all;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(auto batch, batches->Next());
      if (batch == nullptr) break;
      EXPECT_TRUE(batch->ValidateFull().ok()) << batch->ValidateFull();
      int64_t count = 0;
      for (const RowRange& range : batches->rows()) {
        for (int64_t row = range.begin; row < range.end; ++row) positions.push_back(row);
        count += range.count();
      }
      EXPECT_EQ(count, batch->num_rows());
      EXPECT_EQ(batches->first_row(), batches->rows().front().begin);
      all.push_back(std::move(batch));
    }
    metrics = batches->metrics();
    return arrow::Table::FromRecordBatches(batches->schema(), all);
  }

  std::shared_ptr<ParquetReader> reader;
  std::vector<int64_t> positions;
  ParquetReadMetrics metrics;
  const ParquetSelectionCounts& counts() const { return metrics.selection; }

 private:
  std::shared_ptr<arrow::io::RandomAccessFile> source_;
};

/// All rows as libparquet reads them, in one batch.
std::shared_ptr<arrow::RecordBatch> AllRows(const std::shared_ptr<arrow::Buffer>& bytes) {
  auto table = testing::ReadWithLibparquet(std::make_shared<arrow::io::BufferReader>(bytes)).ValueOrDie();
  return table->CombineChunksToBatch().ValueOrDie();
}

std::shared_ptr<arrow::BooleanArray> MaskOf(const std::string& filter, const arrow::RecordBatch& all) {
  const auto node = testing::BoundFilter(filter, *all.schema()).ValueOrDie();
  return expr::Evaluate(node, all, arrow::default_memory_pool()).ValueOrDie();
}

std::vector<int64_t> PositionsOf(const arrow::BooleanArray& mask, const RowRanges& within) {
  std::vector<int64_t> rows;
  for (const RowRange& range : within.ranges()) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      if (mask.IsValid(i) && mask.Value(i)) rows.push_back(i);
    }
  }
  return rows;
}

/// The rows at `rows` of the columns of `schema`.
arrow::Result<std::shared_ptr<arrow::Table>> TakeRows(const arrow::RecordBatch& all, const std::vector<int64_t>& rows,
                                                      const arrow::Schema& schema) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (const auto& field : schema.fields()) {
    fields.push_back(all.schema()->GetFieldByName(field->name()));
    columns.push_back(all.GetColumnByName(field->name()));
  }
  const auto chosen = arrow::RecordBatch::Make(arrow::schema(fields), all.num_rows(), columns);
  arrow::Int64Builder indices;
  ARROW_RETURN_NOT_OK(indices.AppendValues(rows));
  ARROW_ASSIGN_OR_RAISE(const auto positions, indices.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto taken, arrow::compute::Take(chosen, positions));
  return arrow::Table::FromRecordBatches(chosen->schema(), {taken.record_batch()});
}

void ExpectRows(SelectionCase* one, const ParquetReadRequest& request, const arrow::RecordBatch& all,
                const std::vector<int64_t>& expected) {
  const auto got = one->Read(request);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(one->positions, expected);
  testing::ExpectSameTable(got, TakeRows(all, expected, *(*got)->schema()));
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

// Counts, against the values. `id` is 2 * row, so its bounds are known of every page and row group.

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

// Faults that others had.

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
    testing::ExpectSameTable(arrow::Table::FromRecordBatches(batches->schema(), parts),
                             TakeRows(*all, expected, *batches->schema()));
  }
}

}  // namespace
}  // namespace calve::parquet
