#pragma once

#include "calve/iceberg/table_metadata.h"
#include "calve/pipeline/source_schema.h"
#include "calve/pipeline/target_field.h"

#include <arrow/result.h>

#include <vector>

namespace calve::pipeline {

/// True when the source's fields have ids, and each is one that a schema of the table has or had under the same name.
/// Ids that another table gave do not count.
bool HasIdsOfTable(const SourceSchema& source, const iceberg::TableMetadata& metadata);

/// Invalid names the first column, at any depth, whose values would be lost: one that no target takes and that is not a
/// former column of the table.
arrow::Status CheckNothingIsLost(const SourceSchema& source, const std::vector<TargetField>& targets,
                                 const iceberg::TableMetadata& metadata);

/// Ids for what is appended: its own where they are the table's, otherwise by name.
arrow::Status IdentifyForAppend(const iceberg::TableMetadata& metadata, const std::vector<TargetField>& targets,
                                SourceSchema* source);

}  // namespace calve::pipeline
