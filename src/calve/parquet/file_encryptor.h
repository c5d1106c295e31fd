#pragma once

#include "calve/crypto/module.h"
#include "calve/parquet/column_writer.h"
#include "calve/parquet/encryption_metadata.h"
#include "calve/parquet_encryption.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace calve::parquet {

/// Encrypts the modules of one column chunk. Not thread-safe.
class ChunkEncryptor {
 public:
  ChunkEncryptor(crypto::ModuleEncryptor modules, int64_t row_group, int64_t column)
      : modules_(std::move(modules)), row_group_(row_group), column_(column) {}

  /// The module that `plaintext` becomes. `page`: the ordinal of data pages and their headers.
  Result<std::string> Encrypt(crypto::ModuleType type, std::string_view plaintext, int64_t page = 0);
  /// Encrypts the pages and their headers, and corrects the sizes and offsets that the chunk says.
  Status EncryptPages(WrittenChunk* chunk);

 private:
  crypto::ModuleEncryptor modules_;
  int64_t row_group_, column_;
};

/// The keys of a file that is written encrypted, and what encrypts its parts.
class FileEncryptor {
 public:
  /// Asks for all keys. Invalid when the footer has none, a key has a wrong size, or is for a column that is not there.
  static Result<std::unique_ptr<FileEncryptor>> Make(std::shared_ptr<const ParquetEncryption> encryption,
                                                     std::span<const WrittenLeaf> leaves);

  bool plaintext_footer() const { return encryption_->plaintext_footer; }
  /// Of leaf `column`; null: it is left in plaintext. Thread-safe.
  Result<std::unique_ptr<ChunkEncryptor>> OpenChunk(int64_t row_group, int64_t column) const;
  /// Puts what `chunk`, of `encryptor`, says of itself under its key, as far as the footer is not.
  Status EncryptMetadata(int64_t column, ChunkEncryptor* encryptor, ColumnChunk* chunk) const;
  /// All that stands between the last page or index and the length at the end of the file.
  Result<std::string> EncryptFooter(const FileMetadata& metadata) const;

 private:
  /// What a column is encrypted with; no key: nothing.
  struct ColumnKey {
    std::optional<crypto::AesKey> key;
    bool is_footers = false;
    std::string metadata;
  };

  FileEncryptor(std::shared_ptr<const ParquetEncryption> encryption, crypto::AesKey footer_key)
      : encryption_(std::move(encryption)), footer_key_(std::move(footer_key)) {}
  Status SetAad(std::string footer_key_metadata);
  Result<ColumnKey> FindColumnKey(const std::string& path) const;
  crypto::PageCipher pages() const {
    return encryption_->ctr_pages ? crypto::PageCipher::kCtr : crypto::PageCipher::kGcm;
  }

  std::shared_ptr<const ParquetEncryption> encryption_;
  crypto::AesKey footer_key_;
  std::vector<ColumnKey> columns_;
  FileCryptoMetadata file_;
  std::string aad_;  ///< prefix and unique bytes
};

}  // namespace calve::parquet
