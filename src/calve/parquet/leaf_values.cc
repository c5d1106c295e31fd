#include "calve/parquet/leaf_values.h"

#include "calve/base/status.h"
#include "calve/simd/spread.h"

#include <arrow/util/bitmap_ops.h>

#include <numeric>

namespace calve::parquet {
namespace {

/// No more room than this is made for values before they are seen.
constexpr int64_t kMostRoomBytes = 4 << 20;

/// A little more than `count`.
int64_t About(int64_t count) { return count + count / 16; }

}  // namespace

Status PageValues::Skip(int64_t count) {
  if (count == 0) return Status::OK();
  if (indices) return indices->Skip(count);
  return binary != nullptr ? binary->Skip(count) : fixed->Skip(count);
}

LeafValues::LeafValues(const LeafLayout& layout, arrow::MemoryPool* pool)
    : layout_(layout),
      width_(layout.form == ValueForm::kViews ? 0 : layout.slot_width()),
      pool_(pool),
      validity_(pool),
      fixed_(pool),
      binary_(pool),
      views_(pool),
      definition_(pool),
      repetition_(pool),
      own_fixed_(pool),
      own_binary_(pool) {}

Status LeafValues::Init() { return layout_.form == ValueForm::kOffsets ? binary_.Init() : Status::OK(); }

int64_t LeafValues::value_bytes() const {
  switch (layout_.form) {
    case ValueForm::kOffsets:
      return binary_.data.size();
    case ValueForm::kViews:
      return views_.views().size_bytes() + views_.buffers_bytes();
    default:
      return fixed_.size() + own_fixed_.size() + own_binary_.data.size();
  }
}

bool LeafValues::Continues(const PageValues& page) const {
  if (layout_.form != ValueForm::kIndices || source_ == Source::kNone) return true;
  return source_ == Source::kShared ? page.dictionary == dictionary_ : page.dictionary == nullptr;
}

Status LeafValues::ReserveSlots(int64_t slots) {
  if (layout_.form == ValueForm::kViews) return views_.views().Reserve(slots);
  if (layout_.form == ValueForm::kOffsets) return binary_.offsets.Reserve(slots);
  return fixed_.Reserve(slots * width_);
}

Status LeafValues::ReserveBatch(int64_t entries) {
  const int64_t slot_bytes = layout_.form == ValueForm::kViews ? sizeof(BinaryView) : layout_.slot_width();
  const int64_t most_slots = kMostRoomBytes / std::max<int64_t>(slot_bytes, sizeof(int32_t));
  const Cut wanted = last_.levels > 0 ? last_ : Cut{.levels = entries, .slots = entries};
  ARROW_RETURN_NOT_OK(ReserveSlots(std::min(About(wanted.slots), most_slots)));
  const int64_t levels = std::min(About(wanted.levels), kMostRoomBytes);
  if (layout_.keeps_definition) ARROW_RETURN_NOT_OK(definition_.Reserve(levels));
  return layout_.keeps_repetition ? repetition_.Reserve(levels) : Status::OK();
}

Status LeafValues::AppendSlots(int64_t slots, PageValues* page) {
  const int64_t nulls = validity_.null_count() - nulls_;
  nulls_ += nulls;
  switch (layout_.form) {
    case ValueForm::kFixed:
      ARROW_RETURN_NOT_OK(AppendFixed(slots, nulls, page->fixed.get()));
      break;
    case ValueForm::kOffsets:
      ARROW_RETURN_NOT_OK(AppendBinary(slots, nulls, page->binary.get()));
      break;
    case ValueForm::kViews:
      ARROW_RETURN_NOT_OK(AppendViews(slots, nulls, *page));
      break;
    case ValueForm::kIndices:
      ARROW_RETURN_NOT_OK(AppendIndices(slots, nulls, page));
      break;
  }
  slots_ += slots;
  return Status::OK();
}

void LeafValues::SpreadSlots(uint8_t* first, int64_t width, int64_t slots, int64_t nulls) {
  if (nulls == 0) return;
  simd::Spread(first, static_cast<size_t>(width), static_cast<size_t>(slots - nulls), static_cast<size_t>(slots),
               validity_.bits(), static_cast<size_t>(slots_));
}

Status LeafValues::AppendFixed(int64_t slots, int64_t nulls, FixedDecoder* values) {
  ARROW_RETURN_NOT_OK(fixed_.Resize((slots_ + slots) * width_));
  uint8_t* out = fixed_.data() + slots_ * width_;
  if (nulls > 0 && nulls < slots) {
    ARROW_ASSIGN_OR_RAISE(const uint8_t* packed, values->TakeInPlace(slots - nulls));
    if (packed != nullptr) {
      simd::SpreadFrom(packed, static_cast<size_t>(width_), static_cast<size_t>(slots - nulls),
                       static_cast<size_t>(slots), validity_.bits(), static_cast<size_t>(slots_), out);
      return Status::OK();
    }
  }
  if (slots > nulls) ARROW_RETURN_NOT_OK(values->Decode(slots - nulls, out));
  SpreadSlots(out, width_, slots, nulls);
  return Status::OK();
}

Status LeafValues::AppendBinary(int64_t slots, int64_t nulls, BinaryDecoder* values) {
  const int32_t begin = binary_.offsets[slots_];
  if (slots_ == 0) ARROW_RETURN_NOT_OK(binary_.data.Reserve(About(last_bytes_)));
  if (slots > nulls) ARROW_RETURN_NOT_OK(values->Decode(slots - nulls, &binary_));
  ARROW_RETURN_NOT_OK(binary_.offsets.Resize(slots_ + slots + 1));
  if (nulls == 0) return Status::OK();
  simd::SpreadOffsets(binary_.offsets.data() + slots_ + 1, static_cast<size_t>(slots - nulls),
                      static_cast<size_t>(slots), validity_.bits(), static_cast<size_t>(slots_), begin);
  return Status::OK();
}

Status LeafValues::AppendViews(int64_t slots, int64_t nulls, const PageValues& page) {
  if (slots > nulls) ARROW_RETURN_NOT_OK(page.binary->DecodeViews(slots - nulls, page.memory, &views_));
  ARROW_RETURN_NOT_OK(views_.views().Resize(slots_ + slots));
  SpreadSlots(reinterpret_cast<uint8_t*>(views_.views().data() + slots_), sizeof(BinaryView), slots, nulls);
  return Status::OK();
}

Status LeafValues::AppendIndices(int64_t slots, int64_t nulls, PageValues* page) {
  ARROW_RETURN_NOT_OK(fixed_.Resize((slots_ + slots) * width_));
  uint8_t* out = fixed_.data() + slots_ * width_;
  auto* indices = reinterpret_cast<uint32_t*>(out);
  const int64_t values = slots - nulls;
  if (values > 0) {
    if (source_ == Source::kNone && page->dictionary != nullptr) {
      source_ = Source::kShared;
      if (dictionary_ != page->dictionary) shared_array_ = page->dictionary->AsArray(layout_.dictionary_type);
      dictionary_ = page->dictionary;
    }
    if (source_ == Source::kShared && page->dictionary == dictionary_) {
      ARROW_RETURN_NOT_OK(page->indices->Decode(values, indices));
    } else {
      ARROW_RETURN_NOT_OK(OwnValues(page, values, indices));
    }
  }
  SpreadSlots(out, width_, slots, nulls);
  return Status::OK();
}

int64_t LeafValues::own_count() const {
  if (layout_.binary) return std::max<int64_t>(own_binary_.offsets.size() - 1, 0);
  return layout_.conversion.out_width == 0 ? 0 : own_fixed_.size() / layout_.conversion.out_width;
}

/// Values that no dictionary of the file holds, or one that this batch does not have alone: they become entries of a
/// dictionary that is made here, in their order.
Status LeafValues::OwnValues(PageValues* page, int64_t count, uint32_t* indices) {
  if (source_ == Source::kShared) ARROW_RETURN_NOT_OK(OwnDictionary(*dictionary_));
  if (source_ == Source::kNone && layout_.binary) ARROW_RETURN_NOT_OK(own_binary_.Init());
  source_ = Source::kOwn;
  const int64_t first = own_count();
  if (page->indices) {
    ARROW_RETURN_NOT_OK(OwnDictionary(*page->dictionary));
    ARROW_RETURN_NOT_OK(page->indices->Decode(count, indices));
    for (int64_t i = 0; i < count; ++i) indices[i] += static_cast<uint32_t>(first);
    return Status::OK();
  }
  if (layout_.binary) {
    ARROW_RETURN_NOT_OK(page->binary->Decode(count, &own_binary_));
  } else {
    const int64_t begin = own_fixed_.size();
    ARROW_RETURN_NOT_OK(own_fixed_.Resize(begin + count * layout_.conversion.out_width));
    ARROW_RETURN_NOT_OK(page->fixed->Decode(count, own_fixed_.data() + begin));
  }
  std::iota(indices, indices + count, static_cast<uint32_t>(first));
  return Status::OK();
}

Status LeafValues::OwnDictionary(const Dictionary& dictionary) {
  if (!layout_.binary) return own_fixed_.Append(dictionary.fixed->data(), dictionary.fixed->size());
  if (own_binary_.offsets.empty()) ARROW_RETURN_NOT_OK(own_binary_.Init());
  const int64_t begin = own_binary_.data.size();
  if (begin + dictionary.bytes->size() > std::numeric_limits<int32_t>::max()) {
    return NotImplemented("a row of more than 2^31 bytes of byte arrays");
  }
  ARROW_RETURN_NOT_OK(own_binary_.data.Append(dictionary.bytes->data(), dictionary.bytes->size()));
  ARROW_RETURN_NOT_OK(own_binary_.offsets.Reserve(dictionary.count));
  for (int64_t i = 1; i <= dictionary.count; ++i) {
    own_binary_.offsets.UnsafeAppend(static_cast<int32_t>(begin) + dictionary.ends()[i]);
  }
  return Status::OK();
}

/// Makes what was collected here a dictionary that several batches can have.
Status LeafValues::ShareOwn() {
  auto dictionary = std::make_shared<Dictionary>();
  dictionary->count = own_count();
  if (layout_.binary) {
    if (own_binary_.offsets.empty()) ARROW_RETURN_NOT_OK(own_binary_.Init());
    ARROW_ASSIGN_OR_RAISE(dictionary->offsets, own_binary_.offsets.FinishWithSlack());
    ARROW_ASSIGN_OR_RAISE(dictionary->bytes, own_binary_.data.FinishWithSlack());
  } else {
    ARROW_ASSIGN_OR_RAISE(dictionary->fixed, own_fixed_.FinishWithSlack());
  }
  shared_array_ = dictionary->AsArray(layout_.dictionary_type);
  dictionary_ = std::move(dictionary);
  source_ = Source::kShared;
  return Status::OK();
}

Status LeafValues::AppendLevels(const uint8_t* definition, const uint8_t* repetition, int64_t count) {
  ARROW_RETURN_NOT_OK(definition_.Append(definition, count));
  return repetition == nullptr ? Status::OK() : repetition_.Append(repetition, count);
}

Result<LeafBatch> LeafValues::Take(int64_t rows) {
  if (layout_.form == ValueForm::kIndices && source_ != Source::kShared) {
    if (source_ == Source::kOwn || dictionary_ == nullptr) ARROW_RETURN_NOT_OK(ShareOwn());
  }
  if (rows == rows_begun_) return Finish(rows);
  const Cut cut = CutAfter(rows);
  LeafValues rest(layout_, pool_);
  ARROW_RETURN_NOT_OK(rest.Init());
  rest.last_bytes_ = last_bytes_;
  rest.last_ = cut;
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

namespace {

template <typename T>
Status MoveBehind(int64_t kept, PoolVector<T>* from, PoolVector<T>* to) {
  ARROW_RETURN_NOT_OK(to->Append(from->data() + kept, from->size() - kept));
  return from->Resize(kept);
}

}  // namespace

/// Copies what lies behind the cut to `rest`, and drops it here.
Status LeafValues::MoveRest(const Cut& cut, LeafValues* rest) {
  const int64_t left = slots_ - cut.slots;
  rest->slots_ = left;
  ARROW_RETURN_NOT_OK(rest->validity_.AppendFrom(validity_, cut.slots, left));
  rest->nulls_ = rest->validity_.null_count();
  ValidityBuilder first(pool_);
  ARROW_RETURN_NOT_OK(first.AppendFrom(validity_, 0, cut.slots));
  validity_ = std::move(first);
  if (layout_.form == ValueForm::kOffsets) {
    const int32_t begin = binary_.offsets[cut.slots];
    ARROW_RETURN_NOT_OK(rest->binary_.offsets.Reserve(left));
    for (int64_t i = cut.slots + 1; i <= slots_; ++i) rest->binary_.offsets.UnsafeAppend(binary_.offsets[i] - begin);
    ARROW_RETURN_NOT_OK(binary_.offsets.Resize(cut.slots + 1));
    ARROW_RETURN_NOT_OK(MoveBehind(begin, &binary_.data, &rest->binary_.data));
  } else if (layout_.form == ValueForm::kViews) {
    ARROW_RETURN_NOT_OK(MoveBehind(cut.slots, &views_.views(), &rest->views_.views()));
    rest->views_.ShareBuffers(views_);
  } else {
    ARROW_RETURN_NOT_OK(MoveBehind(cut.slots * width_, &fixed_, &rest->fixed_));
    rest->source_ = left > 0 ? source_ : Source::kNone;
    rest->dictionary_ = dictionary_;
    rest->shared_array_ = shared_array_;
  }
  if (layout_.keeps_definition) ARROW_RETURN_NOT_OK(MoveBehind(cut.levels, &definition_, &rest->definition_));
  if (layout_.keeps_repetition) ARROW_RETURN_NOT_OK(MoveBehind(cut.levels, &repetition_, &rest->repetition_));
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
  if (layout_.form == ValueForm::kOffsets) {
    // Not what one value of many megabytes takes.
    last_bytes_ = std::min<int64_t>(binary_.data.size(), kMostRoomBytes);
    ARROW_ASSIGN_OR_RAISE(batch.offsets, binary_.offsets.Finish());
    ARROW_ASSIGN_OR_RAISE(batch.values, binary_.data.Finish());
    ARROW_RETURN_NOT_OK(binary_.Init());
  } else if (layout_.form == ValueForm::kViews) {
    ARROW_ASSIGN_OR_RAISE(batch.values, views_.views().Finish());
    batch.view_buffers = views_.TakeBuffers();
  } else {
    ARROW_ASSIGN_OR_RAISE(batch.values, fixed_.Finish());
    batch.dictionary = shared_array_;
    source_ = Source::kNone;
  }
  if (layout_.keeps_definition) {
    ARROW_ASSIGN_OR_RAISE(batch.definition_levels, definition_.Finish());
  }
  if (layout_.keeps_repetition) {
    ARROW_ASSIGN_OR_RAISE(batch.repetition_levels, repetition_.Finish());
  }
  last_ = {.levels = batch.levels_count, .slots = slots_};
  rows_begun_ = slots_ = nulls_ = 0;
  return batch;
}

}  // namespace calve::parquet
