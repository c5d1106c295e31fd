#pragma once

#include "calve/base/operation_pool.h"
#include "calve/parquet/field_split.h"
#include "calve/parquet/open_file.h"
#include "calve/parquet/predicate.h"
#include "calve/parquet/row_group_reader.h"
#include "calve/parquet/row_ranges.h"
#include "calve/parquet/rows_collector.h"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace calve::parquet {

class PageIndexes;

/// Reads the rows of a file that are asked for and pass a filter.
///
/// Row groups and pages that hold no such row are left out, by what ParquetSelectionOptions allows. Of the rest, the
/// columns that the filter tests are decoded batch by batch; the others follow as ChooseMaterialization says.
class FilteredReader : public ParquetBatchReader {
 public:
  /// `file` outlives the reader.
  static Result<std::unique_ptr<FilteredReader>> Make(const OpenFile& file, const ParquetReadRequest& request,
                                                      const BatchLimits& limits = {});

  const std::shared_ptr<arrow::Schema>& schema() const override { return split_.output.schema.arrow_schema; }
  Result<std::shared_ptr<arrow::RecordBatch>> Next() override;
  int64_t first_row() const override { return rows_.begin(); }
  std::vector<RowRange> rows() const override { return rows_.ranges(); }
  ParquetReadMetrics metrics() const override;

 private:
  struct Group {
    int index = 0;
    int64_t first_row = 0, num_rows = 0;
  };

  FilteredReader(const OpenFile& file, Predicate predicate, FieldSplit split, const BatchLimits& limits);
  Status Plan(const ParquetReadRequest& request);
  Result<std::shared_ptr<arrow::RecordBatch>> ReadBatch();
  /// Goes on to the next row group with rows to read; false when there is none.
  Result<bool> OpenGroup();
  /// The rows of the group to read or test, counted from its first.
  Result<RowRanges> SelectRows(const Group& group, PageIndexes* indexes);
  Result<std::vector<PlannedChunk>> PlanChunks(const Selection& selection, const Group& group, PageIndexes* indexes);
  Result<std::unique_ptr<RowGroupReader>> OpenReader(const Selection& selection, const Group& group,
                                                     PageIndexes* indexes);
  /// Reads some of rows_left_ and collects those that pass.
  Status ReadSome();
  Status ReadTested();
  Status ReadRest(const RowRanges& rows, const std::shared_ptr<arrow::RecordBatch>& tested);
  Status ReadRestByMask(const RowRanges& rows, const std::shared_ptr<arrow::RecordBatch>& tested,
                        const std::shared_ptr<arrow::BooleanArray>& mask);
  template <typename Change>
  void Count(Change&& change);

  const OpenFile& file_;
  const std::shared_ptr<OperationPool> budget_pool_;  ///< of the context's budget; null: it has none
  arrow::MemoryPool* const pool_;
  const Predicate predicate_;
  const FieldSplit split_;
  const expr::NodePtr node_;  ///< for batches of the tested columns
  const BatchLimits limits_;
  std::optional<RowRanges> asked_;  ///< of the file
  std::vector<Group> groups_;
  size_t next_group_ = 0;

  // The current row group.
  int64_t group_first_row_ = 0;
  RowRanges rows_left_;
  std::unique_ptr<RowGroupReader> tested_, rest_;  ///< null: nothing is read of these
  RowsCollector collector_;

  RowRanges rows_;  ///< of the last batch, in the file
  ReadCounters counters_;
  PageOptions page_options_;
  mutable std::mutex mutex_;  ///< of selection_counts_
  ParquetSelectionCounts selection_counts_;
  Status failure_;
};

}  // namespace calve::parquet
