#pragma once

#include "calve/iceberg/table_metadata.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::pipeline {

/// A partition that rows were routed to.
struct RoutedPartition {
  std::vector<Value> values;  ///< in the order of the spec
  std::string path;           ///< "cat=a/d_day=2024-01-31"
};

/// Rows of a batch that go to one partition, in their order.
struct RoutedRows {
  size_t partition = 0;  ///< index for RowRouter::partition
  std::shared_ptr<arrow::RecordBatch> rows;
};

/// Routes rows through the transforms of a partition spec. Not thread-safe.
class RowRouter {
 public:
  /// NotImplemented names a transform that is not known; Invalid a source column that `columns` lacks.
  static arrow::Result<std::unique_ptr<RowRouter>> Make(const iceberg::TableMetadata& metadata,
                                                        const iceberg::PartitionSpec& spec,
                                                        const arrow::Schema& columns, arrow::MemoryPool* pool);
  ~RowRouter();

  /// Splits `batch` by partition, partitions in the order in which they were first met.
  arrow::Result<std::vector<RoutedRows>> Route(const std::shared_ptr<arrow::RecordBatch>& batch);
  const RoutedPartition& partition(size_t index) const;

 private:
  struct Impl;
  explicit RowRouter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace calve::pipeline
