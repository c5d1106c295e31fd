#pragma once

#include "calve/parquet/leaf_values.h"
#include "calve/parquet/schema.h"

#include <arrow/array/data.h>

#include <memory>

namespace calve::parquet {

/// The values of a leaf column as an Arrow array of `type`, which LeafType gave for it. Validity is passed on. Invalid
/// for a value that the type cannot hold.
Result<std::shared_ptr<arrow::ArrayData>> ConvertLeaf(const LeafColumn& leaf,
                                                      const std::shared_ptr<arrow::DataType>& type, LeafBatch batch,
                                                      arrow::MemoryPool* pool);

/// Microseconds since the epoch of an INT96: nanoseconds of the day (8 bytes), Julian day (4 bytes, signed). Wraps
/// around.
int64_t Int96ToMicros(const uint8_t* bytes);

}  // namespace calve::parquet
