#include "calve/parquet/value_gatherer.h"

#include "calve/base/status.h"
#include "calve/parquet/collect_values.h"

#include <arrow/type.h>

#include <algorithm>
#include <type_traits>

namespace calve::parquet {

using arrow::ArrayData;
using arrow::Type;

template <typename T>
Status ValueGatherer<T>::Bind(const ArrayData& array) {
  array_ = &array;
  if (array.dictionary == nullptr || array.dictionary == dictionary_) return Status::OK();
  dictionary_ = array.dictionary;
  entries_.Clear();
  ++entries_generation_;
  const int64_t length = dictionary_->length;
  ARROW_RETURN_NOT_OK(entry_positions_.Resize(length));
  if (dictionary_->type->id() == Type::NA) {
    std::fill_n(entry_positions_.data(), length, int64_t{-1});
    return Status::OK();
  }
  ArrayData values = *dictionary_;
  values.type = leaf_->value_type;
  int64_t count = 0;
  for (int64_t i = 0; i < length; ++i) entry_positions_[i] = values.IsNull(i) ? -1 : count++;
  if (count == 0) return Status::OK();
  const SlotRange all{0, length};
  ARROW_RETURN_NOT_OK(entries_.Reserve(count));
  const bool has_nulls = count < length;
  const ValueSlots slots{{&all, 1}, has_nulls ? values.buffers[0]->data() : nullptr, values.offset, count};
  return CollectValues(*leaf_, values, slots, &entries_, &entry_bytes_);
}

template <typename T>
template <typename Index>
Status ValueGatherer<T>::GatherPositionsAs(const ValueSlots& slots) {
  const Index* indices = array_->GetValues<Index>(1);
  const auto entries_count = static_cast<uint64_t>(entry_positions_.size());
  uint32_t* next = positions_.data();
  const Index* bad = nullptr;
  ForEachValue(slots, [&](int64_t i) {
    const auto entry = static_cast<uint64_t>(indices[i]);
    if (entry >= entries_count) {
      if (bad == nullptr) bad = indices + i;
      return;
    }
    *next++ = static_cast<uint32_t>(entry_positions_[static_cast<int64_t>(entry)]);
  });
  if (bad != nullptr) {
    return Invalid("dictionary index {} out of range (dictionary has {} values)", *bad, entries_count);
  }
  positions_.UnsafeResize(next - positions_.data());
  return Status::OK();
}

template <typename T>
Result<std::span<const uint32_t>> ValueGatherer<T>::GatherPositions(const ValueSlots& slots) {
  positions_.Clear();
  if (slots.count == 0) return positions_.span();
  ARROW_RETURN_NOT_OK(positions_.Reserve(slots.count));
  const auto gather = [&] {
    switch (static_cast<const arrow::DictionaryType&>(StorageType(*array_->type)).index_type()->id()) {
      case Type::INT8:
        return GatherPositionsAs<int8_t>(slots);
      case Type::UINT8:
        return GatherPositionsAs<uint8_t>(slots);
      case Type::INT16:
        return GatherPositionsAs<int16_t>(slots);
      case Type::UINT16:
        return GatherPositionsAs<uint16_t>(slots);
      case Type::INT32:
        return GatherPositionsAs<int32_t>(slots);
      case Type::UINT32:
        return GatherPositionsAs<uint32_t>(slots);
      case Type::INT64:
        return GatherPositionsAs<int64_t>(slots);
      default:
        return GatherPositionsAs<uint64_t>(slots);
    }
  };
  ARROW_RETURN_NOT_OK(gather());
  return positions_.span();
}

/// True when the array's values are those of the file, one after another.
template <typename T>
bool ValueGatherer<T>::IsStoredAsWritten() const {
  const arrow::DataType& type = *array_->type;
  switch (type.id()) {
    case Type::INT32:
    case Type::UINT32:
    case Type::INT64:
    case Type::UINT64:
    case Type::FLOAT:
    case Type::DOUBLE:
    case Type::DATE32:
    case Type::TIME64:
    case Type::DURATION:
      return true;
    case Type::TIMESTAMP:
      return static_cast<const arrow::TimestampType&>(type).unit() != arrow::TimeUnit::SECOND;
    case Type::TIME32:
      return static_cast<const arrow::TimeType&>(type).unit() != arrow::TimeUnit::SECOND;
    default:
      return false;
  }
}

template <typename T>
Result<std::span<const T>> ValueGatherer<T>::Gather(const ValueSlots& slots) {
  values_.Clear();
  if (slots.count == 0) return values_.span();
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, uint8_t>) {
    if (slots.bits == nullptr && slots.ranges.size() == 1 && IsStoredAsWritten()) {
      return std::span<const T>(array_->GetValues<T>(1) + slots.ranges[0].start, static_cast<size_t>(slots.count));
    }
  }
  ARROW_RETURN_NOT_OK(values_.Reserve(slots.count));
  if (!has_entries()) {
    ARROW_RETURN_NOT_OK(CollectValues(*leaf_, *array_, slots, &values_, &bytes_));
    return values_.span();
  }
  ARROW_ASSIGN_OR_RAISE(auto positions, GatherPositions(slots));
  for (uint32_t position : positions) values_.UnsafeAppend(entries_[position]);
  return values_.span();
}

template class ValueGatherer<uint8_t>;
template class ValueGatherer<int32_t>;
template class ValueGatherer<int64_t>;
template class ValueGatherer<float>;
template class ValueGatherer<double>;
template class ValueGatherer<std::string_view>;

}  // namespace calve::parquet
