#pragma once

#include "calve/base/status.h"

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <memory>

namespace calve::parquet {

/// Whether an array of `type` is, or has in it, one that Unwrap() takes apart.
bool IsWrapped(const arrow::DataType& type);

/// The array without run ends and dictionaries of nested values, at any depth; itself where there are none. Its own
/// type and those above what was taken apart stay as they are.
Result<std::shared_ptr<arrow::ArrayData>> Unwrap(std::shared_ptr<arrow::ArrayData> array, arrow::MemoryPool* pool);

/// NotImplemented when arrays of `type` cannot be taken apart.
Status CheckUnwrap(const std::shared_ptr<arrow::DataType>& type);

}  // namespace calve::parquet
