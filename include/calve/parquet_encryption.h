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

/// A key that a file is encrypted with.
struct ParquetKey {
  std::string key;       ///< 16, 24 or 32 bytes
  std::string metadata;  ///< left in the file for readers to find the key by; may be empty
};

/// How to write files under Parquet's modular encryption.
///
/// Each leaf column is encrypted with a key of its own when `column_keys` or `find_key` has one, and with the footer's
/// key otherwise. A file's own unique bytes are drawn at random.
struct ParquetEncryption {
  ParquetKey footer_key;
  /// Dotted path of a leaf column ("a.list.element") to its key.
  std::map<std::string, ParquetKey> column_keys;
  /// Asked for keys that are not given above, once each, before anything is written: with the path of a leaf column,
  /// or "" for the footer's key. No value: there is none, which of the footer's is Invalid.
  std::function<arrow::Result<std::optional<ParquetKey>>(std::string_view column)> find_key;
  /// Columns without a key of their own are left in plaintext, instead of under the footer's key.
  bool other_columns_plaintext = false;

  /// Leaves the footer readable without a key, and signs it. Statistics of encrypted columns are not in it.
  bool plaintext_footer = false;
  /// Encrypts pages with AES-CTR (AES_GCM_CTR_V1): faster, and nothing tells when a page was tampered with.
  bool ctr_pages = false;
  /// An identity that readers must know the file by, such as its name.
  std::string aad_prefix;
  bool store_aad_prefix = true;  ///< off: readers must be given it
};

}  // namespace calve
