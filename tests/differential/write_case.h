#pragma once

#include <arrow/status.h>

#include <cstdint>
#include <string>

namespace calve::differential {

/// A file that calve wrote of random rows.
struct WrittenCase {
  /// Whose reading can be compared, of "pyarrow", "duckdb", "polars" and "arrow-rs".
  std::string readers;
  std::string options;  ///< for people
};

/// Writes case `index` of `seed` with random options to `file`, checks it by VerifyParquet, reads it back, and leaves
/// the rows in plain form in the IPC file `table`. Whatever is not as it should be is an error; `written` is set even
/// then.
arrow::Status WriteCase(uint64_t seed, int64_t index, const std::string& file, const std::string& table,
                        WrittenCase* written);

}  // namespace calve::differential
