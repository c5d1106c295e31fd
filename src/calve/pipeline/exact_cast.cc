#include "calve/pipeline/exact_cast.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/cast.h>
#include <arrow/extension_type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

namespace calve::pipeline {
namespace {

using arrow::Type;
using arrow::internal::checked_cast;

const arrow::DataType& StorageOf(const arrow::DataType& type) {
  if (type.id() != Type::EXTENSION) return type;
  return *checked_cast<const arrow::ExtensionType&>(type).storage_type();
}

bool IsText(Type::type id) { return id == Type::STRING || id == Type::LARGE_STRING || id == Type::STRING_VIEW; }

bool IsBytes(Type::type id) { return id == Type::BINARY || id == Type::LARGE_BINARY || id == Type::BINARY_VIEW; }

/// Bits of the magnitude of an integer type, and whether it has a sign.
bool IntegerFits(const arrow::DataType& from, const arrow::DataType& to) {
  if (!arrow::is_integer(from.id()) || !arrow::is_integer(to.id())) return false;
  const bool from_signed = arrow::is_signed_integer(from.id()), to_signed = arrow::is_signed_integer(to.id());
  if (from_signed && !to_signed) return false;
  return from.bit_width() - (from_signed ? 1 : 0) <= to.bit_width() - (to_signed ? 1 : 0);
}

bool FloatFits(Type::type from, Type::type to) {
  if (to == Type::DOUBLE) return from == Type::FLOAT || from == Type::HALF_FLOAT;
  return to == Type::FLOAT && from == Type::HALF_FLOAT;
}

bool DecimalFits(const arrow::DataType& from, const arrow::DataType& to) {
  if (!arrow::is_decimal(from.id()) || !arrow::is_decimal(to.id())) return false;
  const auto& narrow = checked_cast<const arrow::DecimalType&>(from);
  const auto& wide = checked_cast<const arrow::DecimalType&>(to);
  return narrow.scale() == wide.scale() && narrow.precision() <= wide.precision();
}

bool IsInPlace(CastRules rules) { return rules == CastRules::kInPlace || rules == CastRules::kInPlaceV3; }

bool TimestampFits(const arrow::DataType& from, const arrow::TimestampType& to, CastRules rules) {
  if (from.id() == Type::DATE32) {
    return (to.timezone().empty() && rules != CastRules::kInPlace) || rules == CastRules::kRead;
  }
  if (from.id() != Type::TIMESTAMP) return false;
  if (IsInPlace(rules) && checked_cast<const arrow::TimestampType&>(from).unit() > to.unit()) return false;
  const bool same_kind = checked_cast<const arrow::TimestampType&>(from).timezone().empty() == to.timezone().empty();
  return same_kind || rules == CastRules::kRead;
}

bool TimeFits(const arrow::DataType& from, const arrow::TimeType& to, CastRules rules) {
  if (from.id() != Type::TIME32 && from.id() != Type::TIME64) return false;
  return !IsInPlace(rules) || checked_cast<const arrow::TimeType&>(from).unit() <= to.unit();
}

bool BytesFit(const arrow::DataType& from, const arrow::DataType& to, CastRules rules) {
  if (IsText(to.id())) return IsText(from.id()) || (IsBytes(from.id()) && rules == CastRules::kRead);
  if (IsBytes(from.id())) return true;
  return rules == CastRules::kRead && (IsText(from.id()) || from.id() == Type::FIXED_SIZE_BINARY);
}

/// Days to ticks of a timestamp, each checked for overflow.
Result<std::shared_ptr<arrow::Array>> DatesToTimestamps(const arrow::Array& array,
                                                        const std::shared_ptr<arrow::DataType>& to,
                                                        arrow::MemoryPool* pool) {
  const auto& dates = checked_cast<const arrow::Date32Array&>(array);
  int64_t ticks_per_day = 86400;
  for (int power = checked_cast<const arrow::TimestampType&>(*to).unit(); power > 0; --power) ticks_per_day *= 1000;
  arrow::TimestampBuilder builder(to, pool);
  ARROW_RETURN_NOT_OK(builder.Reserve(dates.length()));
  for (int64_t i = 0; i < dates.length(); ++i) {
    if (dates.IsNull(i)) {
      builder.UnsafeAppendNull();
      continue;
    }
    auto ticks = CheckedMultiply<int64_t>(dates.Value(i), ticks_per_day);
    if (!ticks) return Invalid("date {} days from 1970-01-01 does not fit into {}", dates.Value(i), to->ToString());
    builder.UnsafeAppend(*ticks);
  }
  return builder.Finish();
}

std::shared_ptr<arrow::Array> Retyped(const arrow::Array& array, const std::shared_ptr<arrow::DataType>& type) {
  auto data = array.data()->Copy();
  data->type = type;
  return arrow::MakeArray(std::move(data));
}

Result<std::shared_ptr<arrow::Array>> CastStorage(std::shared_ptr<arrow::Array> array,
                                                  const std::shared_ptr<arrow::DataType>& to, arrow::MemoryPool* pool) {
  if (array->type()->Equals(*to)) return array;
  if (array->type_id() == Type::NA) return arrow::MakeArrayOfNull(to, array->length(), pool);
  if (array->type_id() == Type::DATE32 && to->id() == Type::TIMESTAMP) return DatesToTimestamps(*array, to, pool);
  if (array->type_id() == Type::TIMESTAMP && to->id() == Type::TIMESTAMP) {
    // Only the unit is a matter of values; the zone is a label here.
    const auto unit = checked_cast<const arrow::TimestampType&>(*array->type()).unit();
    array = Retyped(*array, arrow::timestamp(unit, checked_cast<const arrow::TimestampType&>(*to).timezone()));
    if (array->type()->Equals(*to)) return array;
  }
  arrow::compute::ExecContext context(pool);
  return arrow::compute::Cast(*array, to, arrow::compute::CastOptions::Safe(), &context);
}

}  // namespace

bool CanCastExactly(const arrow::DataType& from_type, const arrow::DataType& to_type, CastRules rules) {
  if (from_type.Equals(to_type)) return true;
  if (from_type.id() == Type::DICTIONARY) {
    return CanCastExactly(*checked_cast<const arrow::DictionaryType&>(from_type).value_type(), to_type, rules);
  }
  const arrow::DataType& from = StorageOf(from_type);
  const arrow::DataType& to = StorageOf(to_type);
  if (from.Equals(to) || from.id() == Type::NA) return true;
  switch (to.id()) {
    case Type::TIMESTAMP:
      return TimestampFits(from, checked_cast<const arrow::TimestampType&>(to), rules);
    case Type::TIME32:
    case Type::TIME64:
      return TimeFits(from, checked_cast<const arrow::TimeType&>(to), rules);
    case Type::DATE32:
      return from.id() == Type::DATE64 && !IsInPlace(rules);
    case Type::STRING:
    case Type::LARGE_STRING:
    case Type::STRING_VIEW:
    case Type::BINARY:
    case Type::LARGE_BINARY:
    case Type::BINARY_VIEW:
      return BytesFit(from, to, rules);
    default:
      return IntegerFits(from, to) || FloatFits(from.id(), to.id()) || DecimalFits(from, to);
  }
}

Result<std::shared_ptr<arrow::Array>> CastExactly(const std::shared_ptr<arrow::Array>& array,
                                                  const std::shared_ptr<arrow::DataType>& to, arrow::MemoryPool* pool) {
  if (array->type()->Equals(*to)) return array;
  std::shared_ptr<arrow::Array> values = array;
  if (values->type_id() == Type::DICTIONARY) {
    arrow::compute::ExecContext context(pool);
    const auto& value_type = checked_cast<const arrow::DictionaryType&>(*values->type()).value_type();
    ARROW_ASSIGN_OR_RAISE(values,
                          arrow::compute::Cast(*values, value_type, arrow::compute::CastOptions::Safe(), &context));
  }
  if (values->type_id() == Type::EXTENSION) values = checked_cast<const arrow::ExtensionArray&>(*values).storage();
  if (to->id() != Type::EXTENSION) return CastStorage(std::move(values), to, pool);
  ARROW_ASSIGN_OR_RAISE(
      values, CastStorage(std::move(values), checked_cast<const arrow::ExtensionType&>(*to).storage_type(), pool));
  return arrow::ExtensionType::WrapArray(to, values);
}

}  // namespace calve::pipeline
