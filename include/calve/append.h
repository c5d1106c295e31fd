#pragma once

#include "calve/context.h"
#include "calve/table.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace arrow {
class RecordBatchReader;
}

namespace calve {

struct AppendOptions {
  /// Register the files where they lie instead of copying their rows: metrics from their footers, partition values from
  /// their bounds (each file must lie in one partition) and columns by the table's name mapping, which is made when
  /// a file has no field ids and the table no mapping.
  bool add_files = false;
  std::string branch = "main";
  std::map<std::string, std::string> summary;  ///< added to the snapshot's summary
};

struct AppendResult {
  int64_t snapshot_id = 0;
  int64_t files = 0, rows = 0, bytes = 0;
  int attempts = 1;
  int64_t peak_memory_bytes = 0;
};

/// Appends the rows of Parquet files in one commit. Columns are matched by field id where the files have ids of this
/// table, otherwise by name; a missing optional column is null (or its write default), a missing required one Invalid;
/// types are promoted as the specification allows, anything else is Invalid and names file and column. Rows are routed
/// through the partition transforms. A failure before the commit leaves no data file behind.
arrow::Result<AppendResult> AppendFiles(const Table& table, const std::vector<std::string>& paths,
                                        const AppendOptions& options = {}, const Context& context = {});

/// Appends what `reader` yields, by the same rules.
arrow::Result<AppendResult> AppendBatches(const Table& table, arrow::RecordBatchReader* reader,
                                          const AppendOptions& options = {}, const Context& context = {});

}  // namespace calve
