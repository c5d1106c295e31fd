#pragma once

#include "calve/parquet/metadata.h"
#include "calve/parquet/verify_report.h"

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace arrow {
class Buffer;
namespace io {
class RandomAccessFile;
}
}  // namespace arrow

namespace calve::parquet {

class ChunkDecryptor;

/// Looks up every value of a column chunk in its bloom filter, which must hold them all.
class BloomVerifier {
 public:
  /// Reads the filter of `column`, if it has one; what is wrong with it goes to the report. `end`: where the footer
  /// begins.
  Status Open(arrow::io::RandomAccessFile* file, const ColumnMetadata& column, int64_t end, ChunkDecryptor* decryptor,
              VerifyReport* report, arrow::MemoryPool* pool);
  /// Values as PLAIN has them, without a length before them.
  void Take(std::span<const std::string_view> values);
  /// Reports what is missing.
  void Finish(VerifyReport* report) const;

 private:
  std::shared_ptr<arrow::Buffer> bits_;  ///< null: no filter
  int64_t blocks_ = 0;
  int64_t missing_ = 0;
};

}  // namespace calve::parquet
