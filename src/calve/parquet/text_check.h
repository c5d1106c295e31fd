#pragma once

#include "calve/parquet/schema.h"

#include <arrow/array/data.h>

namespace calve::parquet {

/// Invalid names the column and the row for text under `node` that is not UTF-8. `array` is what AssembleField made of
/// the node, its first row being row `first_row` of the file. Each buffer is checked in one go.
Status CheckText(const ArrowNode& node, const arrow::ArrayData& array, int64_t first_row);

}  // namespace calve::parquet
