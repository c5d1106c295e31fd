#pragma once

#include "calve/parquet/field_split.h"
#include "calve/parquet/predicate.h"
#include "calve/parquet/read_ahead.h"
#include "calve/parquet/row_group_reader.h"
#include "calve/parquet/row_ranges.h"
#include "calve/parquet/rows_collector.h"

#include "calve/expr/evaluate.h"

#include <arrow/type.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace calve::parquet {

class PageIndexes;

/// What the selection of a read has counted. Thread-safe.
class SelectionCounter {
 public:
  template <typename Change>
  void Count(Change&& change) {
    std::lock_guard<std::mutex> lock(mutex_);
    change(&counts_);
  }
  ParquetSelectionCounts Read() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return counts_;
  }

 private:
  mutable std::mutex mutex_;
  ParquetSelectionCounts counts_;
};

/// What the row groups of a filtered read share. Outlives them.
struct FilterSetup {
  FilterSetup(Predicate predicate_, FieldSplit split_, expr::NodePtr node_)
      : predicate(std::move(predicate_)),
        split(std::move(split_)),
        node(std::move(node_)),
        batch_type(arrow::struct_(split.output.schema.arrow_schema->fields())) {}

  const Predicate predicate;
  const FieldSplit split;
  const expr::NodePtr node;                           ///< for batches of the tested columns
  const std::shared_ptr<arrow::DataType> batch_type;  ///< of the groups' arrays
  ReadSetup tested, rest;                             ///< for the two parts of the split
  std::optional<RowRanges> asked;                     ///< of the file; none: all rows
  int64_t batch_bytes = 0;                            ///< after which a batch is returned
  ReadCounters* counters = nullptr;
  SelectionCounter* selection = nullptr;
};

/// Where in the file the rows of a group's batches are: added by the thread that makes a batch, taken by the one that
/// returns it.
class RowsOfBatches {
 public:
  void Add(RowRanges rows) {
    std::lock_guard<std::mutex> lock(mutex_);
    rows_.push_back(std::move(rows));
  }
  RowRanges Take() {
    std::lock_guard<std::mutex> lock(mutex_);
    RowRanges rows = std::move(rows_.front());
    rows_.pop_front();
    return rows;
  }

 private:
  std::mutex mutex_;
  std::deque<RowRanges> rows_;
};

/// Reads the rows of one row group that are asked for and pass the filter. Its arrays are structs of the output's
/// fields; one without rows says only that there are no more.
class FilteredGroup : public ArrayStream {
 public:
  struct Rows {
    int group = 0;
    int64_t first = 0, count = 0;  ///< in the file
  };

  FilteredGroup(const FilterSetup& setup, const Rows& group, std::shared_ptr<RowsOfBatches> rows);
  ~FilteredGroup() override;

  Result<std::shared_ptr<arrow::ArrayData>> Next() override;
  bool at_end() const override { return ended_; }
  bool WorkAhead() override;
  bool wants_work() const override;

 private:
  Status Open();
  /// The rows of the group to read or test, counted from its first.
  Result<RowRanges> SelectRows(PageIndexes* indexes);
  Result<std::vector<PlannedChunk>> PlanChunks(const Selection& selection, PageIndexes* indexes);
  Result<std::unique_ptr<RowGroupReader>> OpenReader(const ReadSetup& setup, const Selection& selection,
                                                     PageIndexes* indexes);
  /// Reads some of rows_left_ and collects those that pass.
  Status ReadSome();
  Status ReadTested();
  Status ReadRest(const RowRanges& rows, const std::shared_ptr<arrow::RecordBatch>& tested);
  Status ReadRestByMask(const RowRanges& rows, const std::shared_ptr<arrow::RecordBatch>& tested,
                        const std::shared_ptr<arrow::BooleanArray>& mask);
  std::vector<std::shared_ptr<PageQueue>> queues() const;

  const FilterSetup& setup_;
  const OpenFile& file_;
  arrow::MemoryPool* const pool_;
  const Rows group_;
  const std::shared_ptr<RowsOfBatches> rows_of_batches_;
  bool opened_ = false, ended_ = false;
  RowRanges rows_left_;
  std::unique_ptr<RowGroupReader> tested_, rest_;  ///< null: nothing is read of these
  RowsCollector collector_;
  mutable std::mutex mutex_;                        ///< of queues_
  std::vector<std::shared_ptr<PageQueue>> queues_;  ///< of tested_ and rest_
};

}  // namespace calve::parquet
