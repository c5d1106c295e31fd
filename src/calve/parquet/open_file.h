#pragma once

#include "calve/parquet/footer.h"
#include "calve/parquet_reader.h"

#include <cstdint>
#include <memory>
#include <string>

namespace calve::parquet {

/// An open file, as its batch readers need it. Immutable.
struct OpenFile {
  std::shared_ptr<arrow::io::RandomAccessFile> file;
  std::string name;
  std::shared_ptr<const Footer> footer;
  ParquetReadOptions options;
  Context context;
  int64_t footer_cache_hits = 0;  ///< of opening it
};

}  // namespace calve::parquet
