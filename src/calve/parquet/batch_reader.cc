#include "calve/parquet/batch_reader.h"

#include "calve/parquet/array_assembly.h"

#include "calve/base/context.h"
#include "calve/base/status.h"

#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

namespace calve::parquet {
namespace {

/// How much of each column to read at a time: all of them together hold no more than kAllWindows, unless there are very
/// many.
int64_t WindowBytes(size_t columns) {
  constexpr int64_t kAllWindows = int64_t{64} << 20, kSmallest = 64 << 10, kLargest = 1 << 20;
  return std::clamp(kAllWindows / static_cast<int64_t>(std::max<size_t>(columns, 1)), kSmallest, kLargest);
}

}  // namespace

BatchReader::BatchReader(const OpenFile& file, Selection selection, const BatchLimits& limits)
    : file_(file), selection_(std::move(selection)), limits_(limits) {
  counters_.footer_cache_hits = file.footer_cache_hits;
  page_options_.verify_crc = file.options.verify_crc;
  page_options_.buffers = PageBuffers::Make(PoolOf(file.context));
  page_options_.counters = &counters_;
  // A column of byte arrays may end a batch early; asked first, it spares the others decoding rows that do not fit.
  for (bool binary : {true, false}) {
    for (size_t i = 0; i < selection_.leaves.size(); ++i) {
      const LeafColumn& leaf = file.schema.leaves[selection_.leaves[i]];
      if ((leaf.element.type == PhysicalType::kByteArray) == binary) fill_order_.push_back(i);
    }
  }
}

Result<std::unique_ptr<BatchReader>> BatchReader::Make(const OpenFile& file, const std::vector<int>& leaves,
                                                       const std::vector<int>& row_groups, const BatchLimits& limits) {
  if (file.options.batch_rows < 1) return Invalid("batches of {} rows", file.options.batch_rows);
  ARROW_ASSIGN_OR_RAISE(Selection selection, Select(file.schema, leaves));
  for (int leaf : selection.leaves) ARROW_RETURN_NOT_OK(CheckLeafSupported(file.metadata, file.schema, leaf));
  std::unique_ptr<BatchReader> reader(new BatchReader(file, std::move(selection), limits));
  ARROW_RETURN_NOT_OK(reader->Plan(row_groups));
  return reader;
}

Status BatchReader::Plan(const std::vector<int>& row_groups) {
  const auto& all = file_.metadata.row_groups;
  int64_t first_row = 0;
  size_t next = 0;
  for (size_t i = 0; i < all.size() && next < row_groups.size(); first_row += all[i].num_rows, ++i) {
    if (row_groups[next] != static_cast<int>(i)) continue;
    ++next;
    if (all[i].num_rows == 0) continue;
    PlannedGroup group{static_cast<int>(i), first_row, all[i].num_rows, {}};
    for (int leaf : selection_.leaves) {
      ARROW_ASSIGN_OR_RAISE(ChunkPlan chunk,
                            PlanChunk(file_.metadata, file_.schema, group.index, leaf, file_.data_end));
      group.chunks.push_back(chunk);
    }
    groups_.push_back(std::move(group));
  }
  if (next == row_groups.size()) return Status::OK();
  return Invalid("row group {} out of order or range (the file has {})", row_groups[next], all.size());
}

Result<std::shared_ptr<arrow::RecordBatch>> BatchReader::Next() {
  if (!failure_.ok()) return failure_;
  auto batch = ReadBatch();
  if (!batch.ok()) failure_ = WithContext(batch.status(), file_.name);
  if (!failure_.ok()) return failure_;
  return batch;
}

Result<std::shared_ptr<arrow::RecordBatch>> BatchReader::ReadBatch() {
  ARROW_RETURN_NOT_OK(CheckStop(file_.context));
  StageTimer timer(&counters_.decode_ns);
  if (group_ == groups_.size()) return std::shared_ptr<arrow::RecordBatch>();
  const PlannedGroup& group = groups_[group_];
  if (group_row_ == 0) ARROW_RETURN_NOT_OK(OpenGroup());
  int64_t rows = std::min(file_.options.batch_rows, group.num_rows - group_row_);
  ARROW_ASSIGN_OR_RAISE(rows, FillColumns(rows));
  std::vector<LeafBatch> batches(file_.schema.leaves.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(batches[selection_.leaves[i]], columns_[i]->Take(rows));
  }
  std::vector<std::shared_ptr<arrow::ArrayData>> arrays;
  for (const ArrowNode& field : selection_.fields) {
    auto array = AssembleField(file_.schema, field, &batches, PoolOf(file_.context));
    if (!array.ok()) return WithContext(array.status(), fmt::format("row group {}", group.index));
    if ((*array)->length != rows) {
      return Invalid("row group {}: field '{}' has {} rows where there are {}", group.index, field.field->name(),
                     (*array)->length, rows);
    }
    arrays.push_back(array.MoveValueUnsafe());
  }
  first_row_ = group.first_row + group_row_;
  last_rows_ = rows;
  group_row_ += rows;
  counters_.rows += rows;
  if (group_row_ == group.num_rows) ARROW_RETURN_NOT_OK(CloseGroup());
  return arrow::RecordBatch::Make(selection_.arrow_schema, rows, std::move(arrays));
}

Status BatchReader::OpenGroup() {
  columns_.clear();
  arrow::MemoryPool* pool = PoolOf(file_.context);
  for (const ChunkPlan& chunk : groups_[group_].chunks) {
    ChunkBytes bytes(file_.file.get(), chunk.offset, chunk.size_bytes, WindowBytes(selection_.leaves.size()),
                     page_options_.buffers, &counters_);
    PageReader pages(std::move(bytes), chunk, page_options_);
    columns_.push_back(
        std::make_unique<ColumnReader>(file_.schema.leaves[chunk.leaf_index], std::move(pages), limits_, pool));
    ARROW_RETURN_NOT_OK(columns_.back()->Init());
  }
  return Status::OK();
}

Status BatchReader::CloseGroup() {
  for (size_t i = 0; i < columns_.size(); ++i) ARROW_RETURN_NOT_OK(WithContext(columns_[i]->CheckEnd(), Where(i)));
  columns_.clear();
  ++counters_.row_groups_read;
  ++group_;
  group_row_ = 0;
  return Status::OK();
}

Result<int64_t> BatchReader::FillColumns(int64_t rows) {
  for (size_t i : fill_order_) {
    auto filled = columns_[i]->Fill(rows);
    if (!filled.ok()) return WithContext(filled.status(), Where(i));
    rows = *filled;
  }
  return rows;
}

std::string BatchReader::Where(size_t column) const {
  return fmt::format("column '{}': row group {}", file_.schema.leaves[selection_.leaves[column]].dotted_path(),
                     groups_[group_].index);
}

}  // namespace calve::parquet
