#pragma once

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <memory>

namespace calve::parquet {

/// The validity bitmap of a dictionary's array, at the array's own offset, in which slots whose index points at a null
/// are null, too. None when the dictionary has no null: then the array's own bitmap is right.
arrow::Result<std::shared_ptr<arrow::Buffer>> ValidityThroughDictionary(const arrow::ArrayData& array,
                                                                        arrow::MemoryPool* pool);

}  // namespace calve::parquet
