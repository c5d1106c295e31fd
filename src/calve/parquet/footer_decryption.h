#pragma once

#include "calve/parquet/file_decryptor.h"
#include "calve/parquet/metadata.h"

#include <memory>
#include <span>
#include <string>

namespace calve::parquet {

/// A footer's thrift in plaintext, and what decrypts the rest of its file.
struct DecryptedFooter {
  std::shared_ptr<arrow::Buffer> thrift;
  std::shared_ptr<FileDecryptor> decryptor;
};

/// Decrypts what lies before the length and "PARE" of a file: FileCryptoMetaData and the footer's module. Invalid
/// without `keys`.
Result<DecryptedFooter> DecryptFooter(std::span<const uint8_t> bytes, std::shared_ptr<const ParquetDecryption> keys,
                                      arrow::MemoryPool* pool);

/// Checks the signature of a footer in plaintext, its thrift and what follows it, and makes what decrypts the rest of
/// its file. Null for a file that is not `encrypted` (has no encryption_algorithm); that is Invalid when there are
/// `keys` and they do not allow it.
Result<std::shared_ptr<FileDecryptor>> CheckPlaintextFooter(bool encrypted, std::span<const uint8_t> bytes,
                                                            std::shared_ptr<const ParquetDecryption> keys);

/// Decrypts the metadata of a chunk if it is encrypted, and leaves what decrypts its pages and indexes in
/// `chunk->crypto->decryptor`; or in `chunk->crypto->failure` what keeps the chunk from being read, as a missing key
/// does. `path` is the dotted path of its leaf; `decryptor` may be null.
void DecryptChunk(FileDecryptor* decryptor, const std::string& path, int64_t row_group, int64_t column,
                  ColumnChunk* chunk);

}  // namespace calve::parquet
