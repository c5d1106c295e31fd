#include "calve/parquet/footer_decryption.h"

#include "calve/base/status.h"

// Encryption.md of the Parquet format, 5.3 to 5.5:
//
//   encrypted footer := FileCryptoMetaData module of(FileMetaData)       and then their size (4 bytes) "PARE"
//   plaintext footer := FileMetaData signature (28 bytes)                and then their size (4 bytes) "PAR1"
//
// The metadata of a chunk is a module of its own when the chunk's key is not the footer's, or the footer is in
// plaintext; in the second case the footer has it in plaintext too, without statistics.

namespace calve::parquet {
namespace {

Status Decrypt(FileDecryptor* decryptor, const std::string& path, int64_t row_group, int64_t column,
               ColumnChunk* chunk) {
  if (decryptor == nullptr) return Invalid("encrypted column in a file that names no encryption algorithm");
  ARROW_ASSIGN_OR_RAISE(auto modules, decryptor->OpenChunk(*chunk->crypto, path, row_group, column));
  const std::string& module = chunk->crypto->encrypted_column_metadata;
  if (module.empty()) {
    chunk->crypto->decryptor = std::move(modules);
    return Status::OK();
  }
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(module.data()), module.size());
  ARROW_ASSIGN_OR_RAISE(
      auto thrift, modules->Decrypt(crypto::ModuleType::kColumnMetadata, bytes, nullptr, arrow::default_memory_pool()));
  ARROW_ASSIGN_OR_RAISE(chunk->metadata, ParseColumnMetadata({thrift->data(), static_cast<size_t>(thrift->size())}));
  chunk->crypto->decryptor = std::move(modules);
  return Status::OK();
}

}  // namespace

Result<DecryptedFooter> DecryptFooter(std::span<const uint8_t> bytes, std::shared_ptr<const ParquetDecryption> keys,
                                      arrow::MemoryPool* pool) {
  if (keys == nullptr) return Invalid("encrypted Parquet file, and no keys were given");
  size_t size = 0;
  ARROW_ASSIGN_OR_RAISE(FileCryptoMetadata file, ParseFileCryptoMetadata(bytes, &size));
  DecryptedFooter footer;
  ARROW_ASSIGN_OR_RAISE(footer.decryptor, FileDecryptor::Make(std::move(file), std::move(keys)));
  ARROW_ASSIGN_OR_RAISE(footer.thrift, footer.decryptor->DecryptFooter(bytes.subspan(size), pool));
  return footer;
}

Result<std::shared_ptr<FileDecryptor>> CheckPlaintextFooter(bool encrypted, std::span<const uint8_t> bytes,
                                                            std::shared_ptr<const ParquetDecryption> keys) {
  if (!encrypted) {
    if (keys == nullptr || keys->allow_plaintext_files) return nullptr;
    return Invalid("keys were given, but the file is not encrypted (ParquetDecryption::allow_plaintext_files)");
  }
  ARROW_ASSIGN_OR_RAISE(FileCryptoMetadata file, ParseFooterCrypto(bytes));
  ARROW_ASSIGN_OR_RAISE(auto decryptor, FileDecryptor::Make(std::move(file), std::move(keys)));
  ARROW_RETURN_NOT_OK(decryptor->CheckSignature(bytes));
  return decryptor;
}

void DecryptChunk(FileDecryptor* decryptor, const std::string& path, int64_t row_group, int64_t column,
                  ColumnChunk* chunk) {
  if (chunk->crypto != nullptr) chunk->crypto->failure = Decrypt(decryptor, path, row_group, column, chunk);
}

}  // namespace calve::parquet
