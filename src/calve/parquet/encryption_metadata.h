#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

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
  std::vector<std::string> path_in_schema;  ///< of a column key; written, not read
  std::string key_metadata;                 ///< of a column key
  std::string encrypted_column_metadata;    ///< a module; empty: the chunk's metadata stands in the footer
  /// Decrypts the chunk's other modules. Null until the chunk's own metadata is decrypted, or when that failed.
  std::shared_ptr<ChunkDecryptor> decryptor;
  /// Why the chunk cannot be read: its key is missing or wrong.
  arrow::Status failure = arrow::Status::Invalid("encrypted column, not decrypted");
};

class ThriftReader;
class ThriftWriter;
struct ColumnMetadata;
struct FileMetadata;

/// Read the structure that `in` stands at.
void ReadEncryptionAlgorithm(ThriftReader& in, EncryptionAlgorithm* out);
void ReadColumnCryptoMetadata(ThriftReader& in, ColumnCryptoMetadata* out);

/// Parses the members 8 and 9 of a plaintext FileMetaData, and skips the others.
arrow::Result<FileCryptoMetadata> ParseFooterCrypto(std::span<const uint8_t> bytes);
/// Parses the structure before an encrypted footer; `size_bytes` gets the bytes it took.
arrow::Result<FileCryptoMetadata> ParseFileCryptoMetadata(std::span<const uint8_t> bytes, size_t* size_bytes);

/// Write the members of these structures.
void WriteEncryptionAlgorithm(ThriftWriter* out, const EncryptionAlgorithm& algorithm);
void WriteColumnCryptoMetadata(ThriftWriter* out, const ColumnCryptoMetadata& crypto);

/// The structure before an encrypted footer.
std::string Serialize(const FileCryptoMetadata& file);
/// A plaintext footer of an encrypted file, with members 8 and 9.
std::string Serialize(const FileMetadata& metadata, const FileCryptoMetadata& file);
/// A ColumnMetaData that stands alone.
std::string Serialize(const ColumnMetadata& column);

}  // namespace calve::parquet
