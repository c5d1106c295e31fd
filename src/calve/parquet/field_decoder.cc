#include "calve/parquet/field_decoder.h"

#include "calve/parquet/array_assembly.h"
#include "calve/parquet/output_form.h"
#include "calve/parquet/text_check.h"

#include "calve/base/status.h"

namespace calve::parquet {

Result<FieldDecoder> FieldDecoder::Make(const ReadSetup& setup, const ArrowNode& node, std::vector<PlannedChunk> chunks,
                                        const std::shared_ptr<RangeReader>& ranges) {
  FieldDecoder decoder(setup, node);
  for (PlannedChunk& chunk : chunks) ARROW_RETURN_NOT_OK(decoder.OpenColumn(std::move(chunk), ranges));
  // A column of byte arrays may end a batch early; asked first, it spares the others decoding rows that do not fit.
  for (const bool binary : {true, false}) {
    for (size_t i = 0; i < decoder.columns_.size(); ++i) {
      if (decoder.columns_[i].binary == binary) decoder.fill_order_.push_back(i);
    }
  }
  return decoder;
}

Status FieldDecoder::OpenColumn(PlannedChunk chunk, const std::shared_ptr<RangeReader>& ranges) {
  const ChunkPlan& plan = chunk.plan;
  ChunkBytes bytes(setup_->file->file.get(), plan.offset, plan.size_bytes, setup_->window_bytes, setup_->pages.pool,
                   setup_->pages.counters);
  bytes.ReadThrough(ranges);
  PageReader pages(std::move(bytes), plan, setup_->pages);
  queues_.push_back(pages.queue());
  const LeafColumn& leaf = setup_->schema->leaves[static_cast<size_t>(plan.leaf_index)];
  auto column = std::make_unique<ColumnReader>(leaf, std::move(pages), setup_->limits, setup_->pool);
  ARROW_RETURN_NOT_OK(column->Init());
  const bool binary = column->is_binary();
  columns_.push_back({RowCursor(std::move(column), std::move(chunk.rows)), plan.leaf_index, plan.row_group, binary});
  return Status::OK();
}

template <typename FillColumn>
Result<int64_t> FieldDecoder::FillColumns(int64_t rows, FillColumn&& fill) {
  for (const size_t i : fill_order_) {
    auto filled = fill(&columns_[i].cursor, rows);
    if (!filled.ok()) return WithContext(filled.status(), Where(columns_[i]));
    rows = *filled;
  }
  return rows;
}

Result<int64_t> FieldDecoder::FillNext(int64_t rows) {
  return FillColumns(rows, [](RowCursor* cursor, int64_t count) { return cursor->FillNext(count); });
}

Result<int64_t> FieldDecoder::Fill(const RowRanges& wanted, int64_t rows) {
  return FillColumns(rows, [&](RowCursor* cursor, int64_t count) { return cursor->Fill(wanted, count); });
}

Result<std::shared_ptr<arrow::ArrayData>> FieldDecoder::Take(int64_t rows, const RowOf& row_of) {
  const int first_leaf = columns_.front().leaf_index;
  const int leaves = columns_.back().leaf_index - first_leaf + 1;
  batches_.resize(static_cast<size_t>(leaves));
  for (Column& column : columns_) {
    ARROW_ASSIGN_OR_RAISE(batches_.at(static_cast<size_t>(column.leaf_index) - static_cast<size_t>(first_leaf)),
                          column.cursor.Take(rows));
  }
  const std::string where = fmt::format("row group {}", row_group());
  auto array = AssembleField(*setup_->schema, *node_, first_leaf, &batches_, setup_->pool);
  batches_.clear();
  if (!array.ok()) return WithContext(array.status(), where);
  if ((*array)->length != rows) {
    return Invalid("{}: field '{}' has {} rows where there are {}", where, node_->field->name(), (*array)->length,
                   rows);
  }
  if (setup_->file->options.invalid_utf8 == InvalidUtf8::kError) {
    ARROW_RETURN_NOT_OK(WithContext(CheckText(*node_, **array, row_of), where));
  }
  return WithContext(FinishField(*node_, array.MoveValueUnsafe(), setup_->pool), where);
}

Status FieldDecoder::CheckEnd() {
  for (Column& column : columns_) ARROW_RETURN_NOT_OK(WithContext(column.cursor.CheckEnd(), Where(column)));
  return Status::OK();
}

std::string FieldDecoder::Where(const Column& column) const {
  return fmt::format("column '{}': row group {}",
                     setup_->schema->leaves[static_cast<size_t>(column.leaf_index)].dotted_path(), column.row_group);
}

}  // namespace calve::parquet
