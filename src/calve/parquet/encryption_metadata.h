#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace calve::parquet {

/// EncryptionAlgorithm of parquet.thrift, flattened: both kinds have the same members.
struct EncryptionAlgorithm {
  enum class Kind { kUnknown = 0, kAesGcmV1 = 1, kAesGcmCtrV1 = 2 } kind = Kind::kUnknown;
  std::optional<std::string> aad_prefix;
  std::string aad_file_unique;
  bool supply_aad_prefix = false;  ///< there is a prefix that the file does not hold
};

/// What an encrypted file says in plaintext: FileCryptoMetaData, or the members 8 and 9 of a plaintext footer.
struct FileCryptoMetadata {
  EncryptionAlgorithm algorithm;
  std::string key_metadata;  ///< of the footer's key
};

class ChunkDecryptor;

/// What a ColumnChunk says of its encryption, and what came of it.
struct ColumnCryptoMetadata {
  enum class Kind { kUnknown = 0, kFooterKey = 1, kColumnKey = 2 } kind = Kind::kUnknown;
  std::string key_metadata;               ///< of a column key
  std::string encrypted_column_metadata;  ///< a module; empty: the chunk's metadata stands in the footer
  /// Decrypts the chunk's other modules. Null until the chunk's own metadata is decrypted, or when that failed.
  std::shared_ptr<ChunkDecryptor> decryptor;
  /// Why the chunk cannot be read: its key is missing or wrong.
  arrow::Status failure = arrow::Status::Invalid("encrypted column, not decrypted");
};

class ThriftReader;

/// Read the structure that `in` stands at.
void ReadEncryptionAlgorithm(ThriftReader& in, EncryptionAlgorithm* out);
void ReadColumnCryptoMetadata(ThriftReader& in, ColumnCryptoMetadata* out);

/// Parses the members 8 and 9 of a plaintext FileMetaData, and skips the others.
arrow::Result<FileCryptoMetadata> ParseFooterCrypto(std::span<const uint8_t> bytes);
/// Parses the structure before an encrypted footer; `size_bytes` gets the bytes it took.
arrow::Result<FileCryptoMetadata> ParseFileCryptoMetadata(std::span<const uint8_t> bytes, size_t* size_bytes);

}  // namespace calve::parquet
