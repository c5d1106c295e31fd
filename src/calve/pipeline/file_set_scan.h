#pragma once

#include "calve/pipeline/file_set.h"
#include "calve/scan.h"

#include <memory>

namespace calve::pipeline {

/// What is known of a scan before it reads.
struct ScanSetup {
  std::unique_ptr<FileSet> files;
  std::shared_ptr<OperationPool> pool;
  ScanMetrics planned;  ///< the counts of the plan
  std::shared_ptr<arrow::RecordBatch> plan;
};

/// The running scan of a set of files.
std::unique_ptr<Scan> MakeFileSetScan(ScanSetup setup, const Context& context);

/// A row of Scan::Plan().
struct PlanRow {
  std::string file_path;
  int64_t record_count = 0, file_size_in_bytes = 0;
  std::string partition, residual;
};
arrow::Result<std::shared_ptr<arrow::RecordBatch>> PlanBatch(const std::vector<PlanRow>& rows);

}  // namespace calve::pipeline
