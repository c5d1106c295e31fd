#include "calve/parquet/batch_reader.h"

#include "calve/array/array_data.h"
#include "calve/base/context.h"
#include "calve/base/status.h"

#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <limits>

namespace calve::parquet {
namespace {

/// A row group that says to have no rows has no values.
Status CheckEmpty(const Footer& footer, const Selection& selection, int row_group) {
  for (size_t leaf = 0; leaf < selection.leaves.size(); ++leaf) {
    ARROW_ASSIGN_OR_RAISE(const ColumnChunk chunk, footer.Chunk(row_group, selection.leaves[leaf]));
    if (!chunk.metadata || chunk.metadata->num_values == 0) continue;
    return Invalid("column '{}': row group {}: the column chunk has {} values, the row group no rows",
                   selection.schema.leaves[leaf].dotted_path(), row_group, chunk.metadata->num_values);
  }
  return Status::OK();
}

}  // namespace

BatchReader::BatchReader(const OpenFile& file, Selection selection, const BatchLimits& limits)
    : file_(file),
      selection_(std::move(selection)),
      memory_(file.context),
      setup_(SetupOf(file, selection_.schema, limits, memory_.buffers.get(), &counters_)),
      most_open_groups_(MostOpenGroups(file.context, selection_.schema.fields.size())),
      most_open_bytes_(MostOpenBytes(file.context)),
      pieces_(selection_.schema.fields.size()),
      ahead_(file.context, AheadBytes(file.context), &counters_) {
  counters_.footer_cache_hits = file.footer_cache_hits;
}

Result<std::unique_ptr<BatchReader>> BatchReader::Make(const OpenFile& file, const std::vector<int>& leaves,
                                                       const std::vector<int>& row_groups, const BatchLimits& limits) {
  if (file.options.batch_rows < 1) return Invalid("batches of {} rows", file.options.batch_rows);
  ARROW_ASSIGN_OR_RAISE(Selection selection, file.footer->SelectLeaves(leaves));
  std::unique_ptr<BatchReader> reader(new BatchReader(file, std::move(selection), limits));
  ARROW_RETURN_NOT_OK(reader->Plan(row_groups));
  return reader;
}

Status BatchReader::Plan(const std::vector<int>& row_groups) {
  const Footer& footer = *file_.footer;
  for (size_t i = 0; i < row_groups.size(); ++i) {
    const int index = row_groups[i];
    if (index < 0 || index >= footer.num_row_groups() || (i > 0 && index <= row_groups[i - 1])) {
      return Invalid("row group {} out of order or range (the file has {})", index, footer.num_row_groups());
    }
    const FooterIndex::RowGroup& rows = footer.row_group(index);
    if (rows.num_rows == 0) {
      ARROW_RETURN_NOT_OK(CheckEmpty(footer, selection_, index));
      continue;
    }
    PlannedGroup group{index, rows.first_row, rows.num_rows, 0, {}};
    for (size_t leaf = 0; leaf < selection_.leaves.size(); ++leaf) {
      ARROW_ASSIGN_OR_RAISE(ChunkPlan chunk,
                            PlanChunk(footer, selection_.schema.leaves[leaf], selection_.leaves[leaf], index));
      chunk.leaf_index = static_cast<int>(leaf);
      group.weight_bytes += std::min(chunk.size_bytes, setup_.window_bytes) + chunk.opened_bytes;
      group.chunks.push_back({std::move(chunk), {}});
    }
    groups_.push_back(std::move(group));
  }
  return Status::OK();
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
  if (group_ == groups_.size()) return std::shared_ptr<arrow::RecordBatch>();
  ARROW_RETURN_NOT_OK(OpenGroups());
  ARROW_ASSIGN_OR_RAISE(const int64_t rows, FillPieces());
  std::vector<std::shared_ptr<arrow::ArrayData>> arrays;
  arrays.reserve(pieces_.size());
  for (Piece& piece : pieces_) arrays.push_back(TakeRows(rows, &piece));
  const PlannedGroup& group = groups_[group_];
  first_row_ = group.first_row + group_row_;
  last_rows_ = rows;
  group_row_ += rows;
  counters_.rows += rows;
  if (group_row_ == group.num_rows) CloseGroup();
  return arrow::RecordBatch::Make(selection_.schema.arrow_schema, rows, std::move(arrays));
}

Status BatchReader::OpenGroups() {
  while (opened_ < groups_.size() && HasRoomFor(groups_[opened_])) {
    ARROW_RETURN_NOT_OK(OpenGroup(groups_[opened_]));
    open_bytes_ += groups_[opened_++].weight_bytes;
  }
  return Status::OK();
}

bool BatchReader::HasRoomFor(const PlannedGroup& group) const {
  if (opened_ == group_) return true;
  return opened_ - group_ < most_open_groups_ && group.weight_bytes <= most_open_bytes_ - open_bytes_;
}

Status BatchReader::OpenGroup(const PlannedGroup& group) {
  ARROW_ASSIGN_OR_RAISE(const auto ranges, MergeSmallChunks(group.chunks));
  std::vector<std::unique_ptr<ArrayStream>> streams;
  auto chunk = group.chunks.begin();
  for (const ArrowNode& node : selection_.schema.fields) {
    const auto end = chunk + static_cast<std::ptrdiff_t>(CountLeaves(node));
    ARROW_ASSIGN_OR_RAISE(auto field,
                          FieldReader::Make(setup_, node, {chunk, end}, group.first_row, group.num_rows, ranges));
    streams.push_back(std::move(field));
    chunk = end;
  }
  ahead_.AddGroup(std::move(streams));
  return Status::OK();
}

/// Chunks that are read in one go anyway are read together with those beside them.
Result<std::shared_ptr<RangeReader>> BatchReader::MergeSmallChunks(const std::vector<PlannedChunk>& chunks) const {
  constexpr int64_t kLargestRead = 8 << 20;
  if (file_.file->supports_zero_copy()) return nullptr;
  std::vector<ByteRange> small;
  for (const auto& [plan, rows] : chunks) {
    if (plan.size_bytes <= setup_.window_bytes) small.push_back({plan.offset, plan.size_bytes});
  }
  const ReadCost cost{file_.options.read_latency_us, file_.options.read_bytes_per_second};
  ARROW_ASSIGN_OR_RAISE(const auto reads, Coalesce(std::move(small), GapBytes(cost), kLargestRead));
  return std::make_shared<RangeReader>(file_.file.get(), reads, setup_.pool);
}

Result<int64_t> BatchReader::FillPieces() {
  int64_t rows = groups_[group_].num_rows - group_row_;
  if (pieces_.empty()) return std::min(rows, file_.options.batch_rows);
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].rows_left() == 0) {
      ARROW_ASSIGN_OR_RAISE(pieces_[i].array, ahead_.Take(i));
      pieces_[i].used_rows = 0;
    }
    rows = std::min(rows, pieces_[i].rows_left());
  }
  return rows;
}

std::shared_ptr<arrow::ArrayData> BatchReader::TakeRows(int64_t rows, Piece* piece) {
  const int64_t begin = piece->used_rows;
  piece->used_rows += rows;
  if (begin == 0 && piece->rows_left() == 0) return std::exchange(piece->array, nullptr);
  auto part = SliceArrayData(*piece->array, begin, rows);
  if (piece->rows_left() == 0) *piece = {};
  return part;
}

void BatchReader::CloseGroup() {
  ahead_.RemoveGroup();
  open_bytes_ -= groups_[group_].weight_bytes;
  ++counters_.row_groups_read;
  ++group_;
  group_row_ = 0;
}

}  // namespace calve::parquet
