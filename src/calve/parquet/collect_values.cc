// Arrow values -> physical values:
//
//   int8, int16 and unsigned           INT32, sign- or zero-extended;   uint32, uint64: their bits
//   date64                             INT32 days;   time32[s], timestamp[s]: milliseconds
//   decimal, precision <= 9, <= 18     INT32, INT64;   beyond: FIXED_LEN_BYTE_ARRAY, big-endian two's complement
//   month_day_nano                     FIXED_LEN_BYTE_ARRAY(12): months, days, milliseconds, each a little-endian u32

#include "calve/parquet/collect_values.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/simd/compact.h"

#include <arrow/type.h>
#include <arrow/util/binary_view_util.h>
#include <arrow/util/bit_run_reader.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <cstring>
#include <limits>
#include <optional>
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

}  // namespace

Status CollectValues(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots, PoolVector<uint8_t>* out,
                     ByteBuffer*) {
  const uint8_t* bits = array.buffers[1]->data();
  return CollectEach(array, slots, out,
                     [&](int64_t i) { return static_cast<uint8_t>(arrow::bit_util::GetBit(bits, i)); });
}

Status CollectValues(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots, PoolVector<int32_t>* out,
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

Status CollectValues(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots, PoolVector<int64_t>* out,
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

Status CollectValues(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots, PoolVector<float>* out,
                     ByteBuffer*) {
  return CollectSame(array, slots, out);
}

Status CollectValues(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots, PoolVector<double>* out,
                     ByteBuffer*) {
  return CollectSame(array, slots, out);
}

Status CollectValues(const WrittenLeaf& leaf, const ArrayData& array, const ValueSlots& slots,
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

}  // namespace calve::parquet
