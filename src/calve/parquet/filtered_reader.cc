#include "calve/parquet/filtered_reader.h"

#include "calve/parquet/materialization.h"
#include "calve/parquet/page_selection.h"
#include "calve/parquet/row_group_selection.h"

#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/expr/evaluate.h"

#include <arrow/array/array_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/util/bitmap_ops.h>

#include <algorithm>
#include <numeric>

namespace calve::parquet {
namespace {

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

/// The mask with its nulls made false.
Result<std::shared_ptr<arrow::BooleanArray>> WithoutNulls(std::shared_ptr<arrow::BooleanArray> mask,
                                                          arrow::MemoryPool* pool) {
  if (mask->null_count() == 0) return mask;
  ARROW_ASSIGN_OR_RAISE(auto bits, arrow::internal::BitmapAnd(pool, mask->values()->data(), mask->offset(),
                                                              mask->null_bitmap_data(), mask->offset(), mask->length(),
                                                              /*out_offset=*/0));
  return std::make_shared<arrow::BooleanArray>(mask->length(), std::move(bits));
}

RowRanges RowsWhere(const RowRanges& rows, const arrow::BooleanArray& mask) {
  return rows.Masked(mask.values()->data(), mask.offset());
}

std::shared_ptr<arrow::BooleanArray> SliceOf(const arrow::BooleanArray& mask, int64_t offset, int64_t count) {
  return std::static_pointer_cast<arrow::BooleanArray>(mask.Slice(offset, count));
}

/// The leaves to read before the others.
std::vector<int> TestedLeaves(const Predicate& predicate, const OpenFile& file, const std::vector<int>& leaves) {
  if (predicate.always_true() || file.options.selection.late_materialization) return predicate.leaves();
  std::vector<int> all = leaves;
  all.insert(all.end(), predicate.leaves().begin(), predicate.leaves().end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Bytes that come in the time that a read takes to begin.
int64_t ReadGapBytes(const ParquetReadOptions& options) {
  constexpr double kMicrosPerSecond = 1e6;
  return static_cast<int64_t>(static_cast<double>(options.read_latency_us) *
                              static_cast<double>(options.read_bytes_per_second) / kMicrosPerSecond);
}

}  // namespace

FilteredReader::FilteredReader(const OpenFile& file, Predicate predicate, FieldSplit split, const BatchLimits& limits)
    : file_(file),
      budget_pool_(file.context.memory_budget_bytes > 0 ? OperationPool::Make(file.context) : nullptr),
      pool_(budget_pool_ != nullptr ? budget_pool_.get() : PoolOf(file.context)),
      predicate_(std::move(predicate)),
      split_(std::move(split)),
      node_(predicate_.NodeFor(file.footer->schema(), split_.tested)),
      limits_(limits),
      collector_(file.options.batch_rows, limits.soft_bytes, pool_) {
  counters_.footer_cache_hits = file.footer_cache_hits;
  page_options_.verify_crc = file.options.verify_crc;
  page_options_.buffers = PageBuffers::Make(pool_);
  page_options_.counters = &counters_;
}

Result<std::unique_ptr<FilteredReader>> FilteredReader::Make(const OpenFile& file, const ParquetReadRequest& request,
                                                             const BatchLimits& limits) {
  if (file.options.batch_rows < 1) return Invalid("batches of {} rows", file.options.batch_rows);
  ARROW_ASSIGN_OR_RAISE(Predicate predicate, Predicate::Make(request.filter, file.footer->schema()));
  ARROW_ASSIGN_OR_RAISE(FieldSplit split,
                        FieldSplit::Make(*file.footer, request.leaves, TestedLeaves(predicate, file, request.leaves)));
  std::unique_ptr<FilteredReader> reader(new FilteredReader(file, std::move(predicate), std::move(split), limits));
  ARROW_RETURN_NOT_OK(reader->Plan(request));
  return reader;
}

Status FilteredReader::Plan(const ParquetReadRequest& request) {
  if (request.rows) {
    ARROW_ASSIGN_OR_RAISE(asked_, RowRanges::Make(*request.rows));
    if (asked_->end() > file_.footer->num_rows()) {
      return Invalid("row range up to row {}, the file has {} rows", asked_->end(), file_.footer->num_rows());
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
    if (group.num_rows > 0 && !predicate_.always_false()) groups_.push_back({index, group.first_row, group.num_rows});
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
  while (true) {
    ARROW_RETURN_NOT_OK(CheckStop(file_.context));
    if (collector_.full() || (rows_left_.empty() && !collector_.empty())) {
      ARROW_ASSIGN_OR_RAISE(auto batch, collector_.Take(&rows_));
      rows_ = rows_.Shifted(group_first_row_);
      counters_.rows += batch->num_rows();
      return batch;
    }
    if (rows_left_.empty()) {
      ARROW_ASSIGN_OR_RAISE(const bool more, OpenGroup());
      if (!more) return BatchPtr();
    }
    StageTimer timer(&counters_.decode_ns);
    ARROW_RETURN_NOT_OK(ReadSome());
    if (rows_left_.empty()) ++counters_.row_groups_read;
  }
}

Result<bool> FilteredReader::OpenGroup() {
  tested_.reset();
  rest_.reset();
  while (next_group_ < groups_.size()) {
    const Group& group = groups_[next_group_++];
    PageIndexes indexes(file_, group.index);
    ARROW_ASSIGN_OR_RAISE(rows_left_, SelectRows(group, &indexes));
    if (rows_left_.empty()) {
      ++counters_.row_groups_skipped;
      continue;
    }
    group_first_row_ = group.first_row;
    ARROW_ASSIGN_OR_RAISE(tested_, OpenReader(split_.tested, group, &indexes));
    ARROW_ASSIGN_OR_RAISE(rest_, OpenReader(split_.rest, group, &indexes));
    return true;
  }
  return false;
}

Result<RowRanges> FilteredReader::SelectRows(const Group& group, PageIndexes* indexes) {
  using Counts = ParquetSelectionCounts;
  Count([](Counts& counts) { ++counts.row_groups; });
  RowRanges rows = RowRanges::Of(0, group.num_rows);
  if (asked_) rows = Intersect(rows, asked_->Shifted(-group.first_row));
  if (rows.empty()) {
    Count([](Counts& counts) { ++counts.row_groups_outside_rows; });
    return rows;
  }
  const ParquetSelectionOptions& by = file_.options.selection;
  if (by.statistics && !MightMatchByStatistics(predicate_, file_, group.index)) {
    Count([](Counts& counts) { ++counts.row_groups_skipped_by_statistics; });
    return RowRanges();
  }
  if (by.bloom_filters) {
    ARROW_ASSIGN_OR_RAISE(const bool might, MightMatchByBloomFilters(predicate_, file_, group.index));
    if (!might) {
      Count([](Counts& counts) { ++counts.row_groups_skipped_by_bloom_filter; });
      return RowRanges();
    }
  }
  if (by.page_index) {
    ARROW_ASSIGN_OR_RAISE(const RowRanges passing, SelectRowsByPages(predicate_, file_, group.index, indexes));
    rows = Intersect(rows, passing);
    if (rows.empty()) {
      Count([](Counts& counts) { ++counts.row_groups_skipped_by_page_index; });
      return rows;
    }
  }
  if (by.dictionaries) {
    ARROW_ASSIGN_OR_RAISE(const bool might, MightMatchByDictionaries(predicate_, file_, group.index));
    if (!might) {
      Count([](Counts& counts) { ++counts.row_groups_skipped_by_dictionary; });
      return RowRanges();
    }
  }
  return rows;
}

Result<std::vector<PlannedChunk>> FilteredReader::PlanChunks(const Selection& selection, const Group& group,
                                                             PageIndexes* indexes) {
  std::vector<PlannedChunk> chunks;
  const bool all_rows = rows_left_.count() == group.num_rows;
  for (size_t i = 0; i < selection.leaves.size(); ++i) {
    const int leaf = selection.leaves[i];
    PlannedChunk chunk;
    ARROW_ASSIGN_OR_RAISE(chunk.plan, PlanChunk(*file_.footer, selection.schema.leaves[i], leaf, group.index));
    chunk.plan.leaf_index = static_cast<int>(i);
    const OffsetIndex* offsets = nullptr;
    if (file_.options.selection.page_index && !all_rows) {
      ARROW_ASSIGN_OR_RAISE(offsets, indexes->OffsetsOf(leaf));
    }
    if (offsets != nullptr) {
      const auto pages = static_cast<int64_t>(offsets->page_locations.size());
      PagesWithRows kept = PagesOf(*offsets, group.num_rows, rows_left_);
      const int64_t skipped = pages - static_cast<int64_t>(kept.pages.pages.size());
      Count([&](ParquetSelectionCounts& counts) {
        counts.pages += pages;
        counts.pages_skipped_by_page_index += skipped;
      });
      counters_.pages_skipped += skipped;
      if (skipped > 0) {
        kept.pages.read_gap_bytes = ReadGapBytes(file_.options);
        chunk.plan.pages = std::make_shared<PlannedPages>(std::move(kept.pages));
        chunk.rows = std::move(kept.rows);
      }
    }
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

Result<std::unique_ptr<RowGroupReader>> FilteredReader::OpenReader(const Selection& selection, const Group& group,
                                                                   PageIndexes* indexes) {
  if (selection.leaves.empty()) return std::unique_ptr<RowGroupReader>();
  ARROW_ASSIGN_OR_RAISE(auto chunks, PlanChunks(selection, group, indexes));
  return RowGroupReader::Make(file_, selection, std::move(chunks), page_options_, limits_, pool_);
}

Status FilteredReader::ReadSome() {
  if (!predicate_.always_true()) return ReadTested();
  const RowRanges rows = rows_left_.Slice(0, file_.options.batch_rows);
  int64_t count = rows.count();
  BatchPtr batch;
  if (rest_ != nullptr) {
    ARROW_ASSIGN_OR_RAISE(batch, rest_->Read(rows));
    count = batch->num_rows();
  }
  collector_.Add(split_.Join(count, nullptr, batch.get()), rows.Slice(0, count));
  rows_left_ = rows_left_.Slice(count, rows_left_.count());
  return Status::OK();
}

Status FilteredReader::ReadTested() {
  const RowRanges asked = rows_left_.Slice(0, file_.options.batch_rows);
  ARROW_ASSIGN_OR_RAISE(const BatchPtr batch, tested_->Read(asked));
  const int64_t count = batch->num_rows();
  const RowRanges rows = asked.Slice(0, count);
  rows_left_ = rows_left_.Slice(count, rows_left_.count());
  ARROW_ASSIGN_OR_RAISE(auto mask, expr::Evaluate(node_, *batch, pool_));
  ARROW_ASSIGN_OR_RAISE(mask, WithoutNulls(std::move(mask), pool_));
  const RowRanges passing = RowsWhere(rows, *mask);
  const auto how = ChooseMaterialization(count, passing.count(), static_cast<int64_t>(passing.ranges().size()));
  Count([&](ParquetSelectionCounts& counts) {
    counts.rows_tested += count;
    if (how == Materialization::kNothing) ++counts.batches_empty;
    if (how == Materialization::kByRows) ++counts.batches_by_rows;
    if (how == Materialization::kByMask) ++counts.batches_by_mask;
  });
  if (how == Materialization::kNothing) return Status::OK();
  BatchPtr kept = batch;
  if (split_.uses_tested()) {
    ARROW_ASSIGN_OR_RAISE(kept, expr::KeepRows(batch, mask, pool_));
  }
  if (how == Materialization::kByMask && rest_ != nullptr) return ReadRestByMask(rows, kept, mask);
  return ReadRest(passing, kept);
}

Status FilteredReader::ReadRest(const RowRanges& rows, const BatchPtr& tested) {
  if (rest_ == nullptr) {
    collector_.Add(split_.Join(rows.count(), tested.get(), nullptr), rows);
    return Status::OK();
  }
  for (int64_t done = 0; done < rows.count();) {
    ARROW_ASSIGN_OR_RAISE(const BatchPtr rest, rest_->Read(rows.Slice(done, rows.count() - done)));
    const int64_t count = rest->num_rows();
    const BatchPtr part = tested->Slice(done, count);
    collector_.Add(split_.Join(count, part.get(), rest.get()), rows.Slice(done, count));
    done += count;
  }
  return Status::OK();
}

Status FilteredReader::ReadRestByMask(const RowRanges& rows, const BatchPtr& tested,
                                      const std::shared_ptr<arrow::BooleanArray>& mask) {
  int64_t kept = 0;
  for (int64_t done = 0; done < rows.count();) {
    ARROW_ASSIGN_OR_RAISE(const BatchPtr all, rest_->Read(rows.Slice(done, rows.count() - done)));
    const auto of_part = SliceOf(*mask, done, all->num_rows());
    ARROW_ASSIGN_OR_RAISE(const BatchPtr rest, expr::KeepRows(all, of_part, pool_));
    const BatchPtr part = tested->Slice(kept, rest->num_rows());
    collector_.Add(split_.Join(rest->num_rows(), part.get(), rest.get()),
                   RowsWhere(rows.Slice(done, all->num_rows()), *of_part));
    done += all->num_rows();
    kept += rest->num_rows();
  }
  return Status::OK();
}

ParquetReadMetrics FilteredReader::metrics() const {
  ParquetReadMetrics metrics = counters_.Read();
  std::lock_guard<std::mutex> lock(mutex_);
  metrics.selection = selection_counts_;
  return metrics;
}

template <typename Change>
void FilteredReader::Count(Change&& change) {
  std::lock_guard<std::mutex> lock(mutex_);
  change(selection_counts_);
}

}  // namespace calve::parquet
