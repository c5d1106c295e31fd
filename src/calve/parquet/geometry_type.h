#pragma once

#include "calve/parquet/metadata.h"

#include <arrow/type_fwd.h>

#include <memory>

namespace arrow {
class KeyValueMetadata;
}

namespace calve::parquet {

/// The Arrow type of a GEOMETRY or GEOGRAPHY column: "geoarrow.wkb" over binary, with the GeoArrow specification's
/// metadata (JSON of crs, crs_type and edges). A crs that is "projjson:KEY" is looked up in `metadata`, the file's,
/// which may be null.
std::shared_ptr<arrow::DataType> GeometryType(const LogicalType& type, const arrow::KeyValueMetadata* metadata);

}  // namespace calve::parquet
