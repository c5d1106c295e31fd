#include "calve/parquet/chunk_bounds.h"

#include "calve/base/checked.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/float16.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace calve::parquet {
namespace {

using arrow::Type;
using arrow::internal::checked_cast;

const arrow::DataType& StorageOf(const arrow::DataType& type) {
  if (type.id() != Type::EXTENSION) return type;
  return *checked_cast<const arrow::ExtensionType&>(type).storage_type();
}

template <typename T>
std::optional<T> Exactly(std::string_view bytes) {
  if (bytes.size() != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

/// Nanoseconds in a tick of a time or timestamp type, or 0 for other types.
int64_t NanosPerTick(const arrow::DataType& type) {
  static constexpr int64_t kNanos[] = {1000000000, 1000000, 1000, 1};
  switch (type.id()) {
    case Type::TIMESTAMP:
      return kNanos[checked_cast<const arrow::TimestampType&>(type).unit()];
    case Type::TIME32:
    case Type::TIME64:
      return kNanos[checked_cast<const arrow::TimeType&>(type).unit()];
    default:
      return 0;
  }
}

/// Ticks of one unit as ticks of another.
Value Rescaled(int64_t ticks, int64_t from_nanos, int64_t to_nanos, bool is_lower) {
  if (from_nanos >= to_nanos) {
    auto result = CheckedMultiply<int64_t>(ticks, from_nanos / to_nanos);
    return result ? Value(*result) : Value();
  }
  const int64_t divisor = to_nanos / from_nanos;
  int64_t result = ticks / divisor;
  const int64_t rest = ticks % divisor;
  if (is_lower && rest < 0) --result;
  if (!is_lower && rest > 0) ++result;
  return result;
}

Value Int32Of(int64_t value) {
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) return {};
  return static_cast<int32_t>(value);
}

Value IntegerBound(int64_t value, const arrow::DataType& file_type, const arrow::DataType& type, bool is_lower) {
  switch (type.id()) {
    case Type::INT8:
    case Type::INT16:
    case Type::UINT8:
    case Type::UINT16:
    case Type::INT32:
    case Type::DATE32:
      return Int32Of(value);
    case Type::UINT32:
    case Type::INT64:
      return value;
    case Type::DECIMAL128:
      return arrow::Decimal128(value);
    case Type::TIME32:
      return file_type.Equals(type) ? Int32Of(value) : Value();
    case Type::TIMESTAMP:
    case Type::TIME64: {
      constexpr int64_t kNanosPerSecond = 1000000000;
      if (file_type.id() != Type::DATE32) {
        const int64_t from_nanos = NanosPerTick(file_type);
        return from_nanos > 0 ? Rescaled(value, from_nanos, NanosPerTick(type), is_lower) : Value();
      }
      auto seconds = CheckedMultiply<int64_t>(value, 86400);
      return seconds ? Rescaled(*seconds, kNanosPerSecond, NanosPerTick(type), is_lower) : Value();
    }
    default:
      return {};
  }
}

template <typename T>
Value RealBound(std::optional<T> value, const arrow::DataType& type) {
  if (!value || std::isnan(*value)) return {};
  if (type.id() == Type::DOUBLE) return static_cast<double>(*value);
  if constexpr (sizeof(T) == 4) {
    if (type.id() == Type::FLOAT) return *value;
  }
  return {};
}

Value DecimalBound(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > 16) return {};
  auto decimal =
      arrow::Decimal128::FromBigEndian(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  return decimal.ok() ? Value(*decimal) : Value();
}

Value BytesBound(std::string_view bytes, const arrow::DataType& file_type, const arrow::DataType& type) {
  if (arrow::is_decimal(file_type.id())) return type.id() == Type::DECIMAL128 ? DecimalBound(bytes) : Value();
  switch (type.id()) {
    case Type::STRING:
    case Type::LARGE_STRING:
    case Type::STRING_VIEW:
    case Type::BINARY:
    case Type::LARGE_BINARY:
    case Type::BINARY_VIEW:
      return std::string(bytes);
    case Type::FIXED_SIZE_BINARY: {
      // A bound may be cut short; as a value of the type it is then none.
      const auto width = static_cast<size_t>(checked_cast<const arrow::FixedSizeBinaryType&>(type).byte_width());
      return bytes.size() == width ? Value(std::string(bytes)) : Value();
    }
    default:
      return {};
  }
}

/// An unsigned number of 64 bits, which is a decimal as a value.
Value UnsignedBound(std::string_view bytes) {
  auto value = Exactly<uint64_t>(bytes);
  return value ? Value(arrow::Decimal128(0, *value)) : Value();
}

Value HalfBound(std::string_view bytes, const arrow::DataType& type) {
  auto bits = Exactly<uint16_t>(bytes);
  if (!bits || type.id() != Type::HALF_FLOAT) return {};
  const float value = arrow::util::Float16::FromBits(*bits).ToFloat();
  return std::isnan(value) ? Value() : Value(value);
}

std::optional<int64_t> IntegerOf(PhysicalType physical, const arrow::DataType& file_type, std::string_view bytes) {
  const bool is_unsigned = arrow::is_unsigned_integer(file_type.id());
  if (physical == PhysicalType::kInt32) {
    auto value = Exactly<int32_t>(bytes);
    if (!value) return std::nullopt;
    return is_unsigned ? static_cast<int64_t>(static_cast<uint32_t>(*value)) : *value;
  }
  auto value = Exactly<int64_t>(bytes);
  // What a signed number cannot hold has no form as a value.
  if (value && is_unsigned && *value < 0) return std::nullopt;
  return value;
}

/// Types whose order is that of signed numbers, which the deprecated members were written in.
bool HasSignedOrder(PhysicalType physical, const arrow::DataType& file_type) {
  switch (physical) {
    case PhysicalType::kBoolean:
    case PhysicalType::kFloat:
    case PhysicalType::kDouble:
      return true;
    case PhysicalType::kInt32:
    case PhysicalType::kInt64:
      return !arrow::is_unsigned_integer(file_type.id());
    default:
      return false;
  }
}

}  // namespace

Value DecodeBound(PhysicalType physical, const arrow::DataType& file_type_or_extension, std::string_view bytes,
                  const arrow::DataType& type_or_extension, bool is_lower) {
  const arrow::DataType& file_type = StorageOf(file_type_or_extension);
  const arrow::DataType& type = StorageOf(type_or_extension);
  switch (physical) {
    case PhysicalType::kBoolean: {
      auto value = Exactly<uint8_t>(bytes);
      return value && type.id() == Type::BOOL ? Value(*value != 0) : Value();
    }
    case PhysicalType::kInt32:
    case PhysicalType::kInt64: {
      if (file_type.id() == Type::UINT64 && type.id() == Type::UINT64) return UnsignedBound(bytes);
      auto value = IntegerOf(physical, file_type, bytes);
      return value ? IntegerBound(*value, file_type, type, is_lower) : Value();
    }
    case PhysicalType::kFloat:
      return RealBound(Exactly<float>(bytes), type);
    case PhysicalType::kDouble:
      return RealBound(Exactly<double>(bytes), type);
    case PhysicalType::kByteArray:
    case PhysicalType::kFixedLenByteArray:
      if (file_type.id() == Type::HALF_FLOAT) return HalfBound(bytes, type);
      return BytesBound(bytes, file_type, type);
    case PhysicalType::kInt96:
      return {};
  }
  return {};
}

namespace {

/// Bounds the wrong way round are those of a faulty writer and say nothing.
void DropReversed(expr::ColumnBounds* bounds) {
  const auto order = Compare(bounds->lower, bounds->upper);
  const bool both = !IsNull(bounds->lower) && !IsNull(bounds->upper);
  if (both && order != std::partial_ordering::less && order != std::partial_ordering::equivalent) {
    bounds->lower = bounds->upper = Value();
  }
}

/// A count of some of `all` values, nothing when it cannot be one.
std::optional<int64_t> Plausible(std::optional<int64_t> count, int64_t all) {
  return count && *count >= 0 && *count <= all ? count : std::nullopt;
}

std::optional<int64_t> At(const std::optional<std::vector<int64_t>>& counts, size_t i) {
  return counts ? std::optional((*counts)[i]) : std::nullopt;
}

}  // namespace

expr::ColumnBounds BoundsOfChunk(const ColumnMetadata& chunk, const arrow::DataType& file_type, bool type_defined_order,
                                 const arrow::DataType& type) {
  expr::ColumnBounds bounds;
  bounds.value_count = chunk.num_values;
  if (!chunk.statistics) return bounds;
  const Statistics& statistics = *chunk.statistics;
  bounds.null_count = Plausible(statistics.null_count, chunk.num_values);
  bounds.nan_count = Plausible(statistics.nan_count, chunk.num_values);
  const std::optional<std::string>* lower = &statistics.min_value;
  const std::optional<std::string>* upper = &statistics.max_value;
  if (!type_defined_order) {
    if (!HasSignedOrder(chunk.type, StorageOf(file_type))) return bounds;
    lower = &statistics.min;
    upper = &statistics.max;
  }
  if (*lower) bounds.lower = DecodeBound(chunk.type, file_type, **lower, type, true);
  if (*upper) bounds.upper = DecodeBound(chunk.type, file_type, **upper, type, false);
  DropReversed(&bounds);
  return bounds;
}

expr::ColumnBounds BoundsOfPage(const ColumnIndex& index, size_t page, int64_t rows, PhysicalType physical,
                                const arrow::DataType& file_type, bool type_defined_order,
                                const arrow::DataType& type) {
  expr::ColumnBounds bounds;
  bounds.value_count = rows;
  if (index.null_pages[page]) {
    bounds.null_count = rows;
    return bounds;
  }
  bounds.null_count = Plausible(At(index.null_counts, page), rows);
  bounds.nan_count = Plausible(At(index.nan_counts, page), rows);
  if (!type_defined_order) return bounds;
  bounds.lower = DecodeBound(physical, file_type, index.min_values[page], type, true);
  bounds.upper = DecodeBound(physical, file_type, index.max_values[page], type, false);
  DropReversed(&bounds);
  return bounds;
}

}  // namespace calve::parquet
