#pragma once

#include "calve/parquet/leaf_values.h"
#include "calve/parquet/schema.h"

#include <arrow/array/data.h>

#include <memory>

namespace calve::parquet {

/// How values of fixed width become Arrow's: integers narrower, INT96 to timestamps, decimals to two or four words.
/// Booleans stay bytes, and byte arrays that hold decimals what they are, until ConvertLeaf. `type` is the one that
/// LeafType gave, or a dictionary of it.
ValueConversion ConversionOf(const SchemaElement& element, const arrow::DataType& type);

/// The values of a leaf column, converted, as an Arrow array of `type`: the one that LeafType gave for it, or the
/// column's decoded_type. Validity is passed on. Invalid for a value that the type cannot hold.
Result<std::shared_ptr<arrow::ArrayData>> ConvertLeaf(const std::shared_ptr<arrow::DataType>& type, LeafBatch batch,
                                                      arrow::MemoryPool* pool);

/// Ticks of `unit` since the epoch of an INT96: nanoseconds of the day (8 bytes), Julian day (4 bytes, signed). What is
/// finer is cut off; what does not fit wraps around.
int64_t Int96ToTimestamp(const uint8_t* bytes, arrow::TimeUnit::type unit);

/// `count` offsets of 32 bits as offsets of 64 bits.
Result<std::shared_ptr<arrow::Buffer>> WideOffsets(const int32_t* offsets, int64_t count, arrow::MemoryPool* pool);

}  // namespace calve::parquet
