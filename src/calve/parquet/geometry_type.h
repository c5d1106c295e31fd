#pragma once

#include "calve/base/status.h"
#include "calve/parquet/metadata.h"

#include <arrow/type_fwd.h>

#include <memory>

namespace arrow {
class ExtensionType;
class KeyValueMetadata;
}  // namespace arrow

namespace calve::parquet {

/// The Arrow type of a GEOMETRY or GEOGRAPHY column: "geoarrow.wkb" over binary, with the GeoArrow specification's
/// metadata (JSON of crs, crs_type and edges). A crs that is "projjson:KEY" is looked up in `metadata`, the file's,
/// which may be null.
std::shared_ptr<arrow::DataType> GeometryType(const LogicalType& type, const arrow::KeyValueMetadata* metadata);

/// The reverse: what a column of a "geoarrow.wkb" type is. Coordinate systems that are not named become "srid:0", which
/// says that none is known. Invalid when the type's metadata is no JSON object or its edges are unknown.
Result<LogicalType> GeometryLogicalType(const arrow::ExtensionType& type);

}  // namespace calve::parquet
