#pragma once

#include "calve/iceberg/manifest.h"
#include "calve/parquet/metadata.h"
#include "calve/pipeline/source_schema.h"

#include <arrow/status.h>

namespace calve::pipeline {

/// OK when a whole Parquet file is what its manifest entry describes in everything but its size: the number of rows
/// and, for each column outside lists and maps that both know, the counts of values and nulls and the bounds. Otherwise
/// Invalid says what differs, expected against got.
///
/// Some tools rewrite data files in place (to drop a partition column, say) and leave the manifest's
/// `file_size_in_bytes` as it was. Such a file is read; another file under the same name, or a piece of one, is not.
arrow::Status CheckDescribedBy(const iceberg::DataFile& entry, const parquet::FileMetadata& footer,
                               const SourceSchema& source, const iceberg::Schema& table_schema);

}  // namespace calve::pipeline
