#pragma once

#include "calve/iceberg/commit.h"
#include "calve/iceberg/scan_plan.h"
#include "calve/pipeline/file_set.h"
#include "calve/table.h"

#include <arrow/result.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace calve::pipeline {

/// The files of a plan as a set to read. `with_filter`: rows are filtered by each task's residual.
arrow::Result<std::vector<FileToRead>> FilesOfPlan(const iceberg::TableMetadata& metadata,
                                                   const std::vector<iceberg::FileScanTask>& tasks, bool with_filter);

/// Gives files without ids theirs: by the table's name mapping, else by the names of `targets`.
/// Invalid when the table's mapping is needed and does not parse.
std::function<arrow::Status(const ParquetReader&, SourceSchema*)> IdentifyByTable(
    const iceberg::TableMetadata& metadata, std::vector<TargetField> targets);

/// The io of a table, kept alive by its store.
std::shared_ptr<const FileIO> IoOf(const Table& table);

/// "cat=a/d_day=2024-01-31", "" when unpartitioned.
arrow::Result<std::string> PartitionText(const iceberg::TableMetadata& metadata, const iceberg::DataFile& file);

}  // namespace calve::pipeline
