// Arrow values -> physical values:
//
//   int8, int16 and unsigned           INT32, sign- or zero-extended;   uint32, uint64: their bits
//   date64                             INT32 days;   time32[s], timestamp[s]: milliseconds
//   decimal, precision <= 9, <= 18     INT32, INT64;   beyond: FIXED_LEN_BYTE_ARRAY, big-endian two's complement
//   month_day_nano                     FIXED_LEN_BYTE_ARRAY(12): months, days, milliseconds, each a little-endian u32
//   dictionary                         its values

#include "calve/parquet/value_gatherer.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/simd/compact.h"

#include <arrow/type.h>
#include <arrow/util/binary_view_util.h>
#include <arrow/util/bit_run_reader.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <limits>
#include <type_traits>
#include <utility>

namespace calve::parquet {
namespace {

using arrow::ArrayData;
using arrow::Type;

constexpr int64_t kMillisPerDay = 86400000;

/// Calls `visit(first, length)` for the runs of values in `slots`, positions in the array's buffers.
template <typename Visit>
Status VisitRuns(const ArrayData& array, const ValueSlots& slots, Visit&& visit) {
  int64_t bit = slots.bits_offset;
  for (const SlotRange& range : slots.ranges) {
    const int64_t start = array.offset + range.start;
    if (slots.bits == nullptr) {
      ARROW_RETURN_NOT_OK(visit(start, range.length));
      continue;
    }
    ARROW_RETURN_NOT_OK(arrow::internal::VisitSetBitRuns(
        slots.bits, bit, range.length,
        [&](int64_t position, int64_t length) { return visit(start + position, length); }));
    bit += range.length;
  }
  return Status::OK();
}

/// Appends `get(position)` of every value, positions in the array's buffers; there is room.
template <typename T, typename Get>
Status CollectEach(const ArrayData& array, const ValueSlots& slots, PoolVector<T>* out, Get&& get) {
  T* next = out->data() + out->size();
  ForEachValue(slots, [&](int64_t i) { *next++ = get(array.offset + i); });
  out->UnsafeResize(next - out->data());
  return Status::OK();
}

template <typename Stored, typename T>
Status CollectWidened(const ArrayData& array, const ValueSlots& slots, PoolVector<T>* out) {
  const Stored* values = array.GetValues<Stored>(1, 0);
  return CollectEach(array, slots, out, [&](int64_t i) { return static_cast<T>(values[i]); });
}

/// Values that are written as they are stored.
template <typename T>
Status CollectSame(const ArrayData& array, const ValueSlots& slots, PoolVector<T>* out) {
  const auto* values = reinterpret_cast<const uint8_t*>(array.GetValues<T>(1));
  int64_t bit = slots.bits_offset;
  for (const SlotRange& range : slots.ranges) {
    const uint8_t* first = values + range.start * static_cast<int64_t>(sizeof(T));
    if (slots.bits == nullptr) {
      out->UnsafeAppend(reinterpret_cast<const T*>(first), range.length);
      continue;
    }
    const size_t copied =
        simd::Compact(first, sizeof(T), slots.bits, static_cast<size_t>(bit), static_cast<size_t>(range.length),
                      reinterpret_cast<uint8_t*>(out->data() + out->size()));
    out->UnsafeResize(out->size() + static_cast<int64_t>(copied));
    bit += range.length;
  }
  return Status::OK();
}

/// `convert(value)` is an optional<T>; none: the value does not fit.
template <typename Stored, typename T, typename Convert>
Status CollectChecked(const ArrayData& array, const ValueSlots& slots, PoolVector<T>* out, Convert&& convert) {
  const Stored* values = array.GetValues<Stored>(1, 0);
  return VisitRuns(array, slots, [&](int64_t first, int64_t length) {
    for (int64_t i = first; i < first + length; ++i) {
      std::optional<T> value = convert(values[i]);
      if (!value) return Invalid("{} value {} is outside what Parquet holds", array.type->ToString(), values[i]);
      out->UnsafeAppend(*value);
    }
    return Status::OK();
  });
}

std::optional<int32_t> DaysOfMillis(int64_t millis) {
  const int64_t days = millis / kMillisPerDay - (millis % kMillisPerDay < 0 ? 1 : 0);
  if (days < std::numeric_limits<int32_t>::min() || days > std::numeric_limits<int32_t>::max()) return std::nullopt;
  return static_cast<int32_t>(days);
}

/// True when a little-endian two's complement number of `width` bytes is the sign-extension of its first `kept`.
bool FitsBytes(const uint8_t* value, int width, int kept) {
  const uint8_t sign = (value[kept - 1] & 0x80) != 0 ? 0xFF : 0x00;
  for (int i = kept; i < width; ++i) {
    if (value[i] != sign) return false;
  }
  return true;
}

Status DecimalTooLarge(const ArrayData& array) {
  return Invalid("a value has more digits than {} allows", array.type->ToString());
}

template <typename T>
Status CollectDecimals(const ArrayData& array, const ValueSlots& slots, PoolVector<T>* out) {
  const int width = array.type->byte_width();
  const uint8_t* values = array.buffers[1]->data();
  return VisitRuns(array, slots, [&](int64_t first, int64_t length) {
    for (int64_t i = first; i < first + length; ++i) {
      if (!FitsBytes(values + i * width, width, std::min<int>(width, sizeof(T)))) return DecimalTooLarge(array);
      T value;
      if (width < static_cast<int>(sizeof(T))) {
        int32_t narrow;
        std::memcpy(&narrow, values + i * width, sizeof(narrow));
        value = narrow;
      } else {
        std::memcpy(&value, values + i * width, sizeof(value));
      }
      out->UnsafeAppend(value);
    }
    return Status::OK();
  });
}

Status Collect(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots, PoolVector<uint8_t>* out,
               ByteBuffer*) {
  const uint8_t* bits = array.buffers[1]->data();
  return CollectEach(array, slots, out,
                     [&](int64_t i) { return static_cast<uint8_t>(arrow::bit_util::GetBit(bits, i)); });
}

Status Collect(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots, PoolVector<int32_t>* out,
               ByteBuffer*) {
  switch (array.type->id()) {
    case Type::INT8:
      return CollectWidened<int8_t>(array, slots, out);
    case Type::UINT8:
      return CollectWidened<uint8_t>(array, slots, out);
    case Type::INT16:
      return CollectWidened<int16_t>(array, slots, out);
    case Type::UINT16:
      return CollectWidened<uint16_t>(array, slots, out);
    case Type::DATE64:
      return CollectChecked<int64_t>(array, slots, out, DaysOfMillis);
    case Type::TIME32:
      if (static_cast<const arrow::TimeType&>(*array.type).unit() == arrow::TimeUnit::SECOND) {
        return CollectChecked<int32_t>(array, slots, out,
                                       [](int32_t value) { return CheckedMultiply<int32_t>(value, 1000); });
      }
      return CollectSame(array, slots, out);
    case Type::DECIMAL32:
    case Type::DECIMAL64:
    case Type::DECIMAL128:
    case Type::DECIMAL256:
      return CollectDecimals(array, slots, out);
    default:
      return CollectSame(array, slots, out);
  }
}

Status Collect(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots, PoolVector<int64_t>* out,
               ByteBuffer*) {
  switch (array.type->id()) {
    case Type::TIMESTAMP:
      if (static_cast<const arrow::TimestampType&>(*array.type).unit() == arrow::TimeUnit::SECOND) {
        return CollectChecked<int64_t>(array, slots, out,
                                       [](int64_t value) { return CheckedMultiply<int64_t>(value, 1000); });
      }
      return CollectSame(array, slots, out);
    case Type::DECIMAL32:
    case Type::DECIMAL64:
    case Type::DECIMAL128:
    case Type::DECIMAL256:
      return CollectDecimals(array, slots, out);
    default:
      return CollectSame(array, slots, out);
  }
}

Status Collect(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots, PoolVector<float>* out,
               ByteBuffer*) {
  return CollectSame(array, slots, out);
}

Status Collect(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots, PoolVector<double>* out,
               ByteBuffer*) {
  return CollectSame(array, slots, out);
}

template <typename Offset>
Status CollectBinary(const ArrayData& array, const ValueSlots& slots, PoolVector<std::string_view>* out) {
  const Offset* offsets = array.GetValues<Offset>(1, 0);
  const char* bytes = array.buffers[2] != nullptr ? reinterpret_cast<const char*>(array.buffers[2]->data()) : "";
  return CollectEach(array, slots, out, [&](int64_t i) {
    return std::string_view(bytes + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i]));
  });
}

Status CollectViews(const ArrayData& array, const ValueSlots& slots, PoolVector<std::string_view>* out) {
  const auto* views = array.GetValues<arrow::BinaryViewType::c_type>(1, 0);
  const std::shared_ptr<arrow::Buffer>* buffers = array.buffers.data() + 2;
  return CollectEach(array, slots, out, [&](int64_t i) { return arrow::util::FromBinaryView(views[i], buffers); });
}

Status CollectFixed(const ArrayData& array, const ValueSlots& slots, int width, PoolVector<std::string_view>* out) {
  const char* bytes = reinterpret_cast<const char*>(array.buffers[1]->data());
  return CollectEach(array, slots, out,
                     [&](int64_t i) { return std::string_view(bytes + i * width, static_cast<size_t>(width)); });
}

/// Appends values of `written` bytes, made by `convert(value, out)` from `width` stored ones. `out` has room.
template <typename Convert>
Status CollectConverted(const ArrayData& array, const ValueSlots& slots, int width, int written,
                        PoolVector<std::string_view>* out, ByteBuffer* bytes, Convert&& convert) {
  bytes->Clear();
  ARROW_RETURN_NOT_OK(bytes->Resize(slots.count * written));
  const uint8_t* values = array.buffers[1]->data();
  uint8_t* next = bytes->data();
  return VisitRuns(array, slots, [&](int64_t first, int64_t length) {
    for (int64_t i = first; i < first + length; ++i, next += written) {
      ARROW_RETURN_NOT_OK(convert(values + i * width, next));
      out->UnsafeAppend(std::string_view(reinterpret_cast<const char*>(next), static_cast<size_t>(written)));
    }
    return Status::OK();
  });
}

Status CollectWideDecimals(const ArrayData& array, const ValueSlots& slots, int written,
                           PoolVector<std::string_view>* out, ByteBuffer* bytes) {
  const int width = array.type->byte_width();
  return CollectConverted(array, slots, width, written, out, bytes, [&](const uint8_t* value, uint8_t* target) {
    if (!FitsBytes(value, width, written)) return DecimalTooLarge(array);
    for (int i = 0; i < written; ++i) target[i] = value[written - 1 - i];
    return Status::OK();
  });
}

Status CollectIntervals(const ArrayData& array, const ValueSlots& slots, PoolVector<std::string_view>* out,
                        ByteBuffer* bytes) {
  using Interval = arrow::MonthDayNanoIntervalType::MonthDayNanos;
  constexpr int64_t kNanosPerMilli = 1000000;
  return CollectConverted(array, slots, sizeof(Interval), 12, out, bytes, [](const uint8_t* value, uint8_t* target) {
    Interval interval;
    std::memcpy(&interval, value, sizeof(interval));
    const int64_t millis = interval.nanoseconds / kNanosPerMilli;
    if (interval.months < 0 || interval.days < 0 || interval.nanoseconds < 0 ||
        interval.nanoseconds % kNanosPerMilli != 0 || millis > std::numeric_limits<uint32_t>::max()) {
      return Invalid("Parquet intervals are whole milliseconds and not negative: {} months, {} days, {} ns",
                     interval.months, interval.days, interval.nanoseconds);
    }
    const uint32_t parts[3] = {static_cast<uint32_t>(interval.months), static_cast<uint32_t>(interval.days),
                               static_cast<uint32_t>(millis)};
    std::memcpy(target, parts, sizeof(parts));
    return Status::OK();
  });
}

Status Collect(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots,
               PoolVector<std::string_view>* out, ByteBuffer* bytes) {
  switch (array.type->id()) {
    case Type::STRING:
    case Type::BINARY:
      return CollectBinary<int32_t>(array, slots, out);
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      return CollectBinary<int64_t>(array, slots, out);
    case Type::STRING_VIEW:
    case Type::BINARY_VIEW:
      return CollectViews(array, slots, out);
    case Type::DECIMAL128:
    case Type::DECIMAL256:
      return CollectWideDecimals(array, slots, leaf.column.element.type_length, out, bytes);
    case Type::INTERVAL_MONTH_DAY_NANO:
      return CollectIntervals(array, slots, out, bytes);
    default:
      return CollectFixed(array, slots, leaf.column.element.type_length, out);
  }
}

}  // namespace

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
  return Collect(*leaf_, values, slots, &entries_, &entry_bytes_);
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
    ARROW_RETURN_NOT_OK(Collect(*leaf_, *array_, slots, &values_, &bytes_));
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
