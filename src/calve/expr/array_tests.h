#pragma once

#include "calve/expr/node.h"

#include <arrow/type_fwd.h>

namespace calve::expr {

/// The answers of a test for the values of an array. Bitmaps start at bit 0; no `validity` means that no value is null.
/// The answers of nulls are unspecified.
struct TestAnswers {
  std::shared_ptr<arrow::Buffer> bits;
  std::shared_ptr<arrow::Buffer> validity;
};

/// Tests the values of `array`. `op` is a comparison, an IN, a prefix test or a NaN test; for kIsNull and kNotNull only
/// the validity is made. Dictionary-encoded arrays are tested once an entry. Comparisons put NaN above all numbers.
arrow::Result<TestAnswers> TestArray(Op op, const std::vector<Value>& values, const arrow::Array& array,
                                     arrow::MemoryPool* pool);

}  // namespace calve::expr
