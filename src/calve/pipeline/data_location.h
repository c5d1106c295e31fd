#pragma once

#include "calve/iceberg/commit.h"

#include <arrow/result.h>

#include <string>

namespace calve::pipeline {

/// Names the data files of one operation: unique, under the table's data location and the folder of their partition.
///
/// `write.object-storage.enabled` spreads them over folders named by a hash of the file's name instead, with the
/// partition's folder inside unless `write.object-storage.partitioned-paths` is false. Thread-safe.
class DataLocations {
 public:
  static arrow::Result<DataLocations> Make(const iceberg::TableMetadata& metadata);

  /// "{data}/{partition_path}/{task:05}-{count}-{uuid}.parquet".
  std::string New(const std::string& partition_path, int64_t task, int64_t count) const;

 private:
  std::string folder_;
  std::string uuid_;
  bool spread_ = false;
  bool partition_folders_ = true;
};

}  // namespace calve::pipeline
