#pragma once

#include "calve/append.h"
#include "calve/base/operation_pool.h"
#include "calve/iceberg/manifest.h"

#include <arrow/result.h>

#include <optional>
#include <string>
#include <vector>

namespace calve::pipeline {

/// Parquet files as data files of a table, where they lie.
struct RegisteredFiles {
  std::vector<iceberg::DataFile> files;
  /// The name mapping that the table needs for them and does not have, as JSON text.
  std::optional<std::string> name_mapping;
};

/// Reads the footers of `paths`. Invalid names the file: one that is in the table already, lacks a required column, has
/// a column that the table lacks or of another type, or may hold rows of more than one partition.
arrow::Result<RegisteredFiles> RegisterFiles(const Table& table, const std::vector<std::string>& paths,
                                             const std::string& branch, std::shared_ptr<OperationPool> pool,
                                             const Context& context);

}  // namespace calve::pipeline
