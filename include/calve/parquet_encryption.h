#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace calve {

/// Which key of an encrypted Parquet file is wanted.
struct ParquetKeyRequest {
  std::string_view column;        ///< dotted path of a leaf column; empty: the footer's key
  std::string_view key_metadata;  ///< what the writer left in the file to find the key by; may be empty
};

/// How to read files under Parquet's modular encryption. Keys are AES keys: 16, 24 or 32 bytes.
///
/// A key is first looked for among those given here, then asked of `find_key`. A column whose key is nowhere does not
/// keep the file from being opened: it is an error of the column, when that is asked for.
struct ParquetDecryption {
  /// The key of the footer, of its signature, and of columns that were encrypted with the footer's key.
  std::string footer_key;
  /// Dotted path of a leaf column ("a.list.element") to its key.
  std::map<std::string, std::string> column_keys;
  /// Finds a key by its metadata; no value: there is none. Asked once for each key metadata and column of a file, by
  /// one thread at a time, from the calls that open and read the file. Its failure is that of the column, or of the
  /// file when the footer's key was asked for.
  std::function<arrow::Result<std::optional<std::string>>(const ParquetKeyRequest&)> find_key;

  /// The identity that the file must have been written under. Needed when the file does not hold its prefix; compared
  /// when it does; Invalid for files written without one.
  std::string aad_prefix;
  /// Called at Open with the prefix that a file holds; its failure is that of Open.
  std::function<arrow::Status(std::string_view)> verify_aad_prefix;

  /// Checks the signature of footers that were left in plaintext; needs the footer's key. When off, what such a footer
  /// says is believed.
  bool verify_footer_signature = true;
  /// Reads files that are not encrypted, too. When off, a plaintext file in the place of an encrypted one is Invalid.
  bool allow_plaintext_files = false;
};

}  // namespace calve
