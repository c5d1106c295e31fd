// Levels of a leaf below optional nodes and lists. A slot that ends early has the level of the node that it ends at:
//
//   required struct, list or leaf       no level of its own
//   optional node                       null: null_level;  otherwise present_level = null_level + 1
//   list                                empty: present_level;  with elements: element_level = present_level + 1
//
// The first slot of a row has repetition level 0, the first of any further element that of its list. What lies under a
// null (a null list over a range that is not empty, a null struct over values) is never reached.
//
// Levels are bit planes, one for "above 0", "above 1" and so on, over the slots that the rows are so far. Going down
// the path,
//
//   an optional node   adds the plane  reached & validity
//   a list             makes more slots: one for each element, and one for each slot without any. The bits of all
//   planes
//                      move to the first slot of each; the others, which go on in the list, get ones. It adds the
//                      planes "has an element" (definition) and "not the first" (repetition).

#include "calve/parquet/levels_writer.h"

#include "calve/base/status.h"
#include "calve/parquet/dictionary_nulls.h"
#include "calve/simd/level_bits.h"

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace calve::parquet {
namespace {

const uint8_t* Validity(const arrow::ArrayData& array) {
  return array.null_count != 0 && array.buffers[0] != nullptr ? array.buffers[0]->data() : nullptr;
}

Status NullInRequired(const PathStep& step) { return Invalid("column '{}': null in a required field", step.name); }

/// Where lists with offsets have their elements.
template <typename Offset>
struct OffsetElements {
  const Offset* offsets;
  SlotRange operator()(int64_t i) const { return {offsets[i], offsets[i + 1] - offsets[i]}; }
};

template <typename Offset>
struct ViewElements {
  const Offset *offsets, *sizes;
  SlotRange operator()(int64_t i) const { return {offsets[i], sizes[i]}; }
};

struct FixedSizeElements {
  int64_t offset, size;
  SlotRange operator()(int64_t i) const { return {(offset + i) * size, size}; }
};

std::vector<BitPlane> Planes(int count, arrow::MemoryPool* pool) {
  std::vector<BitPlane> planes;
  for (int i = 0; i < count; ++i) planes.emplace_back(pool);
  return planes;
}

}  // namespace

LevelsWriter::LevelsWriter(const WrittenLeaf* leaf, arrow::MemoryPool* pool)
    : leaf_(leaf),
      pool_(pool),
      definition_(Planes(leaf->column.max_definition_level, pool)),
      repetition_(Planes(leaf->column.max_repetition_level, pool)),
      bits_(pool),
      firsts_(pool),
      filled_(pool),
      first_slots_(pool),
      child_ranges_(pool) {}

Status LevelsWriter::BindLeaf(const arrow::ArrayData& array) {
  leaf_array_ = array.Copy();
  const arrow::DataType& type = StorageType(*array.type);
  if (type.id() != arrow::Type::DICTIONARY) {
    leaf_array_->type = leaf_->value_type;
    return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(auto validity, ValidityThroughDictionary(array, pool_));
  if (validity == nullptr) return Status::OK();
  leaf_array_->buffers[0] = std::move(validity);
  leaf_array_->null_count = arrow::kUnknownNullCount;
  return Status::OK();
}

Status LevelsWriter::Bind(const arrow::ArrayData& field) {
  if (bound_ == &field) return Status::OK();
  Unbind();
  const arrow::ArrayData* array = &field;
  for (const PathStep& step : leaf_->steps) {
    arrays_.push_back(array);
    if (step.kind != PathStep::Kind::kLeaf) array = array->child_data[step.child_index].get();
  }
  ARROW_RETURN_NOT_OK(BindLeaf(*array));
  arrays_.back() = leaf_array_.get();
  const arrow::ArrayData& top = *arrays_.front();
  all_null_ = leaf_->steps.front().nullable && top.GetNullCount() == top.length;
  bound_ = &field;
  return Status::OK();
}

void LevelsWriter::Unbind() {
  bound_ = nullptr;
  arrays_.clear();
  leaf_array_.reset();
}

Status LevelsWriter::Build(int64_t row, int64_t count, LeafSlots* slots) {
  slots->row_count = slots->slot_count = count;
  slots->ranges.Clear();
  if (all_null_) {
    BuildNulls(slots);
    return Status::OK();
  }
  ARROW_RETURN_NOT_OK(slots->ranges.Append({row, count}));
  slots->flat = leaf_->steps.size() == 1;
  slots->all_null = false;
  ARROW_RETURN_NOT_OK(slots->flat ? BuildFlat(row, count, slots) : BuildNested(row, count, slots));
  slots->values.ranges = slots->ranges.span();
  CountLevels(slots);
  return Status::OK();
}

void LevelsWriter::BuildNulls(LeafSlots* slots) const {
  slots->flat = slots->all_null = true;
  slots->validity = nullptr;
  slots->definition_planes = slots->repetition_planes = {};
  slots->values = {};
  const auto all_at_zero = [&](size_t max_level, LevelHistogram* histogram) {
    histogram->assign(max_level + 1, 0);
    histogram->front() = slots->slot_count;
  };
  if (definition_.size() > 1) all_at_zero(definition_.size(), &slots->definition_histogram);
  if (!repetition_.empty()) all_at_zero(repetition_.size(), &slots->repetition_histogram);
}

Status LevelsWriter::BuildFlat(int64_t row, int64_t count, LeafSlots* slots) {
  slots->all_null = leaf_array_->type->id() == arrow::Type::NA;
  slots->validity = slots->all_null ? nullptr : Validity(*leaf_array_);
  slots->validity_offset = leaf_array_->offset + row;
  int64_t values = slots->all_null ? 0 : count;
  if (slots->validity != nullptr) {
    values = arrow::internal::CountSetBits(slots->validity, slots->validity_offset, count);
    slots->all_null = values == 0;
  }
  if (!leaf_->steps[0].nullable && values != count) return NullInRequired(leaf_->steps[0]);
  slots->values = {{}, values == count ? nullptr : slots->validity, slots->validity_offset, values};
  if (values == count || values == 0) slots->validity = nullptr;
  return Status::OK();
}

Status LevelsWriter::BuildNested(int64_t row, int64_t count, LeafSlots* slots) {
  levels_ = lists_ = placed_ = 0;
  for (size_t depth = 0; depth < leaf_->steps.size(); ++depth) {
    const PathStep& step = leaf_->steps[depth];
    const arrow::ArrayData& array = *arrays_[depth];
    ARROW_RETURN_NOT_OK(AddPresence(step, array, slots));
    if (step.kind == PathStep::Kind::kStruct) {
      // A struct's children are not sliced with it.
      for (int64_t i = 0; i < slots->ranges.size(); ++i) slots->ranges[i].start += array.offset;
    } else if (step.kind != PathStep::Kind::kLeaf) {
      ARROW_RETURN_NOT_OK(Repeat(step, array, slots));
    }
  }
  slots->definition_planes = definition_;
  slots->repetition_planes = repetition_;
  return FinishValues(slots);
}

Status LevelsWriter::AddPresence(const PathStep& step, const arrow::ArrayData& array, LeafSlots* slots) {
  const bool all_null = array.type->id() == arrow::Type::NA;
  const uint8_t* validity = all_null ? nullptr : Validity(array);
  if (step.nullable) {
    if (!all_null) return AddOptional(validity, array, slots);
    definition_[levels_].Clear();
    return definition_[levels_++].Resize(slots->slot_count);
  }
  if (validity == nullptr) return Status::OK();
  ARROW_RETURN_NOT_OK(PlaceValidity(validity, array, *slots, &filled_));
  const BitPlane* above = reached();
  if (above == nullptr) return filled_.CountSet() == slots->slot_count ? Status::OK() : NullInRequired(step);
  for (int64_t w = 0; w < above->words_count(); ++w) {
    if ((above->words()[w] & ~filled_.words()[w]) != 0) return NullInRequired(step);
  }
  return Status::OK();
}

Status LevelsWriter::AddOptional(const uint8_t* validity, const arrow::ArrayData& array, LeafSlots* slots) {
  const BitPlane* above = reached();
  BitPlane* plane = &definition_[levels_++];
  if (validity != nullptr) {
    ARROW_RETURN_NOT_OK(PlaceValidity(validity, array, *slots, plane));
  } else {
    plane->Clear();
    ARROW_RETURN_NOT_OK(plane->AppendRun(true, slots->slot_count));
  }
  if (above == nullptr) return Status::OK();
  for (int64_t w = 0; w < plane->words_count(); ++w) plane->words()[w] &= above->words()[w];
  return Status::OK();
}

/// Makes `out` the validity of the array's slots where they stand among all; 0 for slots that the array does not have.
Status LevelsWriter::PlaceValidity(const uint8_t* validity, const arrow::ArrayData& array, const LeafSlots& slots,
                                   BitPlane* out) {
  BitPlane* packed = placed_ == 0 ? out : &bits_;
  packed->Clear();
  for (const SlotRange& range : slots.ranges.span()) {
    ARROW_RETURN_NOT_OK(packed->Append(validity, array.offset + range.start, range.length));
  }
  if (placed_ == 0) return Status::OK();
  ARROW_RETURN_NOT_OK(out->Resize(slots.slot_count));
  simd::ExpandBits(bits_.words(), definition_[placed_ - 1].words(), static_cast<size_t>(slots.slot_count),
                   /*others=*/false, out->words());
  return Status::OK();
}

Status LevelsWriter::Repeat(const PathStep& step, const arrow::ArrayData& array, LeafSlots* slots) {
  switch (step.kind) {
    case PathStep::Kind::kLargeList:
      ARROW_RETURN_NOT_OK(PlaceElements(OffsetElements<int64_t>{array.GetValues<int64_t>(1)}, slots));
      break;
    case PathStep::Kind::kListView: {
      const ViewElements<int32_t> elements{array.GetValues<int32_t>(1), array.GetValues<int32_t>(2)};
      ARROW_RETURN_NOT_OK(PlaceElements(elements, slots));
      break;
    }
    case PathStep::Kind::kLargeListView: {
      const ViewElements<int64_t> elements{array.GetValues<int64_t>(1), array.GetValues<int64_t>(2)};
      ARROW_RETURN_NOT_OK(PlaceElements(elements, slots));
      break;
    }
    case PathStep::Kind::kFixedSizeList:
      ARROW_RETURN_NOT_OK(PlaceElements(FixedSizeElements{array.offset, step.list_size}, slots));
      break;
    default:
      ARROW_RETURN_NOT_OK(PlaceElements(OffsetElements<int32_t>{array.GetValues<int32_t>(1)}, slots));
      break;
  }
  ARROW_RETURN_NOT_OK(MarkFirsts());
  ARROW_RETURN_NOT_OK(SpreadPlanes(slots));
  std::swap(slots->ranges, child_ranges_);
  slots->slot_count = new_slot_count_;
  placed_ = levels_;
  return Status::OK();
}

/// The same where few of neighbouring slots are lists that are there: only those are looked at.
template <typename Elements>
void LevelsWriter::PlaceFewElements(const Elements& elements, const LeafSlots& slots) {
  const uint64_t* present = reached()->words();
  const int64_t start = slots.ranges[0].start, count = slots.slot_count;
  int64_t next = 0, i = 0;
  SlotRange open = {0, 0};
  child_ranges_.Clear();
  for (int64_t begin = 0; begin < count; begin += 64) {
    for (uint64_t left = present[begin / 64]; left != 0; left &= left - 1) {
      const int64_t slot = begin + std::countr_zero(left);
      while (i < slot) first_slots_[i++] = next++;
      first_slots_[i++] = next;
      const SlotRange more = elements(start + slot);
      next += std::max<int64_t>(more.length, 1);
      if (more.length == 0) continue;
      filled_.words()[slot / 64] |= uint64_t{1} << (slot % 64);
      if (open.length > 0 && more.start == open.start + open.length) {
        open.length += more.length;
        continue;
      }
      if (open.length > 0) child_ranges_.UnsafeAppend(open);
      open = more;
    }
  }
  while (i < count) first_slots_[i++] = next++;
  if (open.length > 0) child_ranges_.UnsafeAppend(open);
  new_slot_count_ = next;
}

/// Goes over the slots: where each has its first slot from now on, whether it has elements, and the ranges of these.
template <typename Elements>
Status LevelsWriter::PlaceElements(const Elements& elements, LeafSlots* slots) {
  const int64_t count = slots->slot_count;
  const uint64_t* present = levels_ == 0 ? nullptr : reached()->words();
  const uint64_t* has = placed_ == 0 ? nullptr : definition_[placed_ - 1].words();
  ARROW_RETURN_NOT_OK(first_slots_.Resize(count));
  filled_.Clear();
  ARROW_RETURN_NOT_OK(filled_.Resize(count));
  ARROW_RETURN_NOT_OK(child_ranges_.Resize(count + 1));
  constexpr int64_t kMany = 16;
  if (present != nullptr && has == nullptr && slots->ranges.size() == 1 && reached()->CountSet() * kMany < count) {
    std::memset(filled_.words(), 0, static_cast<size_t>(filled_.words_count()) * sizeof(uint64_t));
    PlaceFewElements(elements, *slots);
    return Status::OK();
  }
  const SlotRange* range = slots->ranges.data();
  SlotRange* open = child_ranges_.data();
  int64_t in_range = 0, next = 0, open_start = 0, open_end = 0;
  bool any = false;
  // No branch depends on the values: which lists are null or empty is seldom foreseen.
  for (int64_t begin = 0; begin < count; begin += 64) {
    const int64_t end = std::min<int64_t>(begin + 64, count);
    const uint64_t present_word = present == nullptr ? ~uint64_t{0} : present[begin / 64];
    const uint64_t has_word = has == nullptr ? ~uint64_t{0} : has[begin / 64];
    uint64_t filled_word = 0;
    for (int64_t i = begin; i < end; ++i) {
      first_slots_[i] = next;
      if ((has_word >> (i - begin) & 1) == 0) {
        ++next;
        continue;
      }
      while (in_range == range->length) ++range, in_range = 0;
      SlotRange more = elements(range->start + in_range++);
      more.length &= -static_cast<int64_t>(present_word >> (i - begin) & 1);
      const bool filled = more.length > 0, fresh = filled && more.start != open_end;
      filled_word |= uint64_t{filled} << (i - begin);
      next += more.length + (filled ? 0 : 1);
      open += fresh && any ? 1 : 0;
      any |= filled;
      open_start = fresh ? more.start : open_start;
      open_end = filled ? more.start + more.length : open_end;
      *open = {open_start, open_end - open_start};
    }
    filled_.words()[begin / 64] = filled_word;
  }
  child_ranges_.UnsafeResize(any ? open - child_ranges_.data() + 1 : 0);
  new_slot_count_ = next;
  return Status::OK();
}

Status LevelsWriter::MarkFirsts() {
  firsts_.Clear();
  ARROW_RETURN_NOT_OK(firsts_.Resize(new_slot_count_));
  uint64_t* words = firsts_.words();
  int64_t open = 0;
  uint64_t word = 0;
  for (int64_t slot : first_slots_.span()) {
    if (slot / 64 != open) {
      words[open] = word;
      word = 0;
      open = slot / 64;
    }
    word |= uint64_t{1} << (slot % 64);
  }
  if (word != 0) words[open] = word;
  return Status::OK();
}

Status LevelsWriter::SpreadPlanes(LeafSlots* slots) {
  const auto spread = [&](BitPlane* plane) {
    ARROW_RETURN_NOT_OK(bits_.Resize(new_slot_count_));
    simd::ExpandBits(plane->words(), firsts_.words(), static_cast<size_t>(new_slot_count_), /*others=*/true,
                     bits_.words());
    std::swap(*plane, bits_);
    return Status::OK();
  };
  for (size_t k = 0; k < levels_; ++k) ARROW_RETURN_NOT_OK(spread(&definition_[k]));
  for (size_t k = 0; k < lists_; ++k) ARROW_RETURN_NOT_OK(spread(&repetition_[k]));
  std::swap(definition_[levels_], filled_);
  ARROW_RETURN_NOT_OK(spread(&definition_[levels_++]));
  BitPlane* plane = &repetition_[lists_++];
  ARROW_RETURN_NOT_OK(plane->Resize(0));
  ARROW_RETURN_NOT_OK(plane->AppendRun(true, new_slot_count_));
  for (int64_t w = 0; w < plane->words_count(); ++w) plane->words()[w] &= ~firsts_.words()[w];
  return Status::OK();
}

Status LevelsWriter::FinishValues(LeafSlots* slots) {
  const BitPlane* present = reached();
  int64_t room = 0;
  for (const SlotRange& range : slots->ranges.span()) room += range.length;
  slots->values = {{}, nullptr, 0, present == nullptr ? room : present->CountSet()};
  if (slots->values.count == room) return Status::OK();
  if (placed_ == 0) {
    slots->values.bits = present->bytes();
    return Status::OK();
  }
  ARROW_RETURN_NOT_OK(slots->value_bits.Resize(slots->slot_count));
  simd::CompressBits(present->words(), definition_[placed_ - 1].words(), static_cast<size_t>(slots->slot_count),
                     slots->value_bits.words());
  slots->values.bits = slots->value_bits.bytes();
  return Status::OK();
}

void LevelsWriter::CountLevels(LeafSlots* slots) const {
  if (slots->flat) return;
  const auto count = [&](std::span<const BitPlane> planes, LevelHistogram* histogram) {
    histogram->assign(planes.size() + 1, 0);
    int64_t left = slots->slot_count;
    for (size_t k = 0; k < planes.size(); ++k) {
      const int64_t above = planes[k].CountSet();
      (*histogram)[k] = left - above;
      left = above;
    }
    histogram->back() = left;
  };
  if (definition_.size() > 1) count(slots->definition_planes, &slots->definition_histogram);
  if (!repetition_.empty()) count(slots->repetition_planes, &slots->repetition_histogram);
}

}  // namespace calve::parquet
