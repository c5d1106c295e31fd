#pragma once

#include "calve/parquet/metadata.h"

#include <arrow/io/interfaces.h>

namespace calve::parquet {

/// A file's footer, parsed.
struct Footer {
  FileMetadata metadata;
  int64_t file_size = 0;
  int64_t begin = 0;  ///< where the footer's thrift begins in the file
};

/// Reads the footer at the end of a file. Invalid for what is no Parquet file or is cut short, NotImplemented for an
/// encrypted one.
Result<Footer> ReadFooter(arrow::io::RandomAccessFile* file);

}  // namespace calve::parquet
