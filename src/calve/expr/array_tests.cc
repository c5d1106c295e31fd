#include "calve/expr/array_tests.h"

#include "calve/base/status.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_generate.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/float16.h>

#include <algorithm>
#include <cmath>

namespace calve::expr {
namespace {

using Bits = std::shared_ptr<arrow::Buffer>;

/// One bit a value: `answer(i)`.
template <typename Answer>
Result<Bits> MakeBits(int64_t count, arrow::MemoryPool* pool, Answer&& answer) {
  ARROW_ASSIGN_OR_RAISE(Bits bits, arrow::AllocateEmptyBitmap(count, pool));
  int64_t i = 0;
  arrow::internal::GenerateBitsUnrolled(bits->mutable_data(), 0, count, [&] { return bool{answer(i++)}; });
  return bits;
}

/// The alternative of Value that values read as `T` compare with.
template <typename T>
using AlternativeOf = std::conditional_t<std::is_same_v<T, std::string_view>, std::string, T>;

template <typename T>
Result<std::vector<T>> OperandsOf(const std::vector<Value>& values) {
  std::vector<T> operands;
  for (const Value& value : values) {
    const auto* operand = std::get_if<AlternativeOf<T>>(&value);
    if (operand == nullptr) return Invalid("a value is of another type than the column");
    operands.push_back(*operand);
  }
  return operands;
}

template <typename T>
bool IsOneOf(const std::vector<T>& sorted, const T& value) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), value);
  return found != sorted.end() && *found == value;
}

/// Compares every `get(i)` with one operand. What does not hold for NaN holds negated, so NaN is above all numbers.
template <typename T, typename Get>
Result<Bits> CompareValues(Op op, const T& operand, const Get& get, int64_t count, arrow::MemoryPool* pool) {
  switch (op) {
    case Op::kEqual:
      return MakeBits(count, pool, [&](int64_t i) { return get(i) == operand; });
    case Op::kNotEqual:
      return MakeBits(count, pool, [&](int64_t i) { return !(get(i) == operand); });
    case Op::kLess:
      return MakeBits(count, pool, [&](int64_t i) { return get(i) < operand; });
    case Op::kGreaterEqual:
      return MakeBits(count, pool, [&](int64_t i) { return !(get(i) < operand); });
    case Op::kLessEqual:
      return MakeBits(count, pool, [&](int64_t i) { return get(i) <= operand; });
    case Op::kGreater:
      return MakeBits(count, pool, [&](int64_t i) { return !(get(i) <= operand); });
    default:
      return Invalid("not a comparison");
  }
}

template <typename T, typename Get>
Result<Bits> TestValues(Op op, const std::vector<Value>& values, const Get& get, int64_t count,
                        arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(std::vector<T> operands, OperandsOf<T>(values));
  if constexpr (std::is_floating_point_v<T>) {
    if (op == Op::kIsNaN) return MakeBits(count, pool, [&](int64_t i) { return std::isnan(get(i)); });
    if (op == Op::kNotNaN) return MakeBits(count, pool, [&](int64_t i) { return !std::isnan(get(i)); });
  }
  if (op == Op::kIn || op == Op::kNotIn) {
    std::sort(operands.begin(), operands.end());
    const bool found = op == Op::kIn;
    return MakeBits(count, pool, [&](int64_t i) { return IsOneOf<T>(operands, get(i)) == found; });
  }
  if (operands.size() != 1) return Invalid("a comparison takes one value, got {}", operands.size());
  if constexpr (std::is_same_v<T, std::string_view>) {
    const std::string_view prefix = operands.front();
    if (op == Op::kStartsWith) return MakeBits(count, pool, [&](int64_t i) { return get(i).starts_with(prefix); });
    if (op == Op::kNotStartsWith) return MakeBits(count, pool, [&](int64_t i) { return !get(i).starts_with(prefix); });
  }
  return CompareValues<T>(op, operands.front(), get, count, pool);
}

/// Tests an array whose C values widen to `T`.
template <typename T, typename Stored>
Result<Bits> TestPrimitive(Op op, const std::vector<Value>& values, const arrow::Array& array,
                           arrow::MemoryPool* pool) {
  const Stored* stored = array.data()->GetValues<Stored>(1);
  return TestValues<T>(op, values, [stored](int64_t i) { return static_cast<T>(stored[i]); }, array.length(), pool);
}

template <typename ArrayType>
Result<Bits> TestBinary(Op op, const std::vector<Value>& values, const arrow::Array& array, arrow::MemoryPool* pool) {
  const auto& typed = static_cast<const ArrayType&>(array);
  return TestValues<std::string_view>(
      op, values, [&typed](int64_t i) { return std::string_view(typed.GetView(i)); }, array.length(), pool);
}

/// The view of a null may point anywhere, so nulls are not looked at.
Result<Bits> TestViews(Op op, const std::vector<Value>& values, const arrow::Array& array, arrow::MemoryPool* pool) {
  const auto& typed = static_cast<const arrow::BinaryViewArray&>(array);
  const auto get = [&typed](int64_t i) { return typed.IsNull(i) ? std::string_view() : typed.GetView(i); };
  return TestValues<std::string_view>(op, values, get, array.length(), pool);
}

template <typename Stored>
Result<Bits> TestDecimals(Op op, const std::vector<Value>& values, const arrow::Array& array, arrow::MemoryPool* pool) {
  const auto& typed = static_cast<const arrow::FixedSizeBinaryArray&>(array);
  const auto get = [&typed](int64_t i) {
    const Stored stored(typed.GetValue(i));
    if constexpr (std::is_same_v<Stored, arrow::Decimal256>) {
      const auto words = stored.little_endian_array();
      return arrow::Decimal128(static_cast<int64_t>(words[1]), words[0]);
    } else if constexpr (std::is_same_v<Stored, arrow::Decimal128>) {
      return stored;
    } else {
      return arrow::Decimal128(stored.value());
    }
  };
  return TestValues<arrow::Decimal128>(op, values, get, array.length(), pool);
}

Result<Bits> TestHalves(Op op, const std::vector<Value>& values, const arrow::Array& array, arrow::MemoryPool* pool) {
  const uint16_t* stored = array.data()->GetValues<uint16_t>(1);
  const auto get = [stored](int64_t i) { return arrow::util::Float16::FromBits(stored[i]).ToFloat(); };
  return TestValues<float>(op, values, get, array.length(), pool);
}

Result<Bits> TestBooleans(Op op, const std::vector<Value>& values, const arrow::Array& array, arrow::MemoryPool* pool) {
  const auto& typed = static_cast<const arrow::BooleanArray&>(array);
  return TestValues<bool>(op, values, [&typed](int64_t i) { return typed.Value(i); }, array.length(), pool);
}

Result<Bits> TestUnsigned64(Op op, const std::vector<Value>& values, const arrow::Array& array,
                            arrow::MemoryPool* pool) {
  const uint64_t* stored = array.data()->GetValues<uint64_t>(1);
  const auto get = [stored](int64_t i) { return arrow::Decimal128(0, stored[i]); };
  return TestValues<arrow::Decimal128>(op, values, get, array.length(), pool);
}

Result<Bits> TestPlain(Op op, const std::vector<Value>& values, const arrow::Array& array, arrow::MemoryPool* pool) {
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return TestBooleans(op, values, array, pool);
    case arrow::Type::INT8:
      return TestPrimitive<int32_t, int8_t>(op, values, array, pool);
    case arrow::Type::INT16:
      return TestPrimitive<int32_t, int16_t>(op, values, array, pool);
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::TIME32:
      return TestPrimitive<int32_t, int32_t>(op, values, array, pool);
    case arrow::Type::UINT8:
      return TestPrimitive<int32_t, uint8_t>(op, values, array, pool);
    case arrow::Type::UINT16:
      return TestPrimitive<int32_t, uint16_t>(op, values, array, pool);
    case arrow::Type::UINT32:
      return TestPrimitive<int64_t, uint32_t>(op, values, array, pool);
    case arrow::Type::INT64:
    case arrow::Type::DATE64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
      return TestPrimitive<int64_t, int64_t>(op, values, array, pool);
    case arrow::Type::UINT64:
      return TestUnsigned64(op, values, array, pool);
    case arrow::Type::HALF_FLOAT:
      return TestHalves(op, values, array, pool);
    case arrow::Type::FLOAT:
      return TestPrimitive<float, float>(op, values, array, pool);
    case arrow::Type::DOUBLE:
      return TestPrimitive<double, double>(op, values, array, pool);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return TestBinary<arrow::BinaryArray>(op, values, array, pool);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return TestBinary<arrow::LargeBinaryArray>(op, values, array, pool);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return TestViews(op, values, array, pool);
    case arrow::Type::FIXED_SIZE_BINARY:
      return TestBinary<arrow::FixedSizeBinaryArray>(op, values, array, pool);
    case arrow::Type::DECIMAL32:
      return TestDecimals<arrow::Decimal32>(op, values, array, pool);
    case arrow::Type::DECIMAL64:
      return TestDecimals<arrow::Decimal64>(op, values, array, pool);
    case arrow::Type::DECIMAL128:
      return TestDecimals<arrow::Decimal128>(op, values, array, pool);
    case arrow::Type::DECIMAL256:
      return TestDecimals<arrow::Decimal256>(op, values, array, pool);
    default:
      return NotImplemented("filters on type {} are not supported", array.type()->ToString());
  }
}

/// The validity of an array without a dictionary, from bit 0.
Result<Bits> ValidityOf(const arrow::Array& array, arrow::MemoryPool* pool) {
  if (array.type_id() == arrow::Type::NA) return arrow::AllocateEmptyBitmap(array.length(), pool);
  if (array.null_bitmap() == nullptr || array.null_count() == 0) return Bits();
  if (array.offset() == 0) return array.null_bitmap();
  return arrow::internal::CopyBitmap(pool, array.null_bitmap_data(), array.offset(), array.length());
}

/// Spreads the answers for dictionary entries over the rows that name them.
Result<TestAnswers> Spread(const TestAnswers& entries, const arrow::DictionaryArray& array, arrow::MemoryPool* pool) {
  const auto bit_of = [&array](const Bits& bits, int64_t i) {
    return array.IsValid(i) && arrow::bit_util::GetBit(bits->data(), array.GetValueIndex(i));
  };
  TestAnswers rows;
  if (entries.bits != nullptr) {
    ARROW_ASSIGN_OR_RAISE(rows.bits,
                          MakeBits(array.length(), pool, [&](int64_t i) { return bit_of(entries.bits, i); }));
  }
  if (entries.validity == nullptr) {
    ARROW_ASSIGN_OR_RAISE(rows.validity, ValidityOf(array, pool));
  } else {
    ARROW_ASSIGN_OR_RAISE(rows.validity,
                          MakeBits(array.length(), pool, [&](int64_t i) { return bit_of(entries.validity, i); }));
  }
  return rows;
}

/// Unions and run-end encoded arrays have no validity of their own.
bool HasValidity(const arrow::Array& array) {
  switch (array.type_id()) {
    case arrow::Type::SPARSE_UNION:
    case arrow::Type::DENSE_UNION:
    case arrow::Type::RUN_END_ENCODED:
      return false;
    default:
      return true;
  }
}

}  // namespace

Result<TestAnswers> TestArray(Op op, const std::vector<Value>& values, const arrow::Array& array,
                              arrow::MemoryPool* pool) {
  if (array.type_id() == arrow::Type::EXTENSION) {
    return TestArray(op, values, *static_cast<const arrow::ExtensionArray&>(array).storage(), pool);
  }
  if (array.type_id() == arrow::Type::DICTIONARY) {
    const auto& encoded = static_cast<const arrow::DictionaryArray&>(array);
    ARROW_ASSIGN_OR_RAISE(TestAnswers entries, TestArray(op, values, *encoded.dictionary(), pool));
    return Spread(entries, encoded, pool);
  }
  if (!HasValidity(array)) return NotImplemented("filters on type {} are not supported", array.type()->ToString());
  TestAnswers answers;
  ARROW_ASSIGN_OR_RAISE(answers.validity, ValidityOf(array, pool));
  if (op == Op::kIsNull || op == Op::kNotNull) return answers;
  ARROW_ASSIGN_OR_RAISE(answers.bits, TestPlain(op, values, array, pool));
  return answers;
}

}  // namespace calve::expr
