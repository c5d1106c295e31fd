#include "calve/parquet/filtered_reader.h"

#include "calve/base/context.h"
#include "calve/base/status.h"

#include <arrow/record_batch.h>

#include <algorithm>
#include <numeric>

namespace calve::parquet {
namespace {

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

/// The leaves to read before the others.
std::vector<int> TestedLeaves(const Predicate& predicate, const OpenFile& file, const std::vector<int>& leaves) {
  if (predicate.always_true() || file.options.selection.late_materialization) return predicate.leaves();
  std::vector<int> all = leaves;
  all.insert(all.end(), predicate.leaves().begin(), predicate.leaves().end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// A part of what a read has for its columns, `schema` being what that part reads. Less of each column is read at a
/// time than when all rows are wanted.
ReadSetup PartOf(const ReadSetup& setup, const FileSchema& schema) {
  constexpr int64_t kLargestWindow = 256 << 10;
  ReadSetup part = setup;
  part.schema = &schema;
  part.window_bytes = std::min(setup.window_bytes, kLargestWindow);
  return part;
}

}  // namespace

FilteredReader::FilteredReader(const OpenFile& file, Predicate predicate, FieldSplit split, const BatchLimits& limits,
                               expr::NodePtr node)
    : file_(file),
      memory_(file.context),
      setup_(std::move(predicate), std::move(split), std::move(node)),
      most_open_groups_(MostOpenGroups(file.context, 1)),
      ahead_(file.context, AheadBytes(file.context), &counters_) {
  counters_.footer_cache_hits = file.footer_cache_hits;
  const FieldSplit& parts = setup_.split;
  const ReadSetup all = SetupOf(file, parts.output.schema, limits, memory_.buffers.get(), &counters_);
  setup_.tested = PartOf(all, parts.tested.schema);
  setup_.rest = PartOf(all, parts.rest.schema);
  setup_.batch_bytes = all.limits.soft_bytes;
  setup_.counters = &counters_;
  setup_.selection = &selection_counter_;
}

Result<std::unique_ptr<FilteredReader>> FilteredReader::Make(const OpenFile& file, const ParquetReadRequest& request,
                                                             const BatchLimits& limits) {
  if (file.options.batch_rows < 1) return Invalid("batches of {} rows", file.options.batch_rows);
  ARROW_ASSIGN_OR_RAISE(Predicate predicate, Predicate::Make(request.filter, file.footer->schema()));
  ARROW_ASSIGN_OR_RAISE(FieldSplit split,
                        FieldSplit::Make(*file.footer, request.leaves, TestedLeaves(predicate, file, request.leaves)));
  expr::NodePtr node = predicate.NodeFor(file.footer->schema(), split.tested);
  std::unique_ptr<FilteredReader> reader(
      new FilteredReader(file, std::move(predicate), std::move(split), limits, std::move(node)));
  ARROW_RETURN_NOT_OK(reader->Plan(request));
  return reader;
}

Status FilteredReader::Plan(const ParquetReadRequest& request) {
  if (request.rows) {
    ARROW_ASSIGN_OR_RAISE(setup_.asked, RowRanges::Make(*request.rows));
    if (setup_.asked->end() > file_.footer->num_rows()) {
      return Invalid("row range up to row {}, the file has {} rows", setup_.asked->end(), file_.footer->num_rows());
    }
  }
  const Footer& footer = *file_.footer;
  std::vector<int> asked_groups(static_cast<size_t>(footer.num_row_groups()));
  std::iota(asked_groups.begin(), asked_groups.end(), 0);
  if (request.row_groups) asked_groups = *request.row_groups;
  int least = 0;
  for (const int index : asked_groups) {
    if (index < least || index >= footer.num_row_groups()) {
      return Invalid("row group {} out of order or range (the file has {})", index, footer.num_row_groups());
    }
    least = index + 1;
    const auto& group = footer.row_group(index);
    if (group.num_rows > 0 && !setup_.predicate.always_false())
      groups_.push_back({index, group.first_row, group.num_rows});
  }
  return Status::OK();
}

Result<BatchPtr> FilteredReader::Next() {
  if (!failure_.ok()) return failure_;
  auto batch = ReadBatch();
  if (!batch.ok()) failure_ = WithContext(batch.status(), file_.name);
  if (!failure_.ok()) return failure_;
  return batch;
}

Result<BatchPtr> FilteredReader::ReadBatch() {
  const auto& schema = setup_.split.output.schema.arrow_schema;
  for (; group_ < groups_.size(); CloseGroup()) {
    OpenGroups();
    while (ahead_.HasMore(0)) {
      ARROW_RETURN_NOT_OK(CheckStop(file_.context));
      ARROW_ASSIGN_OR_RAISE(const auto array, ahead_.Take(0));
      if (array->length == 0) continue;
      rows_ = rows_of_batches_.front()->Take();
      counters_.rows += array->length;
      return arrow::RecordBatch::Make(schema, array->length, array->child_data);
    }
  }
  return BatchPtr();
}

void FilteredReader::OpenGroups() {
  for (; opened_ < groups_.size() && (opened_ == group_ || opened_ - group_ < most_open_groups_); ++opened_) {
    rows_of_batches_.push_back(std::make_shared<RowsOfBatches>());
    std::vector<std::unique_ptr<ArrayStream>> streams;
    streams.push_back(std::make_unique<FilteredGroup>(setup_, groups_[opened_], rows_of_batches_.back()));
    ahead_.AddGroup(std::move(streams));
  }
}

void FilteredReader::CloseGroup() {
  ahead_.RemoveGroup();
  rows_of_batches_.pop_front();
  ++group_;
}

ParquetReadMetrics FilteredReader::metrics() const {
  ParquetReadMetrics metrics = counters_.Read();
  metrics.selection = selection_counter_.Read();
  return metrics;
}

}  // namespace calve::parquet
