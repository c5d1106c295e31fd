#pragma once

#include "calve/parquet/schema.h"
#include "calve/parquet_reader.h"

#include <cstdint>
#include <memory>
#include <string>

namespace calve::parquet {

/// An open file, as its batch readers need it. Immutable.
struct OpenFile {
  std::shared_ptr<arrow::io::RandomAccessFile> file;
  std::string name;
  int64_t size_bytes = 0;
  int64_t num_rows = 0;  ///< of all row groups
  int64_t data_end = 0;  ///< where the footer begins
  FileMetadata metadata;
  FileSchema schema;
  ParquetReadOptions options;
  Context context;
  int64_t footer_cache_hits = 0;  ///< of opening it
};

}  // namespace calve::parquet
