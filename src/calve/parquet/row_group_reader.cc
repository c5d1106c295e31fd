#include "calve/parquet/row_group_reader.h"

#include "calve/parquet/array_assembly.h"
#include "calve/parquet/output_form.h"

#include "calve/base/status.h"

#include <arrow/record_batch.h>

#include <algorithm>

namespace calve::parquet {
namespace {

/// How much of each column to read at a time: less than when all rows are wanted, and all of them together hold no more
/// than kAllWindows, unless there are very many.
int64_t WindowBytes(size_t columns) {
  constexpr int64_t kAllWindows = int64_t{64} << 20, kSmallest = 64 << 10, kLargest = 256 << 10;
  return std::clamp(kAllWindows / static_cast<int64_t>(std::max<size_t>(columns, 1)), kSmallest, kLargest);
}

}  // namespace

Result<std::unique_ptr<RowGroupReader>> RowGroupReader::Make(const OpenFile& file, const Selection& selection,
                                                             std::vector<PlannedChunk> chunks,
                                                             const PageOptions& options, const BatchLimits& limits,
                                                             arrow::MemoryPool* pool) {
  std::unique_ptr<RowGroupReader> reader(new RowGroupReader(selection, pool));
  const int64_t window_bytes = WindowBytes(chunks.size());
  for (PlannedChunk& chunk : chunks) {
    const ChunkPlan& plan = chunk.plan;
    const LeafColumn& leaf = selection.schema.leaves[static_cast<size_t>(plan.leaf_index)];
    ChunkBytes bytes(file.file.get(), plan.offset, plan.size_bytes, window_bytes, options.buffers, options.counters);
    auto column = std::make_unique<ColumnReader>(leaf, PageReader(std::move(bytes), plan, options), limits, pool);
    ARROW_RETURN_NOT_OK(column->Init());
    const bool binary = column->is_binary();
    reader->columns_.push_back(
        {RowCursor(std::move(column), std::move(chunk.rows)), plan.leaf_index, plan.row_group, binary});
  }
  return reader;
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupReader::Read(const RowRanges& wanted) {
  ARROW_ASSIGN_OR_RAISE(const int64_t rows, FillColumns(wanted));
  return Assemble(rows);
}

Result<int64_t> RowGroupReader::FillColumns(const RowRanges& wanted) {
  int64_t rows = wanted.count();
  // A column of byte arrays may end a batch early; asked first, it spares the others decoding rows that do not fit.
  for (const bool binary : {true, false}) {
    for (Column& column : columns_) {
      if (column.binary != binary) continue;
      auto filled = column.cursor.Fill(wanted, rows);
      if (!filled.ok()) return InColumn(filled.status(), column);
      rows = *filled;
    }
  }
  return rows;
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupReader::Assemble(int64_t rows) {
  const int first_leaf = columns_.front().leaf_index;
  std::vector<LeafBatch> batches(static_cast<size_t>(columns_.back().leaf_index - first_leaf + 1));
  for (Column& column : columns_) {
    ARROW_ASSIGN_OR_RAISE(batches[static_cast<size_t>(column.leaf_index - first_leaf)], column.cursor.Take(rows));
  }
  std::vector<std::shared_ptr<arrow::ArrayData>> arrays;
  for (const ArrowNode& field : selection_.schema.fields) {
    auto array = AssembleField(selection_.schema, field, first_leaf, &batches, pool_);
    if (!array.ok()) return WithContext(array.status(), fmt::format("row group {}", columns_.front().row_group));
    if ((*array)->length != rows) {
      return Invalid("row group {}: field '{}' has {} rows where there are {}", columns_.front().row_group,
                     field.field->name(), (*array)->length, rows);
    }
    array = FinishField(field, array.MoveValueUnsafe(), pool_);
    if (!array.ok()) return WithContext(array.status(), fmt::format("row group {}", columns_.front().row_group));
    arrays.push_back(array.MoveValueUnsafe());
  }
  return arrow::RecordBatch::Make(selection_.schema.arrow_schema, rows, std::move(arrays));
}

Status RowGroupReader::InColumn(const Status& status, const Column& column) const {
  return WithContext(status, fmt::format("column '{}': row group {}",
                                         selection_.schema.leaves[static_cast<size_t>(column.leaf_index)].dotted_path(),
                                         column.row_group));
}

}  // namespace calve::parquet
