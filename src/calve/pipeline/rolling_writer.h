#pragma once

#include "calve/base/operation_pool.h"
#include "calve/context.h"
#include "calve/iceberg/commit.h"
#include "calve/parquet_writer.h"
#include "calve/pipeline/data_location.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::pipeline {

/// What the writers of one operation share.
struct WriteSetup {
  std::shared_ptr<const FileIO> io;
  const iceberg::TableMetadata* metadata = nullptr;  ///< outlives the writers
  std::shared_ptr<arrow::Schema> schema;             ///< of the batches and files, with field ids
  ParquetWriteOptions parquet;
  DataLocations locations;
  int64_t target_file_size_bytes = 0;
  std::shared_ptr<OperationPool> pool;
  /// Bytes that all open files of one writer may hold; 0: no limit.
  int64_t buffer_limit_bytes = 0;

  /// For the current schema and spec of `metadata`; with `lineage` files also hold _row_id and
  /// _last_updated_sequence_number. `writers`: how many share the budget of `pool`.
  static arrow::Result<WriteSetup> Make(std::shared_ptr<const FileIO> io, const iceberg::TableMetadata& metadata,
                                        bool lineage, int writers, std::shared_ptr<OperationPool> pool);
};

/// Writes rows to data files of a table: each row to a file of its partition under the current spec, a new file
/// whenever one reaches the target size.
///
/// A bounded number of files is open at a time; when there are too many partitions, or the open files hold too much,
/// the largest is closed, and later rows of its partition begin another. Files are whole and synced under their final
/// names when Close() returns. Not thread-safe.
class RollingWriter {
 public:
  static arrow::Result<std::unique_ptr<RollingWriter>> Make(const WriteSetup& setup, int64_t task,
                                                            const Context& context);
  ~RollingWriter();

  arrow::Status Write(const std::shared_ptr<arrow::RecordBatch>& batch);
  /// Closes all files; returns those written, metrics set, in the order of their beginning.
  arrow::Result<std::vector<iceberg::DataFile>> Close();
  /// Drops open files and deletes the written ones. Also done on destruction without a successful Close().
  void Abort();
  int64_t rows_written() const { return rows_written_; }

 private:
  struct Impl;
  explicit RollingWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  int64_t rows_written_ = 0;
};

/// Deletes data files that no commit names. Failures are ignored: they leave garbage, not a wrong table.
void DeleteFiles(const FileIO& io, const std::vector<iceberg::DataFile>& files);

}  // namespace calve::pipeline
