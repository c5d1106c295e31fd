#pragma once

#include "calve/parquet/encryption_metadata.h"
#include "calve/parquet_encryption.h"

#include "calve/crypto/module.h"

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace calve::parquet {

using arrow::Result;
using arrow::Status;

/// Decrypts the modules of one column chunk. Thread-safe: as many contexts are made as threads are in it at once.
class ChunkDecryptor {
 public:
  ChunkDecryptor(const crypto::AesKey& key, std::string file_aad, crypto::PageCipher pages, int64_t row_group,
                 int64_t column)
      : key_(key), file_aad_(std::move(file_aad)), pages_(pages), row_group_(row_group), column_(column) {}

  crypto::PageCipher pages() const { return pages_; }
  /// Decrypts to `plaintext`, as long as the ciphertext. `page`: the ordinal of data pages and their headers. Invalid
  /// names the module.
  Status Decrypt(crypto::ModuleType type, int64_t page, const crypto::ModuleParts& parts, std::span<uint8_t> plaintext);
  /// Decrypts the module at the start of `bytes`, such as an index or a bloom filter's header; `size_bytes`, when there
  /// is one, gets the bytes it took.
  Result<std::shared_ptr<arrow::Buffer>> Decrypt(crypto::ModuleType type, std::span<const uint8_t> bytes,
                                                 size_t* size_bytes, arrow::MemoryPool* pool);

 private:
  Result<crypto::ModuleDecryptor> TakeContext();

  const crypto::AesKey key_;
  const std::string file_aad_;
  const crypto::PageCipher pages_;
  const int64_t row_group_, column_;
  std::mutex mutex_;
  std::vector<crypto::ModuleDecryptor> spare_;
};

/// Finds the keys of an encrypted file, and makes what decrypts its parts. Thread-safe.
class FileDecryptor {
 public:
  /// `keys` may be null: there are none, as for a reader that only wants the columns in plaintext. NotImplemented for
  /// an unknown algorithm; Invalid when the AAD prefix that is stored, given or missing does not fit.
  static Result<std::shared_ptr<FileDecryptor>> Make(FileCryptoMetadata file,
                                                     std::shared_ptr<const ParquetDecryption> keys);

  /// Decrypts an encrypted footer: the module that `bytes` are.
  Result<std::shared_ptr<arrow::Buffer>> DecryptFooter(std::span<const uint8_t> bytes, arrow::MemoryPool* pool);
  /// Checks a plaintext footer that is followed by its signature, unless that is not wanted.
  Status CheckSignature(std::span<const uint8_t> footer_and_signature);

  /// What decrypts the chunk of `row_group` and leaf `column`, whose dotted path is `path`. Invalid when there is no
  /// key for it.
  Result<std::shared_ptr<ChunkDecryptor>> OpenChunk(const ColumnCryptoMetadata& chunk, const std::string& path,
                                                    int64_t row_group, int64_t column);

 private:
  FileDecryptor(FileCryptoMetadata file, std::shared_ptr<const ParquetDecryption> keys)
      : file_(std::move(file)), keys_(std::move(keys)) {}
  Status SetAad();
  Result<crypto::AesKey> FooterKey();
  Result<crypto::AesKey> ColumnKey(const std::string& path, const std::string& key_metadata);
  Result<crypto::AesKey> FindKey(const std::string& given, const std::string& path, const std::string& key_metadata);

  FileCryptoMetadata file_;
  std::shared_ptr<const ParquetDecryption> keys_;
  std::string aad_;  ///< prefix and unique bytes
  crypto::PageCipher pages_ = crypto::PageCipher::kGcm;
  std::mutex mutex_;
  /// By path ("" for the footer) and key metadata.
  std::map<std::pair<std::string, std::string>, Result<crypto::AesKey>> found_;
};

}  // namespace calve::parquet
