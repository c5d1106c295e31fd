#pragma once

#include "calve/context.h"
#include "calve/iceberg/scan_plan.h"
#include "calve/pipeline/rewrite_plan.h"
#include "calve/rewrite.h"
#include "calve/table.h"

#include <arrow/result.h>

#include <vector>

namespace calve::pipeline {

/// What a rewrite will do, with what it takes to do it.
struct PlannedRewrite {
  struct Group {
    std::vector<iceberg::FileScanTask> tasks;
    int64_t roll_bytes = 0;  ///< output files are closed at this size
  };
  RewritePlan plan;  ///< groups[i] describes groups[i] below
  std::vector<Group> groups;
  const iceberg::Snapshot* snapshot = nullptr;  ///< planned on; owned by the table; null for an empty table
};

/// Plans a rewrite of a branch. NotImplemented when a file of the plan cannot be read rightly (deletes, other formats).
arrow::Result<PlannedRewrite> PlanGroups(const Table& table, const RewriteOptions& options, const Context& context);

}  // namespace calve::pipeline
