#include "calve/parquet/field_reader.h"

#include "calve/parquet/array_assembly.h"
#include "calve/parquet/output_form.h"
#include "calve/parquet/text_check.h"

#include "calve/base/status.h"

#include <algorithm>

namespace calve::parquet {

Result<std::unique_ptr<FieldReader>> FieldReader::Make(const ReadSetup& setup, const ArrowNode& node,
                                                       std::vector<ChunkPlan> chunks, int64_t num_rows,
                                                       const std::shared_ptr<RangeReader>& ranges) {
  std::unique_ptr<FieldReader> reader(new FieldReader(setup, node, std::move(chunks), num_rows));
  ARROW_RETURN_NOT_OK(reader->OpenColumns(ranges));
  return reader;
}

Status FieldReader::OpenColumns(const std::shared_ptr<RangeReader>& ranges) {
  for (const ChunkPlan& chunk : chunks_) {
    ChunkBytes bytes(setup_.file->file.get(), chunk.offset, chunk.size_bytes, setup_.window_bytes, setup_.pages.buffers,
                     setup_.pages.counters);
    bytes.ReadThrough(ranges);
    PageReader pages(std::move(bytes), chunk, setup_.pages);
    queues_.push_back(pages.queue());
    columns_.push_back(std::make_unique<ColumnReader>(setup_.schema->leaves[chunk.leaf_index], std::move(pages),
                                                      setup_.limits, setup_.pool));
    ARROW_RETURN_NOT_OK(columns_.back()->Init());
  }
  // A column of byte arrays may end a piece early; asked first, it spares the others decoding rows that do not fit.
  for (bool binary : {true, false}) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i]->is_binary() == binary) fill_order_.push_back(i);
    }
  }
  return Status::OK();
}

Result<std::shared_ptr<arrow::ArrayData>> FieldReader::Next() {
  StageTimer timer(setup_.pages.counters == nullptr ? nullptr : &setup_.pages.counters->decode_ns);
  ARROW_ASSIGN_OR_RAISE(const int64_t rows, Fill(std::min(setup_.batch_rows, rows_left_)));
  ARROW_ASSIGN_OR_RAISE(auto array, Assemble(rows));
  rows_left_ -= rows;
  if (rows_left_ == 0) ARROW_RETURN_NOT_OK(CheckEnd());
  return array;
}

Result<int64_t> FieldReader::Fill(int64_t rows) {
  for (size_t i : fill_order_) {
    auto filled = columns_[i]->Fill(rows);
    if (!filled.ok()) return WithContext(filled.status(), Where(i));
    rows = *filled;
  }
  return rows;
}

Result<std::shared_ptr<arrow::ArrayData>> FieldReader::Assemble(int64_t rows) {
  const int first_leaf = chunks_.front().leaf_index;
  batches_.resize(static_cast<size_t>(chunks_.back().leaf_index - first_leaf + 1));
  for (size_t i = 0; i < columns_.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(batches_[chunks_[i].leaf_index - first_leaf], columns_[i]->Take(rows));
  }
  const std::string where = fmt::format("row group {}", chunks_[0].row_group);
  auto array = AssembleField(*setup_.schema, node_, first_leaf, &batches_, setup_.pool);
  batches_.clear();
  if (!array.ok()) return WithContext(array.status(), where);
  if ((*array)->length != rows) {
    return Invalid("{}: field '{}' has {} rows where there are {}", where, node_.field->name(), (*array)->length, rows);
  }
  if (setup_.file->options.invalid_utf8 == InvalidUtf8::kError) {
    ARROW_RETURN_NOT_OK(WithContext(CheckText(node_, **array, NextRow()), where));
  }
  return WithContext(FinishField(node_, array.MoveValueUnsafe(), setup_.pool), where);
}

int64_t FieldReader::NextRow() const {
  const auto& group = setup_.file->footer->row_group(chunks_[0].row_group);
  return group.first_row + group.num_rows - rows_left_;
}

Status FieldReader::CheckEnd() {
  for (size_t i = 0; i < columns_.size(); ++i) ARROW_RETURN_NOT_OK(WithContext(columns_[i]->CheckEnd(), Where(i)));
  return Status::OK();
}

bool FieldReader::WorkAhead() {
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& queue) { return queue->WorkAhead(); });
}

bool FieldReader::wants_work() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& queue) { return queue->wants_work(); });
}

std::string FieldReader::Where(size_t column) const {
  return fmt::format("column '{}': row group {}", setup_.schema->leaves[chunks_[column].leaf_index].dotted_path(),
                     chunks_[column].row_group);
}

}  // namespace calve::parquet
