#pragma once

#include "calve/parquet/column_reader.h"
#include "calve/parquet/open_file.h"
#include "calve/parquet/page.h"
#include "calve/parquet/read_ahead.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace calve::parquet {

/// How a batch reader reads its columns, and what they share. Outlives its field readers.
struct ReadSetup {
  const OpenFile* file = nullptr;
  const FileSchema* schema = nullptr;  ///< of what is read: chunks and nodes name its leaves
  arrow::MemoryPool* pool = nullptr;
  BatchLimits limits;
  PageOptions pages;
  int64_t batch_rows = 0;
  int64_t window_bytes = 0;  ///< how much of each column to read at a time
};

/// Decodes one top-level field of one row group, piece by piece.
///
/// How long a piece is follows from the field alone, so it does not matter when, and by which thread, it is decoded.
class FieldReader : public ArrayStream {
 public:
  /// `chunks` are those of the leaves under `node`, in file order; `num_rows` the row group's, not 0. `ranges` may have
  /// some of the chunks' bytes (null: none).
  static Result<std::unique_ptr<FieldReader>> Make(const ReadSetup& setup, const ArrowNode& node,
                                                   std::vector<ChunkPlan> chunks, int64_t num_rows,
                                                   const std::shared_ptr<RangeReader>& ranges);

  /// The next rows: as many as a batch has, or fewer where a limit ends it. With the last of them the chunks must be at
  /// their ends.
  Result<std::shared_ptr<arrow::ArrayData>> Next() override;
  bool at_end() const override { return rows_left_ == 0; }
  bool WorkAhead() override;
  bool wants_work() const override;

 private:
  FieldReader(const ReadSetup& setup, const ArrowNode& node, std::vector<ChunkPlan> chunks, int64_t num_rows)
      : setup_(setup), node_(node), chunks_(std::move(chunks)), rows_left_(num_rows) {}
  Status OpenColumns(const std::shared_ptr<RangeReader>& ranges);
  Result<int64_t> Fill(int64_t rows);
  Result<std::shared_ptr<arrow::ArrayData>> Assemble(int64_t rows);
  /// The position in the file of the first row that is not yet returned.
  int64_t NextRow() const;
  Status CheckEnd();
  std::string Where(size_t column) const;

  const ReadSetup& setup_;
  const ArrowNode& node_;
  std::vector<ChunkPlan> chunks_;
  int64_t rows_left_;
  std::vector<std::unique_ptr<ColumnReader>> columns_;  ///< parallel to chunks_
  std::vector<LeafBatch> batches_;                      ///< of the piece that is assembled
  std::vector<size_t> fill_order_;                      ///< of the columns: byte arrays first
  std::vector<std::shared_ptr<PageQueue>> queues_;      ///< parallel to chunks_
};

}  // namespace calve::parquet
