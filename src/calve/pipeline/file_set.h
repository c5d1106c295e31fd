#pragma once

#include "calve/base/operation_pool.h"
#include "calve/context.h"
#include "calve/expr/node.h"
#include "calve/io/file_io.h"
#include "calve/parquet_reader.h"
#include "calve/pipeline/column_projection.h"
#include "calve/pipeline/ordered_batches.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace calve::pipeline {

/// A Parquet file to read.
struct FileToRead {
  std::string location;
  std::optional<int64_t> expected_size_bytes;  ///< another size is Invalid, unless `describe` finds the file right
  /// For a whole file of another size: OK when it is the expected one all the same. Called once, at most.
  std::function<arrow::Status(const ParquetReader&, const SourceSchema&)> describe;
  FileValues values;
  /// Bound to filter_columns (by field id); null or TRUE: every row.
  expr::NodePtr filter;
};

/// What is read of every file of a set.
struct FileSetOptions {
  std::vector<TargetField> output;
  std::vector<TargetField> filter_columns;  ///< read where a filter is to be applied, not returned
  ProjectionRules rules;
  /// Gives the fields of a file without ids theirs. Called from several threads.
  std::function<arrow::Status(const ParquetReader&, SourceSchema*)> identify;
  int64_t batch_rows = 65536;
  std::shared_ptr<const ParquetDecryption> decryption;  ///< of encrypted files
};

/// What has been read so far. Thread-safe.
class FileSetCounts {
 public:
  std::atomic<int64_t> row_groups_total{0}, row_groups_skipped{0};
  std::atomic<int64_t> row_groups_skipped_by_bloom_filter{0}, row_groups_skipped_by_page_index{0},
      row_groups_skipped_by_dictionary{0};  ///< of those skipped; the others are by statistics
  std::atomic<int64_t> pages_read{0}, pages_skipped{0};
  std::atomic<int64_t> rows_read{0}, rows_returned{0};  ///< read: decoded of the columns that are tested
  std::atomic<int64_t> bytes_read{0}, bytes_total{0};   ///< compressed, of the column chunks to read

  void Add(const ParquetReadMetrics& metrics);
  ParquetReadMetrics parquet() const;  ///< summed over the row groups that were read

 private:
  mutable std::mutex mutex_;
  ParquetReadMetrics parquet_;
};

/// Parquet files read as one stream of batches, in order.
class FileSet {
 public:
  /// Checks every file before a row of any is read: that it is there, whole, of the expected size, and that its columns
  /// can be decoded and turned into the output. Row groups whose statistics exclude the filter are left out.
  static arrow::Result<std::unique_ptr<FileSet>> Open(std::shared_ptr<const FileIO> io, std::vector<FileToRead> files,
                                                      FileSetOptions options, std::shared_ptr<OperationPool> pool,
                                                      const Context& context);
  ~FileSet();

  /// The next batch, null at the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next();
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  const FileSetCounts& counts() const;
  /// Rows of the i-th file by its footer.
  int64_t rows_of_file(size_t i) const { return file_rows_[i]; }

 private:
  struct Shared;
  class File;
  class RowGroupSource;

  FileSet() = default;

  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<Shared> shared_;
  std::vector<int64_t> file_rows_;
  std::unique_ptr<OrderedBatches> batches_;
};

/// Calls Context::progress a few times a second.
class ProgressMeter {
 public:
  explicit ProgressMeter(const Context& context) : context_(context) {}
  /// `last`: report whatever the time is.
  void Report(const Progress& progress, bool last = false);

 private:
  Context context_;
  int64_t last_report_ns_ = 0;
};

}  // namespace calve::pipeline
