#pragma once

#include "calve/iceberg/manifest.h"

#include <arrow/type_fwd.h>

/// Table metadata as rows, for people; the columns are those of calve/table.h. A null snapshot gives no rows.
namespace calve::iceberg {

Result<std::shared_ptr<arrow::RecordBatch>> SnapshotsBatch(const TableMetadata& metadata);
Result<std::shared_ptr<arrow::RecordBatch>> RefsBatch(const TableMetadata& metadata);
Result<std::shared_ptr<arrow::RecordBatch>> ManifestsBatch(const FileIO& io, const TableMetadata& metadata,
                                                           const Snapshot* snapshot);
/// Live data and delete files, in the order of the manifests.
Result<std::shared_ptr<arrow::RecordBatch>> FilesBatch(const FileIO& io, const TableMetadata& metadata,
                                                       const Snapshot* snapshot);

}  // namespace calve::iceberg
