#pragma once

#include "calve/context.h"
#include "calve/expression.h"
#include "calve/parquet_reader.h"
#include "calve/table.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace arrow {
class RecordBatchReader;
}

namespace calve {

/// What several Parquet files whose columns differ are read as (docs/format/schema-unification.md).
enum class FileSchemas {
  kUnionByName,  ///< the columns of all files; those of one name are one, of a type that holds every file's values
  kUnionById,    ///< the same by field id; every file has to have them. Names are those of the first file with the id
  kFirst,        ///< the first file's columns, by name; columns that only later files have are left out
};

struct ScanOptions {
  /// Columns by dotted name, in this order; empty: all. "_row_id" and "_last_updated_sequence_number" may be named in
  /// v3 tables, "_file" and "_pos" in any.
  std::vector<std::string> columns;
  Expression filter;  ///< may test "_file" and "_pos", of tables the other metadata columns too
  /// At most one of these three.
  std::optional<int64_t> snapshot_id;
  std::optional<std::string> ref;
  std::optional<int64_t> as_of_ms;
  int64_t batch_rows = 65536;
  FileSchemas file_schemas = FileSchemas::kUnionByName;  ///< of ScanFiles
  /// Keys of encrypted Parquet files; null: such files are an error.
  std::shared_ptr<const ParquetDecryption> decryption;
};

/// What a scan skipped and read.
struct ScanMetrics {
  int64_t manifests_total = 0, manifests_skipped = 0;
  int64_t data_files_total = 0, data_files_skipped = 0;
  int64_t data_files_skipped_by_partition = 0, data_files_skipped_by_bounds = 0;
  int64_t row_groups_total = 0, row_groups_skipped = 0;
  int64_t row_groups_skipped_by_bloom_filter = 0, row_groups_skipped_by_page_index = 0,
          row_groups_skipped_by_dictionary = 0;  ///< of those skipped; the others are by statistics
  int64_t pages_read = 0, pages_skipped = 0;     ///< of the row groups read; skipped: not decompressed
  int64_t bytes_planned = 0;
  int64_t rows_read = 0, rows_returned = 0;
  int64_t peak_memory_bytes = 0;
  ParquetReadMetrics parquet;  ///< of the row groups read to their end, or given up
};

/// A running scan: batches in the order of the plan, each of the schema asked for.
class Scan {
 public:
  virtual ~Scan() = default;
  /// Pulls batches; an error ends the stream. May be called once. The reader keeps the scan's parts alive.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> reader() = 0;
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  /// So far; complete when the reader is at its end.
  virtual ScanMetrics metrics() const = 0;
  /// One row a planned file: file_path, record_count, file_size_in_bytes, partition, residual.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Plan() const = 0;
};

/// Scans a table. Everything that cannot be read rightly is refused here, before a row is returned: NotImplemented
/// names the delete kind, file format, encoding or type.
arrow::Result<std::unique_ptr<Scan>> ScanTable(const Table& table, const ScanOptions& options,
                                               const Context& context = {});

/// Scans Parquet files as one, with the columns that ScanOptions::file_schemas says. A file that lacks a column gives
/// nulls; one whose type differs is cast when that loses nothing, otherwise Invalid names file and column. Snapshot
/// options must be empty.
///
/// Arrow IPC files and streams are scanned too, when the first path names such (OpenArrowFile); all must have the same
/// columns, of which whole ones are asked for, else NotImplemented. Nothing is skipped by the filter.
arrow::Result<std::unique_ptr<Scan>> ScanFiles(const std::vector<std::string>& paths, const ScanOptions& options,
                                               const Context& context = {});

}  // namespace calve
