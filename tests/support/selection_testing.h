#pragma once

#include "calve/expr/evaluate.h"
#include "calve/parquet/row_ranges.h"
#include "calve/parquet/schema.h"
#include "calve/parquet_reader.h"

#include "filter_testing.h"
#include "indexed_parquet.h"
#include "read_parquet.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/record_batch.h>
#include <arrow/util/float16.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

// Tables whose rows are selected, ways of selecting them, and the rows that are to come out.

namespace calve::testing {

/// Of MixedTable, and how it is written by default.
inline constexpr int64_t kRows = 5000, kGroupRows = 1000, kPageRows = 100;

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
inline std::shared_ptr<arrow::Table> MixedTable() {
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

inline ParquetSelectionOptions Only(bool ParquetSelectionOptions::* one) {
  ParquetSelectionOptions options{false, false, false, false, false};
  if (one != nullptr) options.*one = true;
  return options;
}

inline const std::vector<ParquetSelectionOptions>& Selections() {
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
inline std::shared_ptr<arrow::RecordBatch> AllRows(const std::shared_ptr<arrow::Buffer>& bytes) {
  auto table = ReadWithLibparquet(std::make_shared<arrow::io::BufferReader>(bytes)).ValueOrDie();
  return table->CombineChunksToBatch().ValueOrDie();
}

inline std::shared_ptr<arrow::BooleanArray> MaskOf(const std::string& filter, const arrow::RecordBatch& all) {
  const auto node = BoundFilter(filter, *all.schema()).ValueOrDie();
  return expr::Evaluate(node, all, arrow::default_memory_pool()).ValueOrDie();
}

inline std::vector<int64_t> PositionsOf(const arrow::BooleanArray& mask, const parquet::RowRanges& within) {
  std::vector<int64_t> rows;
  for (const RowRange& range : within.ranges()) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      if (mask.IsValid(i) && mask.Value(i)) rows.push_back(i);
    }
  }
  return rows;
}

/// The rows at `rows` of the columns of `schema`.
inline arrow::Result<std::shared_ptr<arrow::Table>> TakeRows(const arrow::RecordBatch& all,
                                                             const std::vector<int64_t>& rows,
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

inline void ExpectRows(SelectionCase* one, const ParquetReadRequest& request, const arrow::RecordBatch& all,
                       const std::vector<int64_t>& expected) {
  const auto got = one->Read(request);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(one->positions, expected);
  ExpectSameTable(got, TakeRows(all, expected, *(*got)->schema()));
}

}  // namespace calve::testing
