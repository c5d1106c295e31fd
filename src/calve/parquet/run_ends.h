#pragma once

#include "calve/base/status.h"

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <memory>

namespace calve::parquet {

/// The same values as a run-end encoded array has, without runs: a dictionary's array whose dictionary are the values
/// of the runs, none of which is copied; nested values and dictionaries are taken apart row by row.
Result<std::shared_ptr<arrow::ArrayData>> WithoutRunEnds(const arrow::ArrayData& array, arrow::MemoryPool* pool);

/// The values that a dictionary's array stands for, row by row. Invalid when an index is out of range.
Result<std::shared_ptr<arrow::ArrayData>> WithoutDictionary(const arrow::ArrayData& array, arrow::MemoryPool* pool);

}  // namespace calve::parquet
