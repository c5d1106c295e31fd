// Levels of a leaf below optional nodes and lists. A slot that ends early has the level of the node that it ends at:
//
//   required struct, list or leaf       no level of its own
//   optional node                       null: null_level;  otherwise present_level = null_level + 1
//   list                                empty: present_level;  with elements: element_level = present_level + 1
//
// The first slot of a row has repetition level 0, the first of any further element that of its list. What lies under a
// null (a null list over a range that is not empty, a null struct over values) is never visited.

#include "calve/parquet/levels_writer.h"

#include "calve/base/status.h"

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/type.h>
#include <arrow/util/bit_run_reader.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

namespace calve::parquet {
namespace {

const uint8_t* Validity(const arrow::ArrayData& array) {
  return array.null_count != 0 && array.buffers[0] != nullptr ? array.buffers[0]->data() : nullptr;
}

Status NullInRequired(const PathStep& step) { return Invalid("column '{}': null in a required field", step.name); }

/// Clears the validity bits of slots whose index points at a null.
template <typename Index>
void ClearNullEntries(const arrow::ArrayData& array, uint8_t* validity) {
  const arrow::ArrayData& dictionary = *array.dictionary;
  const uint8_t* entries = Validity(dictionary);
  const Index* indices = array.GetValues<Index>(1);
  for (int64_t i = 0; i < array.length; ++i) {
    if (!arrow::bit_util::GetBit(validity, array.offset + i)) continue;
    const auto entry = static_cast<int64_t>(indices[i]);
    // An index out of range is reported when the values are gathered.
    if (entry < 0 || entry >= dictionary.length) continue;
    const bool valid =
        dictionary.type->id() != arrow::Type::NA && arrow::bit_util::GetBit(entries, dictionary.offset + entry);
    if (!valid) arrow::bit_util::ClearBit(validity, array.offset + i);
  }
}

void ClearNullEntries(const arrow::ArrayData& array, arrow::Type::type index_type, uint8_t* validity) {
  switch (index_type) {
    case arrow::Type::INT8:
      return ClearNullEntries<int8_t>(array, validity);
    case arrow::Type::UINT8:
      return ClearNullEntries<uint8_t>(array, validity);
    case arrow::Type::INT16:
      return ClearNullEntries<int16_t>(array, validity);
    case arrow::Type::UINT16:
      return ClearNullEntries<uint16_t>(array, validity);
    case arrow::Type::INT32:
      return ClearNullEntries<int32_t>(array, validity);
    case arrow::Type::UINT32:
      return ClearNullEntries<uint32_t>(array, validity);
    case arrow::Type::INT64:
      return ClearNullEntries<int64_t>(array, validity);
    default:
      return ClearNullEntries<uint64_t>(array, validity);
  }
}

}  // namespace

Status LevelsWriter::BindLeaf(const arrow::ArrayData& array) {
  leaf_array_ = array.Copy();
  const arrow::DataType& type = StorageType(*array.type);
  if (type.id() != arrow::Type::DICTIONARY) {
    leaf_array_->type = leaf_->value_type;
    return Status::OK();
  }
  const arrow::ArrayData& dictionary = *array.dictionary;
  if (dictionary.type->id() != arrow::Type::NA && Validity(dictionary) == nullptr) return Status::OK();
  const int64_t bits = array.offset + array.length;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity, arrow::AllocateEmptyBitmap(bits, pool_));
  if (const uint8_t* own = Validity(array)) {
    arrow::internal::CopyBitmap(own, array.offset, array.length, validity->mutable_data(), array.offset);
  } else {
    arrow::bit_util::SetBitsTo(validity->mutable_data(), array.offset, array.length, true);
  }
  ClearNullEntries(array, static_cast<const arrow::DictionaryType&>(type).index_type()->id(), validity->mutable_data());
  leaf_array_->buffers[0] = std::move(validity);
  leaf_array_->null_count = arrow::kUnknownNullCount;
  return Status::OK();
}

Status LevelsWriter::Bind(const arrow::ArrayData& field) {
  arrays_.clear();
  const arrow::ArrayData* array = &field;
  for (const PathStep& step : leaf_->steps) {
    arrays_.push_back(array);
    if (step.kind != PathStep::Kind::kLeaf) array = array->child_data[step.child_index].get();
  }
  ARROW_RETURN_NOT_OK(BindLeaf(*array));
  arrays_.back() = leaf_array_.get();
  return Status::OK();
}

void LevelsWriter::Unbind() {
  arrays_.clear();
  leaf_array_.reset();
}

Status LevelsWriter::Build(int64_t row, int64_t count, LeafSlots* slots) {
  ARROW_RETURN_NOT_OK(BuildLevels(row, count, slots));
  CountLevels(slots);
  return Status::OK();
}

void LevelsWriter::CountLevels(LeafSlots* slots) const {
  const auto sized = [](int max_level) { return max_level == 0 ? 0 : static_cast<size_t>(max_level) + 1; };
  slots->definition_histogram.assign(sized(leaf_->column.max_definition_level), 0);
  slots->repetition_histogram.assign(sized(leaf_->column.max_repetition_level), 0);
  if (slots->flat) {
    if (slots->definition_histogram.empty()) return;
    slots->definition_histogram = {slots->slot_count - slots->value_count, slots->value_count};
    return;
  }
  for (int16_t level : slots->definition_levels.span()) {
    if (!slots->definition_histogram.empty()) ++slots->definition_histogram[static_cast<size_t>(level)];
  }
  for (int16_t level : slots->repetition_levels.span()) ++slots->repetition_histogram[static_cast<size_t>(level)];
}

Status LevelsWriter::BuildLevels(int64_t row, int64_t count, LeafSlots* slots) {
  slots->row_count = count;
  slots->slot_count = slots->value_count = 0;
  slots->definition_levels.Clear();
  slots->repetition_levels.Clear();
  slots->ranges.Clear();
  slots->flat = leaf_->steps.size() == 1;
  if (slots->flat) return BuildFlat(row, count, slots);
  // Rows are neighbours without a list around them, so all of them begin with repetition level 0.
  return Visit(0, {row, count}, 0, slots);
}

Status LevelsWriter::BuildFlat(int64_t row, int64_t count, LeafSlots* slots) {
  slots->slot_count = count;
  slots->all_null = leaf_array_->type->id() == arrow::Type::NA;
  slots->validity = slots->all_null ? nullptr : Validity(*leaf_array_);
  slots->validity_offset = leaf_array_->offset + row;
  slots->value_count = slots->all_null ? 0
                       : slots->validity == nullptr
                           ? count
                           : arrow::internal::CountSetBits(slots->validity, slots->validity_offset, count);
  if (!leaf_->steps[0].nullable && slots->value_count != count) return NullInRequired(leaf_->steps[0]);
  return slots->ranges.Append({row, count});
}

Status LevelsWriter::AppendLevels(const PathStep& step, int level, int64_t count, int16_t first_repetition,
                                  LeafSlots* slots) {
  if (count == 0) return Status::OK();
  ARROW_RETURN_NOT_OK(slots->definition_levels.AppendRun(static_cast<int16_t>(level), count));
  slots->slot_count += count;
  if (leaf_->column.max_repetition_level == 0) return Status::OK();
  ARROW_RETURN_NOT_OK(slots->repetition_levels.Append(first_repetition));
  return slots->repetition_levels.AppendRun(static_cast<int16_t>(step.repetition_level), count - 1);
}

Status LevelsWriter::AppendRange(SlotRange range, LeafSlots* slots) {
  if (!slots->ranges.empty()) {
    SlotRange& last = slots->ranges[slots->ranges.size() - 1];
    if (last.start + last.length == range.start) {
      last.length += range.length;
      return Status::OK();
    }
  }
  return slots->ranges.Append(range);
}

Status LevelsWriter::Visit(size_t depth, SlotRange range, int16_t first_repetition, LeafSlots* slots) {
  const PathStep& step = leaf_->steps[depth];
  const arrow::ArrayData& array = *arrays_[depth];
  if (array.type->id() == arrow::Type::NA) {
    return AppendLevels(step, step.null_level, range.length, first_repetition, slots);
  }
  const bool is_leaf = step.kind == PathStep::Kind::kLeaf;
  if (is_leaf) ARROW_RETURN_NOT_OK(AppendRange(range, slots));
  const uint8_t* validity = Validity(array);
  if (validity == nullptr) return VisitPresent(depth, range, first_repetition, slots);
  arrow::internal::BitRunReader runs(validity, array.offset + range.start, range.length);
  for (int64_t start = range.start; start < range.start + range.length;) {
    const arrow::internal::BitRun run = runs.NextRun();
    if (run.set) {
      ARROW_RETURN_NOT_OK(VisitPresent(depth, {start, run.length}, first_repetition, slots));
    } else {
      if (!step.nullable) return NullInRequired(step);
      ARROW_RETURN_NOT_OK(AppendLevels(step, step.null_level, run.length, first_repetition, slots));
    }
    first_repetition = static_cast<int16_t>(step.repetition_level);
    start += run.length;
  }
  return Status::OK();
}

Status LevelsWriter::VisitPresent(size_t depth, SlotRange range, int16_t first_repetition, LeafSlots* slots) {
  const PathStep& step = leaf_->steps[depth];
  switch (step.kind) {
    case PathStep::Kind::kLeaf:
      slots->value_count += range.length;
      return AppendLevels(step, step.present_level, range.length, first_repetition, slots);
    case PathStep::Kind::kStruct:
      // A struct's children are not sliced with it.
      range.start += arrays_[depth]->offset;
      return Visit(depth + 1, range, first_repetition, slots);
    case PathStep::Kind::kList:
      return VisitLists<int32_t>(depth, range, first_repetition, slots);
    case PathStep::Kind::kLargeList:
      return VisitLists<int64_t>(depth, range, first_repetition, slots);
    case PathStep::Kind::kFixedSizeList:
      return VisitFixedSizeLists(depth, range, first_repetition, slots);
  }
  return Status::OK();
}

template <typename Offset>
Status LevelsWriter::VisitLists(size_t depth, SlotRange range, int16_t first_repetition, LeafSlots* slots) {
  const PathStep& step = leaf_->steps[depth];
  const Offset* offsets = arrays_[depth]->GetValues<Offset>(1) + range.start;
  for (int64_t i = 0; i < range.length; ++i) {
    const SlotRange elements{offsets[i], offsets[i + 1] - offsets[i]};
    if (elements.length == 0) {
      ARROW_RETURN_NOT_OK(AppendLevels(step, step.present_level, 1, first_repetition, slots));
    } else {
      ARROW_RETURN_NOT_OK(Visit(depth + 1, elements, first_repetition, slots));
    }
    first_repetition = static_cast<int16_t>(step.repetition_level);
  }
  return Status::OK();
}

Status LevelsWriter::VisitFixedSizeLists(size_t depth, SlotRange range, int16_t first_repetition, LeafSlots* slots) {
  const PathStep& step = leaf_->steps[depth];
  const int64_t size = step.list_size;
  if (size == 0) return AppendLevels(step, step.present_level, range.length, first_repetition, slots);
  for (int64_t i = 0; i < range.length; ++i) {
    const SlotRange elements{(arrays_[depth]->offset + range.start + i) * size, size};
    ARROW_RETURN_NOT_OK(Visit(depth + 1, elements, first_repetition, slots));
    first_repetition = static_cast<int16_t>(step.repetition_level);
  }
  return Status::OK();
}

}  // namespace calve::parquet
