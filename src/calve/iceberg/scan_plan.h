#pragma once

#include "calve/context.h"
#include "calve/expr/node.h"
#include "calve/iceberg/manifest.h"

namespace calve::iceberg {

/// A delete file; shared by the tasks that it applies to.
struct PlannedDelete {
  std::shared_ptr<const DataFile> file;
  int64_t sequence_number = 0;
};

/// One data file to read, with the deletes that apply to it.
struct FileScanTask {
  DataFile file;
  int64_t sequence_number = 0;  ///< data sequence number
  int64_t file_sequence_number = 0;
  std::optional<int64_t> first_row_id;  ///< v3, inherited
  std::vector<PlannedDelete> deletes;
  /// What is left of the filter for the rows of this file, bound to the scan schema: TRUE when the partition or the
  /// bounds already decide it.
  expr::NodePtr residual;
};

struct PlanCounts {
  int64_t manifests_total = 0, manifests_skipped = 0, manifests_read = 0;
  int64_t data_files_total =
      0;  ///< live data files in the manifests read or skipped; skipped manifests by their counts
  int64_t data_files_skipped = 0;  ///< by partition or bounds, those in skipped manifests included
  int64_t data_files_skipped_by_partition = 0, data_files_skipped_by_bounds = 0;
  int64_t delete_files = 0;  ///< that apply to a file of the plan
  int64_t bytes_planned = 0, rows_planned = 0;
};

struct ScanPlan {
  const Snapshot* snapshot = nullptr;  ///< owned by the metadata; null for an empty table
  std::vector<FileScanTask> tasks;     ///< ordered by manifest, then entry
  PlanCounts counts;
};

/// Plans a scan: reads the snapshot's manifests in parallel, prunes by `filter` (bound to the Arrow form of the scan
/// schema; null means all rows), and attaches deletes by the rules of "Scan Planning": position deletes to files of
/// lower or equal data sequence number and the same partition (or global), deletion vectors by referenced file,
/// equality deletes to strictly lower ones. Bounds decoded leniently: a bound that is not of the column's type is
/// ignored.
Result<ScanPlan> PlanScan(const FileIO& io, const TableMetadata& metadata, const Snapshot* snapshot,
                          const Schema& schema, const expr::NodePtr& filter, const Context& context);

/// OK when calve can read every row of the plan; otherwise NotImplemented and the first thing that it cannot: a delete
/// kind, a file format, encryption. Called before a row is returned.
Status CheckSupported(const ScanPlan& plan);

}  // namespace calve::iceberg
