#include "calve/ipc/type_reader.h"

#include "calve/base/status.h"

#include <arrow/type.h>

#include <array>
#include <optional>
#include <string>

namespace calve::ipc {
namespace {

using Type = std::shared_ptr<arrow::DataType>;
using Fields = std::vector<std::shared_ptr<arrow::Field>>;

/// The discriminants of the union Type of Schema.fbs.
enum TypeKind : uint8_t {
  kNull = 1,
  kInt,
  kFloatingPoint,
  kBinary,
  kUtf8,
  kBool,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kInterval,
  kList,
  kStruct,
  kUnion,
  kFixedSizeBinary,
  kFixedSizeList,
  kMap,
  kDuration,
  kLargeBinary,
  kLargeUtf8,
  kLargeList,
  kRunEndEncoded,
  kBinaryView,
  kUtf8View,
  kListView,
  kLargeListView
};

Result<arrow::TimeUnit::type> ReadUnit(const FlatTable& type, int16_t absent) {
  const auto unit = type.Scalar<int16_t>(0, absent);
  if (unit < 0 || unit > arrow::TimeUnit::NANO) return Invalid("time unit {} is unknown", unit);
  return static_cast<arrow::TimeUnit::type>(unit);
}

Result<Type> ReadFloatingPoint(const FlatTable& type) {
  const auto precision = type.Scalar<int16_t>(0);
  const std::array<Type, 3> types = {arrow::float16(), arrow::float32(), arrow::float64()};
  if (precision < 0 || precision > 2) return Invalid("floating point precision {} is unknown", precision);
  return types[static_cast<size_t>(precision)];
}

Result<Type> ReadDecimal(const FlatTable& type) {
  const auto precision = type.Scalar<int32_t>(0), scale = type.Scalar<int32_t>(1);
  switch (const auto bits = type.Scalar<int32_t>(2, 128)) {
    case 32:
      return arrow::Decimal32Type::Make(precision, scale);
    case 64:
      return arrow::Decimal64Type::Make(precision, scale);
    case 128:
      return arrow::Decimal128Type::Make(precision, scale);
    case 256:
      return arrow::Decimal256Type::Make(precision, scale);
    default:
      return Invalid("decimal of {} bits", bits);
  }
}

Result<Type> ReadDate(const FlatTable& type) {
  const auto unit = type.Scalar<int16_t>(0, 1);
  if (unit != 0 && unit != 1) return Invalid("date unit {} is unknown", unit);
  return unit == 0 ? arrow::date32() : arrow::date64();
}

Result<Type> ReadTime(const FlatTable& type) {
  ARROW_ASSIGN_OR_RAISE(const auto unit, ReadUnit(type, arrow::TimeUnit::MILLI));
  const auto bits = type.Scalar<int32_t>(1, 32);
  const bool coarse = unit == arrow::TimeUnit::SECOND || unit == arrow::TimeUnit::MILLI;
  if (bits != (coarse ? 32 : 64)) return Invalid("time of {} bits in unit {}", bits, static_cast<int>(unit));
  return coarse ? arrow::time32(unit) : arrow::time64(unit);
}

Result<Type> ReadTimestamp(const FlatTable& type) {
  ARROW_ASSIGN_OR_RAISE(const auto unit, ReadUnit(type, arrow::TimeUnit::SECOND));
  return arrow::timestamp(unit, std::string(type.Text(1)));
}

Result<Type> ReadInterval(const FlatTable& type) {
  const auto unit = type.Scalar<int16_t>(0);
  const std::array<Type, 3> types = {arrow::month_interval(), arrow::day_time_interval(),
                                     arrow::month_day_nano_interval()};
  if (unit < 0 || unit > 2) return Invalid("interval unit {} is unknown", unit);
  return types[static_cast<size_t>(unit)];
}

Result<Type> ReadUnion(const FlatTable& type, const Fields& children) {
  const auto mode = type.Scalar<int16_t>(0);
  const FlatVector ids = type.Vector(1, sizeof(int32_t));
  if (mode != 0 && mode != 1) return Invalid("union mode {} is unknown", mode);
  if (children.size() > 128) return Invalid("union of {} children", children.size());
  std::vector<int8_t> codes;
  for (size_t i = 0; i < children.size(); ++i) {
    // Without ids the children are numbered.
    const int32_t id = ids.data == nullptr ? static_cast<int32_t>(i) : i < ids.count ? ids.At<int32_t>(i) : -1;
    if (id < 0 || id > 127) return Invalid("union type id {} is not within 0 and 127", id);
    codes.push_back(static_cast<int8_t>(id));
  }
  if (ids.data != nullptr && ids.count != children.size()) {
    return Invalid("union of {} children and {} type ids", children.size(), ids.count);
  }
  return mode == 0 ? arrow::SparseUnionType::Make(children, codes) : arrow::DenseUnionType::Make(children, codes);
}

Result<Type> ReadMap(const FlatTable& type, const Fields& children) {
  const auto& entries = children[0];
  if (entries->type()->id() != arrow::Type::STRUCT || entries->type()->num_fields() != 2) {
    return Invalid("map whose entries are not a struct of two");
  }
  return std::make_shared<arrow::MapType>(entries, type.Bool(0));
}

Result<Type> ReadRunEndEncoded(const Fields& children) {
  if (!arrow::RunEndEncodedType::RunEndTypeValid(*children[0]->type())) {
    return Invalid("run ends of type {}", children[0]->type()->ToString());
  }
  if (children[0]->nullable()) return Invalid("run ends that are nullable");
  // The type names its children itself; the values' nullability is its own too.
  return arrow::run_end_encoded(children[0]->type(), children[1]->type());
}

Result<Type> ReadFixedSizeBinary(const FlatTable& type) {
  const auto width = type.Scalar<int32_t>(0);
  if (width < 0) return Invalid("fixed size binary of {} bytes", width);
  return arrow::fixed_size_binary(width);
}

Result<Type> ReadFixedSizeList(const FlatTable& type, const Fields& children) {
  const auto size = type.Scalar<int32_t>(0);
  if (size < 0) return Invalid("fixed size list of {} values", size);
  return arrow::fixed_size_list(children[0], size);
}

/// How many children a type has; none: any number.
std::optional<size_t> ChildrenOf(uint8_t kind) {
  switch (kind) {
    case kStruct:
    case kUnion:
      return std::nullopt;
    case kList:
    case kLargeList:
    case kListView:
    case kLargeListView:
    case kFixedSizeList:
    case kMap:
      return 1;
    case kRunEndEncoded:
      return 2;
    default:
      return 0;
  }
}

}  // namespace

Result<Type> ReadIntType(const FlatTable& type) {
  const bool is_signed = type.Bool(1);
  switch (const auto bits = type.Scalar<int32_t>(0)) {
    case 8:
      return is_signed ? arrow::int8() : arrow::uint8();
    case 16:
      return is_signed ? arrow::int16() : arrow::uint16();
    case 32:
      return is_signed ? arrow::int32() : arrow::uint32();
    case 64:
      return is_signed ? arrow::int64() : arrow::uint64();
    default:
      return Invalid("integer of {} bits", bits);
  }
}

Result<Type> ReadType(uint8_t kind, const FlatTable& type, const Fields& children) {
  if (!type.exists()) return Invalid("field without a type");
  if (const auto expected = ChildrenOf(kind); expected && *expected != children.size()) {
    return Invalid("{} children of a type that has {}", children.size(), *expected);
  }
  switch (kind) {
    case kNull:
      return arrow::null();
    case kInt:
      return ReadIntType(type);
    case kFloatingPoint:
      return ReadFloatingPoint(type);
    case kBinary:
      return arrow::binary();
    case kUtf8:
      return arrow::utf8();
    case kBool:
      return arrow::boolean();
    case kDecimal:
      return ReadDecimal(type);
    case kDate:
      return ReadDate(type);
    case kTime:
      return ReadTime(type);
    case kTimestamp:
      return ReadTimestamp(type);
    case kInterval:
      return ReadInterval(type);
    case kList:
      return arrow::list(children[0]);
    case kStruct:
      return arrow::struct_(children);
    case kUnion:
      return ReadUnion(type, children);
    case kFixedSizeBinary:
      return ReadFixedSizeBinary(type);
    case kFixedSizeList:
      return ReadFixedSizeList(type, children);
    case kMap:
      return ReadMap(type, children);
    case kDuration: {
      ARROW_ASSIGN_OR_RAISE(const auto unit, ReadUnit(type, arrow::TimeUnit::MILLI));
      return arrow::duration(unit);
    }
    case kLargeBinary:
      return arrow::large_binary();
    case kLargeUtf8:
      return arrow::large_utf8();
    case kLargeList:
      return arrow::large_list(children[0]);
    case kRunEndEncoded:
      return ReadRunEndEncoded(children);
    case kBinaryView:
      return arrow::binary_view();
    case kUtf8View:
      return arrow::utf8_view();
    case kListView:
      return arrow::list_view(children[0]);
    case kLargeListView:
      return arrow::large_list_view(children[0]);
    default:
      return NotImplemented("type number {} of Arrow's Schema.fbs", kind);
  }
}

}  // namespace calve::ipc
