#pragma once

#include "calve/parquet/filtered_group.h"
#include "calve/parquet/open_file.h"

#include <deque>
#include <memory>
#include <vector>

namespace calve::parquet {

/// Reads the rows of a file that are asked for and pass a filter.
///
/// Row groups and pages that hold no such row are left out, by what ParquetSelectionOptions allows. Of the rest, the
/// columns that the filter tests are decoded batch by batch; the others follow as ChooseMaterialization says. Batches
/// do not go over the end of a row group, and are the same for any number of threads.
class FilteredReader : public ParquetBatchReader {
 public:
  /// `file` outlives the reader.
  static Result<std::unique_ptr<FilteredReader>> Make(const OpenFile& file, const ParquetReadRequest& request,
                                                      const BatchLimits& limits = {});

  const std::shared_ptr<arrow::Schema>& schema() const override { return setup_.split.output.schema.arrow_schema; }
  Result<std::shared_ptr<arrow::RecordBatch>> Next() override;
  int64_t first_row() const override { return rows_.begin(); }
  std::vector<RowRange> rows() const override { return rows_.ranges(); }
  ParquetReadMetrics metrics() const override;

 private:
  FilteredReader(const OpenFile& file, Predicate predicate, FieldSplit split, const BatchLimits& limits,
                 expr::NodePtr node);
  Status Plan(const ParquetReadRequest& request);
  Result<std::shared_ptr<arrow::RecordBatch>> ReadBatch();
  void OpenGroups();
  void CloseGroup();

  const OpenFile& file_;
  const ReadMemory memory_;
  ReadCounters counters_;
  SelectionCounter selection_counter_;
  FilterSetup setup_;
  const size_t most_open_groups_;
  std::vector<FilteredGroup::Rows> groups_;
  size_t group_ = 0;                                            ///< the current one
  size_t opened_ = 0;                                           ///< the first that is not open
  std::deque<std::shared_ptr<RowsOfBatches>> rows_of_batches_;  ///< of the open groups
  RowRanges rows_;                                              ///< of the last batch, in the file
  Status failure_;
  ReadAhead ahead_;  ///< the last: its threads use the others
};

}  // namespace calve::parquet
