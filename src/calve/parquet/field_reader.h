#pragma once

#include "calve/parquet/field_decoder.h"
#include "calve/parquet/read_ahead.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace calve::parquet {

/// Decodes all rows of one top-level field of one row group, piece by piece.
///
/// How long a piece is follows from the field alone, so it does not matter when, and by which thread, it is decoded.
class FieldReader : public ArrayStream {
 public:
  /// `first_row` is the row group's in the file, `num_rows` the row group's, not 0. `chunks` and `ranges` as for
  /// FieldDecoder.
  static Result<std::unique_ptr<FieldReader>> Make(const ReadSetup& setup, const ArrowNode& node,
                                                   std::vector<PlannedChunk> chunks, int64_t first_row,
                                                   int64_t num_rows, const std::shared_ptr<RangeReader>& ranges);

  /// The next rows: as many as a batch has, or fewer where a limit ends it. With the last of them the chunks must be at
  /// their ends.
  Result<std::shared_ptr<arrow::ArrayData>> Next() override;
  bool at_end() const override { return rows_left_ == 0; }
  bool WorkAhead() override;
  bool wants_work() const override;

 private:
  FieldReader(const ReadSetup& setup, FieldDecoder decoder, int64_t first_row, int64_t num_rows)
      : setup_(setup), decoder_(std::move(decoder)), next_row_(first_row), rows_left_(num_rows) {}

  const ReadSetup& setup_;
  FieldDecoder decoder_;
  int64_t next_row_, rows_left_;
};

}  // namespace calve::parquet
