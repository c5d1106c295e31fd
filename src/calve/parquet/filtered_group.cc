#include "calve/parquet/filtered_group.h"

#include "calve/parquet/materialization.h"
#include "calve/parquet/page_selection.h"
#include "calve/parquet/row_group_selection.h"

#include "calve/array/array_data.h"
#include "calve/base/context.h"
#include "calve/base/status.h"

#include <arrow/array/array_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/util/bitmap_ops.h>

#include <algorithm>

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

/// Bytes that come in the time that a read takes to begin.
int64_t ReadGapBytes(const ParquetReadOptions& options) {
  constexpr double kMicrosPerSecond = 1e6;
  return static_cast<int64_t>(static_cast<double>(options.read_latency_us) *
                              static_cast<double>(options.read_bytes_per_second) / kMicrosPerSecond);
}

}  // namespace

FilteredGroup::FilteredGroup(const FilterSetup& setup, const Rows& group, std::shared_ptr<RowsOfBatches> rows)
    : setup_(setup),
      file_(*setup.tested.file),
      pool_(setup.tested.pool),
      group_(group),
      rows_of_batches_(std::move(rows)),
      collector_(file_.options.batch_rows, setup.batch_bytes, pool_) {}

FilteredGroup::~FilteredGroup() = default;

Result<std::shared_ptr<arrow::ArrayData>> FilteredGroup::Next() {
  StageTimer timer(&setup_.counters->decode_ns);
  if (!opened_) ARROW_RETURN_NOT_OK(Open());
  while (!collector_.full() && !rows_left_.empty()) {
    ARROW_RETURN_NOT_OK(CheckStop(file_.context));
    ARROW_RETURN_NOT_OK(ReadSome());
    if (rows_left_.empty()) ++setup_.counters->row_groups_read;
  }
  auto array = NewArrayData(setup_.batch_type, 0, {nullptr}, 0);
  if (!collector_.empty()) {
    RowRanges rows;
    ARROW_ASSIGN_OR_RAISE(const BatchPtr batch, collector_.Take(&rows));
    array->length = batch->num_rows();
    for (int i = 0; i < batch->num_columns(); ++i) array->child_data.push_back(batch->column_data(i));
    rows_of_batches_->Add(rows.Shifted(group_.first));
  }
  ended_ = rows_left_.empty() && collector_.empty();
  return array;
}

Status FilteredGroup::Open() {
  opened_ = true;
  PageIndexes indexes(file_, group_.group);
  ARROW_ASSIGN_OR_RAISE(rows_left_, SelectRows(&indexes));
  if (rows_left_.empty()) {
    ++setup_.counters->row_groups_skipped;
    return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(tested_, OpenReader(setup_.tested, setup_.split.tested, &indexes));
  ARROW_ASSIGN_OR_RAISE(rest_, OpenReader(setup_.rest, setup_.split.rest, &indexes));
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto* reader : {tested_.get(), rest_.get()}) {
    if (reader == nullptr) continue;
    for (auto& queue : reader->queues()) queues_.push_back(std::move(queue));
  }
  return Status::OK();
}

std::vector<std::shared_ptr<PageQueue>> FilteredGroup::queues() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return queues_;
}

bool FilteredGroup::WorkAhead() {
  const auto all = queues();
  return std::any_of(all.begin(), all.end(), [](const auto& queue) { return queue->WorkAhead(); });
}

bool FilteredGroup::wants_work() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& queue) { return queue->wants_work(); });
}

Result<RowRanges> FilteredGroup::SelectRows(PageIndexes* indexes) {
  using Counts = ParquetSelectionCounts;
  SelectionCounter& selected = *setup_.selection;
  selected.Count([](Counts* counts) { ++counts->row_groups; });
  RowRanges rows = RowRanges::Of(0, group_.count);
  if (setup_.asked) rows = Intersect(rows, setup_.asked->Shifted(-group_.first));
  if (rows.empty()) {
    selected.Count([](Counts* counts) { ++counts->row_groups_outside_rows; });
    return rows;
  }
  const ParquetSelectionOptions& by = file_.options.selection;
  if (by.statistics && !MightMatchByStatistics(setup_.predicate, file_, group_.group)) {
    selected.Count([](Counts* counts) { ++counts->row_groups_skipped_by_statistics; });
    return RowRanges();
  }
  if (by.bloom_filters) {
    ARROW_ASSIGN_OR_RAISE(const bool might, MightMatchByBloomFilters(setup_.predicate, file_, group_.group));
    if (!might) {
      selected.Count([](Counts* counts) { ++counts->row_groups_skipped_by_bloom_filter; });
      return RowRanges();
    }
  }
  if (by.page_index) {
    ARROW_ASSIGN_OR_RAISE(const RowRanges passing, SelectRowsByPages(setup_.predicate, file_, group_.group, indexes));
    rows = Intersect(rows, passing);
    if (rows.empty()) {
      selected.Count([](Counts* counts) { ++counts->row_groups_skipped_by_page_index; });
      return rows;
    }
  }
  if (by.dictionaries) {
    ARROW_ASSIGN_OR_RAISE(const bool might, MightMatchByDictionaries(setup_.predicate, file_, group_.group));
    if (!might) {
      selected.Count([](Counts* counts) { ++counts->row_groups_skipped_by_dictionary; });
      return RowRanges();
    }
  }
  return rows;
}

Result<std::vector<PlannedChunk>> FilteredGroup::PlanChunks(const Selection& selection, PageIndexes* indexes) {
  std::vector<PlannedChunk> chunks;
  const bool all_rows = rows_left_.count() == group_.count;
  for (size_t i = 0; i < selection.leaves.size(); ++i) {
    const int leaf = selection.leaves[i];
    PlannedChunk chunk;
    ARROW_ASSIGN_OR_RAISE(chunk.plan, PlanChunk(*file_.footer, selection.schema.leaves[i], leaf, group_.group));
    chunk.plan.leaf_index = static_cast<int>(i);
    const OffsetIndex* offsets = nullptr;
    if (file_.options.selection.page_index && !all_rows) {
      ARROW_ASSIGN_OR_RAISE(offsets, indexes->OffsetsOf(leaf));
    }
    if (offsets != nullptr) {
      const auto pages = static_cast<int64_t>(offsets->page_locations.size());
      PagesWithRows kept = PagesOf(*offsets, group_.count, rows_left_);
      const int64_t skipped = pages - static_cast<int64_t>(kept.pages.pages.size());
      setup_.selection->Count([&](ParquetSelectionCounts* counts) {
        counts->pages += pages;
        counts->pages_skipped_by_page_index += skipped;
      });
      setup_.counters->pages_skipped += skipped;
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

Result<std::unique_ptr<RowGroupReader>> FilteredGroup::OpenReader(const ReadSetup& setup, const Selection& selection,
                                                                  PageIndexes* indexes) {
  if (selection.leaves.empty()) return std::unique_ptr<RowGroupReader>();
  ARROW_ASSIGN_OR_RAISE(auto chunks, PlanChunks(selection, indexes));
  return RowGroupReader::Make(setup, selection, std::move(chunks), group_.first);
}

Status FilteredGroup::ReadSome() {
  if (!setup_.predicate.always_true()) return ReadTested();
  const RowRanges rows = rows_left_.Slice(0, file_.options.batch_rows);
  int64_t count = rows.count();
  BatchPtr batch;
  if (rest_ != nullptr) {
    ARROW_ASSIGN_OR_RAISE(batch, rest_->Read(rows));
    count = batch->num_rows();
  }
  collector_.Add(setup_.split.Join(count, nullptr, batch.get()), rows.Slice(0, count));
  rows_left_ = rows_left_.Slice(count, rows_left_.count());
  return Status::OK();
}

Status FilteredGroup::ReadTested() {
  const RowRanges asked = rows_left_.Slice(0, file_.options.batch_rows);
  ARROW_ASSIGN_OR_RAISE(const BatchPtr batch, tested_->Read(asked));
  const int64_t count = batch->num_rows();
  const RowRanges rows = asked.Slice(0, count);
  rows_left_ = rows_left_.Slice(count, rows_left_.count());
  ARROW_ASSIGN_OR_RAISE(auto mask, expr::Evaluate(setup_.node, *batch, pool_));
  ARROW_ASSIGN_OR_RAISE(mask, WithoutNulls(std::move(mask), pool_));
  const RowRanges passing = RowsWhere(rows, *mask);
  const auto how = ChooseMaterialization(count, passing.count(), static_cast<int64_t>(passing.ranges().size()));
  setup_.selection->Count([&](ParquetSelectionCounts* counts) {
    counts->rows_tested += count;
    if (how == Materialization::kNothing) ++counts->batches_empty;
    if (how == Materialization::kByRows) ++counts->batches_by_rows;
    if (how == Materialization::kByMask) ++counts->batches_by_mask;
  });
  if (how == Materialization::kNothing) return Status::OK();
  BatchPtr kept = batch;
  if (setup_.split.uses_tested()) {
    ARROW_ASSIGN_OR_RAISE(kept, expr::KeepRows(batch, mask, pool_));
  }
  if (how == Materialization::kByMask && rest_ != nullptr) return ReadRestByMask(rows, kept, mask);
  return ReadRest(passing, kept);
}

Status FilteredGroup::ReadRest(const RowRanges& rows, const BatchPtr& tested) {
  if (rest_ == nullptr) {
    collector_.Add(setup_.split.Join(rows.count(), tested.get(), nullptr), rows);
    return Status::OK();
  }
  for (int64_t done = 0; done < rows.count();) {
    ARROW_ASSIGN_OR_RAISE(const BatchPtr rest, rest_->Read(rows.Slice(done, rows.count() - done)));
    const int64_t count = rest->num_rows();
    const BatchPtr part = tested->Slice(done, count);
    collector_.Add(setup_.split.Join(count, part.get(), rest.get()), rows.Slice(done, count));
    done += count;
  }
  return Status::OK();
}

Status FilteredGroup::ReadRestByMask(const RowRanges& rows, const BatchPtr& tested,
                                     const std::shared_ptr<arrow::BooleanArray>& mask) {
  int64_t kept = 0;
  for (int64_t done = 0; done < rows.count();) {
    ARROW_ASSIGN_OR_RAISE(const BatchPtr all, rest_->Read(rows.Slice(done, rows.count() - done)));
    const auto of_part = SliceOf(*mask, done, all->num_rows());
    ARROW_ASSIGN_OR_RAISE(const BatchPtr rest, expr::KeepRows(all, of_part, pool_));
    const BatchPtr part = tested->Slice(kept, rest->num_rows());
    collector_.Add(setup_.split.Join(rest->num_rows(), part.get(), rest.get()),
                   RowsWhere(rows.Slice(done, all->num_rows()), *of_part));
    done += all->num_rows();
    kept += rest->num_rows();
  }
  return Status::OK();
}

}  // namespace calve::parquet
