#pragma once

#include "calve/context.h"
#include "calve/expression.h"
#include "calve/table.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace calve {

/// Options of a rewrite, with Spark's names (`rewrite_data_files`) and defaults.
struct RewriteOptions {
  std::optional<int64_t> target_file_size_bytes;  ///< default: the table's write.target-file-size-bytes (512 MiB)
  std::optional<int64_t> min_file_size_bytes;     ///< default: 75 % of the target
  std::optional<int64_t> max_file_size_bytes;     ///< default: 180 % of the target
  int64_t min_input_files = 5;
  int64_t max_file_group_size_bytes = int64_t{100} << 30;
  bool rewrite_all = false;
  bool partial_progress_enabled = false;
  int64_t partial_progress_max_commits = 10;
  bool use_starting_sequence_number = true;
  Expression filter;  ///< only files that may hold matching rows
  std::string branch = "main";
};

/// A group of files rewritten together: of one partition (or, for files of an older spec, of none).
struct RewriteGroup {
  std::string partition;  ///< "cat=a", empty when unpartitioned
  std::vector<std::string> files;
  std::vector<int64_t> file_sizes_bytes;
  int64_t bytes = 0, rows = 0;
  int64_t expected_output_files = 0;
};

struct RewritePlan {
  std::vector<RewriteGroup> groups;
  int64_t files_total = 0, bytes_total = 0;  ///< live data files of the table
  int64_t target_file_size_bytes = 0;
};

struct RewriteResult {
  int64_t rewritten_files = 0, added_files = 0, rewritten_bytes = 0, added_bytes = 0, rows = 0;
  std::vector<int64_t> snapshot_ids;
  std::vector<int64_t> added_file_sizes_bytes;
  int64_t failed_groups = 0;          ///< with partial progress only
  std::string first_failure;          ///< why the first of them failed; empty when none did
  std::vector<std::string> failures;  ///< why groups and commits failed, each reason once per group or commit
  int64_t peak_memory_bytes = 0;
  double plan_seconds = 0, write_seconds = 0, commit_seconds = 0;
};

/// What RewriteDataFiles would do.
arrow::Result<RewritePlan> PlanRewrite(const Table& table, const RewriteOptions& options = {},
                                       const Context& context = {});

/// Compacts small files (binpack) and commits the result atomically; inputs stay on disk for the snapshots that name
/// them. Rows keep _row_id and _last_updated_sequence_number in v3 tables. Files are written under the current spec.
/// A conflict with what was committed meanwhile (a file gone, a delete that applies) fails and leaves the table as it
/// was.
arrow::Result<RewriteResult> RewriteDataFiles(const Table& table, const RewriteOptions& options = {},
                                              const Context& context = {});

}  // namespace calve
