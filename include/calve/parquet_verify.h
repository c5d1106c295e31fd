#pragma once

#include "calve/context.h"

#include <arrow/io/type_fwd.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace calve {

struct ParquetDecryption;

/// A rule of the format that a file breaks. docs/format/verify.md lists the rules by name.
struct ParquetViolation {
  std::string rule;     ///< "statistics.max_value"
  int row_group = -1;   ///< -1: of the file as a whole
  std::string column;   ///< dotted path of a leaf; empty: of the row group or the file
  int64_t page = -1;    ///< in its chunk, a dictionary page included; -1: of the chunk
  int64_t offset = -1;  ///< of that page's header in the file
  std::string said;     ///< by the file
  std::string is;       ///< as found
};

/// "row group 0, column 'a', page 3 at byte 4096: statistics.max_value: said 5, is 9"
std::string ToString(const ParquetViolation& violation);

struct ParquetVerifyOptions {
  /// Keys for encrypted files. Columns without a key are not checked, which the result says.
  std::shared_ptr<const ParquetDecryption> decryption;
  int64_t most_violations = 1000;  ///< kept; those beyond are counted
};

/// What was checked, and what was found.
struct ParquetVerification {
  int64_t bytes = 0, rows = 0, row_groups = 0, columns = 0;
  int64_t pages = 0, values = 0;  ///< decoded; nulls count as values
  std::vector<ParquetViolation> violations;
  int64_t violation_count = 0;           ///< those beyond `most_violations` included
  std::vector<std::string> not_checked;  ///< what could not be, and why: "row group 0, column 'a': no key ..."
  bool ok() const { return violation_count == 0; }
};

/// Checks a Parquet file against the format's rules, whoever wrote it: every page is decoded, and what the footer, the
/// page headers, the indexes, the statistics and the bloom filters say is compared with what is there. Memory is
/// bounded by a page, its dictionary and a bloom filter a thread, and what the footer holds.
///
/// A file that breaks rules, and even one that is no Parquet file, is a result with violations. An error is about the
/// storage, memory or a stop.
arrow::Result<ParquetVerification> VerifyParquet(const std::string& path, const ParquetVerifyOptions& options = {},
                                                 const Context& context = {});
arrow::Result<ParquetVerification> VerifyParquet(std::shared_ptr<arrow::io::RandomAccessFile> file,
                                                 const ParquetVerifyOptions& options = {}, const Context& context = {});

}  // namespace calve
