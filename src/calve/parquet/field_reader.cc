#include "calve/parquet/field_reader.h"

#include <algorithm>
#include <utility>

namespace calve::parquet {

Result<std::unique_ptr<FieldReader>> FieldReader::Make(const ReadSetup& setup, const ArrowNode& node,
                                                       std::vector<PlannedChunk> chunks, int64_t first_row,
                                                       int64_t num_rows, const std::shared_ptr<RangeReader>& ranges) {
  ARROW_ASSIGN_OR_RAISE(FieldDecoder decoder, FieldDecoder::Make(setup, node, std::move(chunks), ranges));
  return std::unique_ptr<FieldReader>(new FieldReader(setup, std::move(decoder), first_row, num_rows));
}

Result<std::shared_ptr<arrow::ArrayData>> FieldReader::Next() {
  StageTimer timer(setup_.pages.counters == nullptr ? nullptr : &setup_.pages.counters->decode_ns);
  ARROW_ASSIGN_OR_RAISE(const int64_t rows, decoder_.FillNext(std::min(setup_.batch_rows, rows_left_)));
  ARROW_ASSIGN_OR_RAISE(auto array, decoder_.Take(rows, [this](int64_t slot) { return next_row_ + slot; }));
  next_row_ += rows;
  rows_left_ -= rows;
  if (rows_left_ == 0) ARROW_RETURN_NOT_OK(decoder_.CheckEnd());
  return array;
}

bool FieldReader::WorkAhead() {
  const auto& queues = decoder_.queues();
  return std::any_of(queues.begin(), queues.end(), [](const auto& queue) { return queue->WorkAhead(); });
}

bool FieldReader::wants_work() const {
  const auto& queues = decoder_.queues();
  return std::any_of(queues.begin(), queues.end(), [](const auto& queue) { return queue->wants_work(); });
}

}  // namespace calve::parquet
