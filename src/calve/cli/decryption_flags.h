#pragma once

#include "calve/parquet_encryption.h"

#include <arrow/result.h>

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace calve::cli {

/// The keys of encrypted Parquet files that a command reads.
struct DecryptionFlags {
  std::string prefix;  ///< of the flags' names, where a command also has keys to write with
  std::string footer_key;
  std::vector<std::string> column_keys;
};

/// Adds --footer-key and --column-key, or with a prefix such as "input-" --input-footer-key and so on.
void AddDecryptionFlags(CLI::App* command, const std::string& prefix, DecryptionFlags* flags);

/// The keys; null when none is given. Files that are not encrypted are read beside encrypted ones.
arrow::Result<std::shared_ptr<const ParquetDecryption>> DecryptionOf(const DecryptionFlags& flags);

}  // namespace calve::cli
