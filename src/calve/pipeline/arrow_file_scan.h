#pragma once

#include "calve/scan.h"

#include <memory>
#include <string>
#include <vector>

namespace calve::pipeline {

/// True when the file at `path` begins as an Arrow IPC file or stream does.
arrow::Result<bool> IsArrowFile(const std::string& path);

/// Scans Arrow IPC files and streams one after another (OpenArrowFile). All must have the same columns: NotImplemented
/// names two files that have not, and a column that is asked for by the name of a field inside of it, "_file" and
/// "_pos". The filter is tested row by row; nothing is skipped.
arrow::Result<std::unique_ptr<Scan>> ScanArrowFiles(const std::vector<std::string>& paths, const ScanOptions& options,
                                                    const Context& context);

}  // namespace calve::pipeline
