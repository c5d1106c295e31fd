#pragma once

#include "calve/parquet/schema.h"

#include <arrow/array/data.h>

#include <functional>

namespace calve::parquet {

/// Invalid names the column and the row for text under `node` that is not UTF-8. `array` is what AssembleField made of
/// the node, its i-th row being row `row_of(i)` of the file. Each buffer is checked in one go.
Status CheckText(const ArrowNode& node, const arrow::ArrayData& array, const std::function<int64_t(int64_t)>& row_of);

}  // namespace calve::parquet
