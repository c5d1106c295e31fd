#include "calve/pipeline/constant_array.h"

#include "calve/base/status.h"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/extension_type.h>
#include <arrow/scalar.h>
#include <arrow/util/checked_cast.h>

#include <limits>

namespace calve::pipeline {
namespace {

using arrow::internal::checked_cast;

std::optional<int64_t> IntegerOf(const Value& value) {
  if (const auto* narrow = std::get_if<int32_t>(&value)) return *narrow;
  if (const auto* wide = std::get_if<int64_t>(&value)) return *wide;
  return std::nullopt;
}

std::optional<double> DoubleOf(const Value& value) {
  if (const auto* narrow = std::get_if<float>(&value)) return *narrow;
  if (const auto* wide = std::get_if<double>(&value)) return *wide;
  return std::nullopt;
}

Status Mismatch(const arrow::DataType& type) {
  return Invalid("a value of another type stands where {} is expected", type.ToString());
}

Result<std::shared_ptr<arrow::Scalar>> IntegerScalar(int64_t value, const std::shared_ptr<arrow::DataType>& type) {
  switch (type->id()) {
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
      if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
        return Invalid("{} does not fit into {}", value, type->ToString());
      }
      return arrow::MakeScalar(type, static_cast<int32_t>(value));
    case arrow::Type::INT64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
      return arrow::MakeScalar(type, value);
    default:
      return Mismatch(*type);
  }
}

Result<std::shared_ptr<arrow::Scalar>> TextScalar(const std::string& value,
                                                  const std::shared_ptr<arrow::DataType>& type) {
  auto buffer = arrow::Buffer::FromString(value);
  switch (type->id()) {
    case arrow::Type::STRING:
      return std::make_shared<arrow::StringScalar>(std::move(buffer));
    case arrow::Type::BINARY:
      return std::make_shared<arrow::BinaryScalar>(std::move(buffer));
    case arrow::Type::FIXED_SIZE_BINARY: {
      const int width = checked_cast<const arrow::FixedSizeBinaryType&>(*type).byte_width();
      if (static_cast<size_t>(width) != value.size()) {
        return Invalid("a value of {} bytes stands where {} is expected", value.size(), type->ToString());
      }
      return std::make_shared<arrow::FixedSizeBinaryScalar>(std::move(buffer), type);
    }
    default:
      return Mismatch(*type);
  }
}

Result<std::shared_ptr<arrow::Scalar>> ScalarOf(const Value& value, const std::shared_ptr<arrow::DataType>& type) {
  if (auto integer = IntegerOf(value)) return IntegerScalar(*integer, type);
  if (const auto* text = std::get_if<std::string>(&value)) return TextScalar(*text, type);
  switch (type->id()) {
    case arrow::Type::BOOL:
      if (const auto* boolean = std::get_if<bool>(&value)) return std::make_shared<arrow::BooleanScalar>(*boolean);
      break;
    case arrow::Type::FLOAT:
      if (const auto* real = std::get_if<float>(&value)) return std::make_shared<arrow::FloatScalar>(*real);
      break;
    case arrow::Type::DOUBLE:
      if (auto real = DoubleOf(value)) return std::make_shared<arrow::DoubleScalar>(*real);
      break;
    case arrow::Type::DECIMAL128:
      if (const auto* decimal = std::get_if<arrow::Decimal128>(&value)) {
        if (!decimal->FitsInPrecision(checked_cast<const arrow::DecimalType&>(*type).precision())) {
          return Invalid("decimal does not fit into {}", type->ToString());
        }
        return std::make_shared<arrow::Decimal128Scalar>(*decimal, type);
      }
      break;
    default:
      break;
  }
  return Mismatch(*type);
}

}  // namespace

Result<std::shared_ptr<arrow::Array>> ConstantArray(const Value& value, const std::shared_ptr<arrow::DataType>& type,
                                                    int64_t length, arrow::MemoryPool* pool) {
  if (IsNull(value)) return arrow::MakeArrayOfNull(type, length, pool);
  if (type->id() == arrow::Type::EXTENSION) {
    const auto& storage_type = checked_cast<const arrow::ExtensionType&>(*type).storage_type();
    ARROW_ASSIGN_OR_RAISE(auto storage, ConstantArray(value, storage_type, length, pool));
    return arrow::ExtensionType::WrapArray(type, storage);
  }
  ARROW_ASSIGN_OR_RAISE(auto scalar, ScalarOf(value, type));
  return arrow::MakeArrayFromScalar(*scalar, length, pool);
}

}  // namespace calve::pipeline
