#include "calve/parquet/leaf_values.h"

#include "calve/simd/spread.h"

#include <arrow/util/bitmap_ops.h>

namespace calve::parquet {

LeafValues::LeafValues(const LeafLayout& layout, arrow::MemoryPool* pool)
    : layout_(layout),
      pool_(pool),
      validity_(pool),
      fixed_(pool),
      binary_(pool),
      definition_(pool),
      repetition_(pool) {}

Status LeafValues::Init() { return layout_.binary ? binary_.Init() : Status::OK(); }

Status LeafValues::AppendSlots(int64_t slots, FixedDecoder* fixed, BinaryDecoder* binary) {
  const uint8_t* bits = validity_.bits();
  const int64_t nulls = bits == nullptr ? 0 : slots - arrow::internal::CountSetBits(bits, slots_, slots);
  const int64_t values = slots - nulls;
  if (layout_.binary) {
    const int32_t begin = binary_.offsets[slots_];
    if (values > 0) ARROW_RETURN_NOT_OK(binary->Decode(values, &binary_));
    ARROW_RETURN_NOT_OK(binary_.offsets.Resize(slots_ + slots + 1));
    if (nulls > 0) {
      simd::SpreadOffsets(binary_.offsets.data() + slots_ + 1, static_cast<size_t>(values), static_cast<size_t>(slots),
                          bits, static_cast<size_t>(slots_), begin);
    }
  } else {
    ARROW_RETURN_NOT_OK(fixed_.Resize((slots_ + slots) * layout_.width));
    uint8_t* out = fixed_.data() + slots_ * layout_.width;
    if (values > 0) ARROW_RETURN_NOT_OK(fixed->Decode(values, out));
    if (nulls > 0) {
      simd::Spread(out, static_cast<size_t>(layout_.width), static_cast<size_t>(values), static_cast<size_t>(slots),
                   bits, static_cast<size_t>(slots_));
    }
  }
  slots_ += slots;
  return Status::OK();
}

Status LeafValues::AppendLevels(const uint8_t* definition, const uint8_t* repetition, int64_t count) {
  ARROW_RETURN_NOT_OK(definition_.Append(definition, count));
  return repetition == nullptr ? Status::OK() : repetition_.Append(repetition, count);
}

Result<LeafBatch> LeafValues::Take(int64_t rows) {
  if (rows == rows_begun_) return Finish(rows);
  const Cut cut = CutAfter(rows);
  LeafValues rest(layout_, pool_);
  ARROW_RETURN_NOT_OK(rest.Init());
  rest.rows_begun_ = rows_begun_ - rows;
  ARROW_RETURN_NOT_OK(MoveRest(cut, &rest));
  ARROW_ASSIGN_OR_RAISE(LeafBatch batch, Finish(rows));
  *this = std::move(rest);
  return batch;
}

LeafValues::Cut LeafValues::CutAfter(int64_t rows) const {
  if (!layout_.keeps_definition) return {0, rows};
  Cut cut;
  if (layout_.keeps_repetition) {
    int64_t begun = 0;
    for (; cut.levels < repetition_.size(); ++cut.levels) {
      begun += repetition_[cut.levels] == 0 ? 1 : 0;
      if (begun > rows) break;
    }
  } else {
    cut.levels = rows;
  }
  const uint8_t* levels = definition_.data();
  cut.slots = std::count_if(levels, levels + cut.levels, [&](uint8_t level) { return level >= layout_.exists_level; });
  return cut;
}

/// Copies what lies behind the cut to `rest`, and drops it here.
Status LeafValues::MoveRest(const Cut& cut, LeafValues* rest) {
  const int64_t left = slots_ - cut.slots;
  rest->slots_ = left;
  ARROW_RETURN_NOT_OK(rest->validity_.AppendFrom(validity_, cut.slots, left));
  ValidityBuilder first(pool_);
  ARROW_RETURN_NOT_OK(first.AppendFrom(validity_, 0, cut.slots));
  validity_ = std::move(first);
  if (layout_.binary) {
    const int32_t begin = binary_.offsets[cut.slots], end = binary_.offsets[slots_];
    ARROW_RETURN_NOT_OK(rest->binary_.offsets.Reserve(left));
    for (int64_t i = cut.slots + 1; i <= slots_; ++i) rest->binary_.offsets.UnsafeAppend(binary_.offsets[i] - begin);
    ARROW_RETURN_NOT_OK(rest->binary_.data.Append(binary_.data.data() + begin, end - begin));
    ARROW_RETURN_NOT_OK(binary_.offsets.Resize(cut.slots + 1));
    ARROW_RETURN_NOT_OK(binary_.data.Resize(begin));
  } else {
    ARROW_RETURN_NOT_OK(rest->fixed_.Append(fixed_.data() + cut.slots * layout_.width, left * layout_.width));
    ARROW_RETURN_NOT_OK(fixed_.Resize(cut.slots * layout_.width));
  }
  if (layout_.keeps_definition) {
    ARROW_RETURN_NOT_OK(rest->definition_.Append(definition_.data() + cut.levels, definition_.size() - cut.levels));
    ARROW_RETURN_NOT_OK(definition_.Resize(cut.levels));
  }
  if (layout_.keeps_repetition) {
    ARROW_RETURN_NOT_OK(rest->repetition_.Append(repetition_.data() + cut.levels, repetition_.size() - cut.levels));
    ARROW_RETURN_NOT_OK(repetition_.Resize(cut.levels));
  }
  slots_ = cut.slots;
  return Status::OK();
}

Result<LeafBatch> LeafValues::Finish(int64_t rows) {
  LeafBatch batch;
  batch.rows = rows;
  batch.slots = slots_;
  batch.levels_count = definition_.size();
  batch.null_count = validity_.null_count();
  ARROW_ASSIGN_OR_RAISE(batch.validity, validity_.Finish());
  if (layout_.binary) {
    ARROW_ASSIGN_OR_RAISE(batch.offsets, binary_.offsets.Finish());
    ARROW_ASSIGN_OR_RAISE(batch.values, binary_.data.Finish());
    ARROW_RETURN_NOT_OK(binary_.Init());
  } else {
    ARROW_ASSIGN_OR_RAISE(batch.values, fixed_.Finish());
  }
  if (layout_.keeps_definition) {
    ARROW_ASSIGN_OR_RAISE(batch.definition_levels, definition_.Finish());
  }
  if (layout_.keeps_repetition) {
    ARROW_ASSIGN_OR_RAISE(batch.repetition_levels, repetition_.Finish());
  }
  rows_begun_ = slots_ = 0;
  return batch;
}

}  // namespace calve::parquet
