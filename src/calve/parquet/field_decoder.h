#pragma once

#include "calve/parquet/read_setup.h"
#include "calve/parquet/row_cursor.h"
#include "calve/parquet/row_ranges.h"

#include "calve/io/range_reader.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace calve::parquet {

/// A chunk to be read.
struct PlannedChunk {
  ChunkPlan plan;
  std::optional<RowRanges> rows;  ///< of the pages that the plan names, when it names pages
};

/// The row of the file that the i-th row of an array is.
using RowOf = std::function<int64_t(int64_t)>;

/// Decodes rows of one top-level field of one row group, front to back.
class FieldDecoder {
 public:
  /// `chunks` are those of the leaves under `node`, in file order. `ranges` may have some of their bytes (null: none).
  static Result<FieldDecoder> Make(const ReadSetup& setup, const ArrowNode& node, std::vector<PlannedChunk> chunks,
                                   const std::shared_ptr<RangeReader>& ranges);

  /// Whether what a row takes in memory is not known before it is decoded.
  bool is_binary() const { return columns_.at(fill_order_.front()).binary; }
  int row_group() const { return columns_.front().row_group; }
  const std::vector<std::shared_ptr<PageQueue>>& queues() const { return queues_; }

  /// Decodes until the next `rows` rows are held, or a limit is reached. Returns how many are held of them, at least
  /// one.
  Result<int64_t> FillNext(int64_t rows);
  /// The same of the rows `wanted`, the others skipped; see RowCursor.
  Result<int64_t> Fill(const RowRanges& wanted, int64_t rows);
  /// The array of the first `rows` of those held.
  Result<std::shared_ptr<arrow::ArrayData>> Take(int64_t rows, const RowOf& row_of);
  /// Invalid when the chunks have more rows than were taken.
  Status CheckEnd();

 private:
  struct Column {
    RowCursor cursor;
    int leaf_index = 0, row_group = 0;
    bool binary = false;
  };

  FieldDecoder(const ReadSetup& setup, const ArrowNode& node) : setup_(&setup), node_(&node) {}
  Status OpenColumn(PlannedChunk chunk, const std::shared_ptr<RangeReader>& ranges);
  template <typename FillColumn>
  Result<int64_t> FillColumns(int64_t rows, FillColumn&& fill);
  std::string Where(const Column& column) const;

  const ReadSetup* setup_;
  const ArrowNode* node_;
  std::vector<Column> columns_;
  std::vector<size_t> fill_order_;                  ///< of the columns: byte arrays first
  std::vector<std::shared_ptr<PageQueue>> queues_;  ///< parallel to columns_
  std::vector<LeafBatch> batches_;                  ///< of what is taken
};

}  // namespace calve::parquet
