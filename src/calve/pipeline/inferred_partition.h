#pragma once

#include "calve/iceberg/metrics.h"
#include "calve/iceberg/table_metadata.h"

#include <arrow/result.h>

#include <map>
#include <string>
#include <vector>

namespace calve::pipeline {

/// The partition of a file that was written elsewhere, by the table's current spec: what the transforms make of the
/// bounds of their source columns, when that is one value; for the identity of a column that the file does not have,
/// the value in a folder named "field=value". Invalid names the partition field that is not decided.
arrow::Result<std::vector<Value>> InferPartition(const iceberg::TableMetadata& metadata, const std::string& path,
                                                 const std::vector<iceberg::LeafMetrics>& leaves);

/// For each identity field of the current spec whose name is in a folder of `path`: source field id -> value.
arrow::Result<std::map<int, Value>> IdentityValuesInPath(const iceberg::TableMetadata& metadata,
                                                         const std::string& path);

}  // namespace calve::pipeline
