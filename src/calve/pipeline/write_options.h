#pragma once

#include "calve/iceberg/table_metadata.h"
#include "calve/parquet_writer.h"

#include <arrow/result.h>

namespace calve::pipeline {

/// Options of the Parquet files of a table, from its `write.parquet.*` properties. Invalid or NotImplemented names a
/// property whose value is wrong or cannot be honoured; `write.format.default` must be Parquet, and encrypted tables
/// are refused.
arrow::Result<ParquetWriteOptions> WriteOptionsOf(const iceberg::TableMetadata& metadata);

/// `write.target-file-size-bytes` (512 MiB).
arrow::Result<int64_t> TargetFileSizeOf(const iceberg::TableMetadata& metadata);

/// The columns that data files of the table hold: those of its schema, but none of type unknown. NotImplemented names a
/// column whose type cannot be written.
arrow::Result<std::vector<iceberg::Field>> FileColumns(const iceberg::Schema& schema);

}  // namespace calve::pipeline
