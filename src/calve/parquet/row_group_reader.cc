#include "calve/parquet/row_group_reader.h"

#include <arrow/record_batch.h>

namespace calve::parquet {

Result<std::unique_ptr<RowGroupReader>> RowGroupReader::Make(const ReadSetup& setup, const Selection& selection,
                                                             std::vector<PlannedChunk> chunks, int64_t first_row) {
  std::unique_ptr<RowGroupReader> reader(new RowGroupReader(selection, first_row));
  auto chunk = std::make_move_iterator(chunks.begin());
  for (const ArrowNode& field : selection.schema.fields) {
    const auto end = chunk + static_cast<std::ptrdiff_t>(CountLeaves(field));
    ARROW_ASSIGN_OR_RAISE(FieldDecoder decoder, FieldDecoder::Make(setup, field, {chunk, end}, nullptr));
    reader->fields_.push_back(std::move(decoder));
    chunk = end;
  }
  return reader;
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupReader::Read(const RowRanges& wanted) {
  ARROW_ASSIGN_OR_RAISE(const int64_t rows, FillFields(wanted));
  const RowOf row_of = [&](int64_t slot) { return first_row_ + wanted.Slice(slot, 1).begin(); };
  std::vector<std::shared_ptr<arrow::ArrayData>> arrays;
  for (FieldDecoder& field : fields_) {
    ARROW_ASSIGN_OR_RAISE(auto array, field.Take(rows, row_of));
    arrays.push_back(std::move(array));
  }
  return arrow::RecordBatch::Make(selection_.schema.arrow_schema, rows, std::move(arrays));
}

Result<int64_t> RowGroupReader::FillFields(const RowRanges& wanted) {
  int64_t rows = wanted.count();
  // As for the columns of a field.
  for (const bool binary : {true, false}) {
    for (FieldDecoder& field : fields_) {
      if (field.is_binary() != binary) continue;
      ARROW_ASSIGN_OR_RAISE(rows, field.Fill(wanted, rows));
    }
  }
  return rows;
}

std::vector<std::shared_ptr<PageQueue>> RowGroupReader::queues() const {
  std::vector<std::shared_ptr<PageQueue>> all;
  for (const FieldDecoder& field : fields_) all.insert(all.end(), field.queues().begin(), field.queues().end());
  return all;
}

}  // namespace calve::parquet
