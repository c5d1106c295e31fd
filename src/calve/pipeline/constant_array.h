#pragma once

#include "calve/expr/value.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>

namespace calve::pipeline {

/// An array of `length` times `value`, which is null or of the alternative that `type` takes (or a narrower one of the
/// same kind: an int for a long). Invalid when the type cannot hold the value.
arrow::Result<std::shared_ptr<arrow::Array>> ConstantArray(const Value& value,
                                                           const std::shared_ptr<arrow::DataType>& type, int64_t length,
                                                           arrow::MemoryPool* pool);

}  // namespace calve::pipeline
