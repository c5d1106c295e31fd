#pragma once

#include "calve/cli/session.h"
#include "calve/rewrite.h"
#include "calve/table.h"

#include <arrow/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace calve::cli {

/// A snapshot, as the report's history shows it.
struct HistoryEntry {
  int64_t snapshot_id = 0;
  std::string committed_at, operation, added, removed;
};

/// What `calve rewrite --report FILE` tells.
struct RewriteReport {
  std::string table, location;
  std::string made_at;  ///< ISO 8601
  std::string command;  ///< the options given, for people
  RewritePlan plan;
  std::optional<RewriteResult> result;             ///< none: a dry run
  std::vector<int64_t> sizes_before, sizes_after;  ///< bytes of the live data files
  std::vector<HistoryEntry> history;               ///< oldest first
  double seconds = 0;
};

/// Bytes of the data files of the table's current snapshot.
arrow::Result<std::vector<int64_t>> DataFileSizes(const Table& table);

/// The table's snapshots, oldest first.
arrow::Result<std::vector<HistoryEntry>> HistoryOf(const Table& table);

/// The report as one HTML page that needs nothing from outside: styles and pictures are inline.
std::string ReportPage(const RewriteReport& report);

}  // namespace calve::cli
