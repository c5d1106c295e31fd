#pragma once

#include "calve/ipc/flat_table.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace calve::ipc {

using arrow::Result;

/// The type that the union Type of Schema.fbs says: `kind` is its discriminant, `type` its table. Invalid when the
/// table, or the number of children, fits no type.
Result<std::shared_ptr<arrow::DataType>> ReadType(uint8_t kind, const FlatTable& type,
                                                  const std::vector<std::shared_ptr<arrow::Field>>& children);

/// The table Int.
Result<std::shared_ptr<arrow::DataType>> ReadIntType(const FlatTable& type);

}  // namespace calve::ipc
