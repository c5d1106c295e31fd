#pragma once

#include "calve/expr/bounds.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/page_index.h"

#include <arrow/type_fwd.h>

#include <string_view>

namespace calve::parquet {

/// A bound as Parquet's statistics hold it (PLAIN, without a length prefix) as a value of `type`, to which a column of
/// `file_type` is cast. Null when the bytes are no such value, when the order of the type is not that of its values, or
/// when it is a NaN. Bounds that lose digits are widened: down when `is_lower`, up otherwise.
Value DecodeBound(PhysicalType physical, const arrow::DataType& file_type, std::string_view bytes,
                  const arrow::DataType& type, bool is_lower);

/// What the statistics of a column chunk say of its values once they are cast to `type`. `type_defined_order`: the
/// footer says that min_value and max_value follow the type's order; without it only the deprecated members of signed
/// types are used. For columns outside lists and maps.
expr::ColumnBounds BoundsOfChunk(const ColumnMetadata& chunk, const arrow::DataType& file_type, bool type_defined_order,
                                 const arrow::DataType& type);

/// The same of the values of the `page`-th data page, which has `rows` rows.
expr::ColumnBounds BoundsOfPage(const ColumnIndex& index, size_t page, int64_t rows, PhysicalType physical,
                                const arrow::DataType& file_type, bool type_defined_order, const arrow::DataType& type);

}  // namespace calve::parquet
