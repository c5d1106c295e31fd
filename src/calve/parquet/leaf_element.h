#pragma once

#include "calve/base/status.h"
#include "calve/parquet/metadata.h"

#include <arrow/type_fwd.h>

#include <string>

namespace calve::parquet {

/// A logical type of a kind that has no members.
LogicalType Logical(LogicalType::Kind kind);

/// The number of bytes of a FIXED_LEN_BYTE_ARRAY that hold every decimal of `precision` digits, and no fewer do.
int DecimalBytes(int precision);

/// Gives `element` the physical, logical and converted type of an Arrow type without children. Invalid names the
/// column, when Parquet has none.
Status SetLeafType(SchemaElement* element, const arrow::DataType& type, const std::string& name);

/// Gives an element, whose storage is set, the logical type of an extension type that Parquet has one for.
Status SetExtension(SchemaElement* element, const arrow::ExtensionType& type);

}  // namespace calve::parquet
