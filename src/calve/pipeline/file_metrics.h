#pragma once

#include "calve/iceberg/metrics.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/schema.h"
#include "calve/parquet_writer.h"
#include "calve/pipeline/source_schema.h"

#include <arrow/result.h>

#include <vector>

namespace calve::pipeline {

/// The metrics of a file that was just written with `schema`.
arrow::Result<std::vector<iceberg::LeafMetrics>> MetricsOfSummary(const ParquetFileSummary& summary,
                                                                  const std::shared_ptr<arrow::Schema>& schema);

/// The metrics of a file from the statistics in its footer, for the leaves whose ids (those of `source`) the table
/// schema has. Bounds are in the table's types. What a row group does not tell is not told of the file.
arrow::Result<std::vector<iceberg::LeafMetrics>> MetricsOfFooter(const parquet::FileMetadata& footer,
                                                                 const SourceSchema& source,
                                                                 const iceberg::Schema& table_schema);

/// Where each row group begins.
std::vector<int64_t> SplitOffsets(const parquet::FileMetadata& footer);

}  // namespace calve::pipeline
