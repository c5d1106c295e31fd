#pragma once

#include "calve/context.h"
#include "calve/expression.h"
#include "calve/parquet_encryption.h"
#include "calve/parquet_writer.h"

#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace calve {

struct CopyOptions {
  std::vector<std::string> columns;                     ///< top-level names; empty: all of all inputs
  Expression filter;                                    ///< rows to copy
  std::shared_ptr<const ParquetDecryption> decryption;  ///< of encrypted Parquet inputs; null: none can be read
  ParquetWriteOptions parquet;
  /// Files are ended when they have about so many bytes; then the destination is a folder. 0: one file.
  int64_t target_file_size_bytes = 0;
  bool overwrite = false;  ///< replaces files that are there
};

/// How a leaf column came out, over all files written.
struct CopiedColumn {
  std::string name;                    ///< dotted path
  std::vector<std::string> encodings;  ///< of its data pages and dictionaries, in the footer's words
  int64_t compressed_bytes = 0, uncompressed_bytes = 0;
};

struct CopiedFile {
  std::string path;
  int64_t rows = 0, bytes = 0;
};

struct CopyResult {
  int64_t rows = 0;
  int64_t input_bytes = 0;   ///< of the input files
  int64_t output_bytes = 0;  ///< of the files written
  std::vector<CopiedFile> files;
  std::vector<CopiedColumn> columns;
  int64_t peak_memory_bytes = 0;                                    ///< of buffers, within the context's budget
  double read_seconds = 0, write_seconds = 0, publish_seconds = 0;  ///< reading ahead overlaps with writing
};

/// Copies the rows of files to Parquet, in the order of the inputs: Parquet, Arrow IPC (file or stream) and CSV, told
/// by their first bytes, otherwise by their names (.csv, .tsv). Inputs that differ are unified by column name: columns
/// that one does not have are null, types become one that holds both where Arrow has such a one; otherwise Invalid
/// names the input and the column.
///
/// `to` names the file, or, when it is a folder or files are ended by size, the folder, in which they are called
/// part-00000.parquet and so on. All files get their names when all are written and synced; an error, a stop or the end
/// of the process before leaves none of them (a process that is killed leaves hidden temporary files).
arrow::Result<CopyResult> CopyToParquet(const std::vector<std::string>& inputs, const std::string& to,
                                        const CopyOptions& options = {}, const Context& context = {});

}  // namespace calve
