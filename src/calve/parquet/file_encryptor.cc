#include "calve/parquet/file_encryptor.h"

#include "calve/base/status.h"
#include "calve/hash/hash.h"

#include <set>

// Encryption.md of the Parquet format, 5:
//
//   encrypted footer := FileCryptoMetaData module of(FileMetaData)
//   plaintext footer := FileMetaData signature (28 bytes)
//   page             := module of its header, module of its body; compressed_page_size and crc are the second module's
//
// The metadata of a chunk is a module of its own when the chunk's key is not the footer's, or the footer is in
// plaintext; in the second case the footer has it in plaintext too, without what tells of the values.

namespace calve::parquet {
namespace {

using crypto::ModuleType;
using ColumnKind = ColumnCryptoMetadata::Kind;

constexpr size_t kUniqueBytes = 8;

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string_view TextOf(const arrow::Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

Result<std::optional<ParquetKey>> Ask(const ParquetEncryption& encryption, const std::string& column) {
  if (!encryption.find_key) return std::nullopt;
  return WithContext(encryption.find_key(column), "finding the key");
}

/// Keys of columns that are not there would leave others in plaintext by a slip.
Status CheckColumns(const ParquetEncryption& encryption, std::span<const WrittenLeaf> leaves) {
  std::set<std::string> paths;
  for (const WrittenLeaf& leaf : leaves) paths.insert(leaf.column.dotted_path());
  for (const auto& [path, key] : encryption.column_keys) {
    if (!paths.contains(path)) return Invalid("a key for column '{}', which is not in the schema", path);
  }
  return Status::OK();
}

}  // namespace

Result<std::string> ChunkEncryptor::Encrypt(ModuleType type, std::string_view plaintext, int64_t page) {
  std::string module;
  ARROW_RETURN_NOT_OK(modules_.Encrypt({type, row_group_, column_, page}, BytesOf(plaintext), &module));
  return module;
}

Status ChunkEncryptor::EncryptPages(WrittenChunk* chunk) {
  ColumnMetadata& metadata = chunk->metadata;
  int64_t ordinal = 0;
  metadata.total_compressed_size = 0;
  for (WrittenPage& page : chunk->pages) {
    const bool is_dictionary = page.type == PageType::kDictionaryPage;
    ARROW_RETURN_NOT_OK(page.OwnBody(arrow::default_memory_pool()));
    ARROW_ASSIGN_OR_RAISE(std::string body, Encrypt(is_dictionary ? ModuleType::kDictionaryPage : ModuleType::kDataPage,
                                                    TextOf(*page.body), ordinal));
    size_t header_size = 0;
    ARROW_ASSIGN_OR_RAISE(PageHeader header, ParsePageHeader(BytesOf(page.header), &header_size));
    header.compressed_page_size = static_cast<int32_t>(body.size());
    if (header.crc) header.crc = static_cast<int32_t>(Crc32(BytesOf(body)));
    ARROW_ASSIGN_OR_RAISE(page.header,
                          Encrypt(is_dictionary ? ModuleType::kDictionaryPageHeader : ModuleType::kDataPageHeader,
                                  Serialize(header), ordinal));
    page.body = arrow::Buffer::FromString(std::move(body));
    // Headers count as they are in the file, pages as they were before compression and encryption.
    const int64_t header_growth = static_cast<int64_t>(page.header.size()) - static_cast<int64_t>(header_size);
    page.uncompressed_bytes += header_growth;
    metadata.total_uncompressed_size += header_growth;
    metadata.total_compressed_size += page.bytes();
    if (!is_dictionary) ++ordinal;
  }
  if (metadata.dictionary_page_offset) metadata.data_page_offset = chunk->pages.front().bytes();
  return Status::OK();
}

Result<std::unique_ptr<FileEncryptor>> FileEncryptor::Make(std::shared_ptr<const ParquetEncryption> encryption,
                                                           std::span<const WrittenLeaf> leaves) {
  ARROW_RETURN_NOT_OK(CheckColumns(*encryption, leaves));
  ParquetKey footer = encryption->footer_key;
  if (footer.key.empty()) {
    auto found = Ask(*encryption, "");
    ARROW_RETURN_NOT_OK(WithContext(found.status(), "the footer"));
    if (!*found) return Invalid("no key to encrypt the footer with");
    footer = **found;
  }
  auto key = crypto::AesKey::Make(footer.key);
  ARROW_RETURN_NOT_OK(WithContext(key.status(), "the footer's key"));
  std::unique_ptr<FileEncryptor> result(new FileEncryptor(std::move(encryption), *key));
  ARROW_RETURN_NOT_OK(result->SetAad(std::move(footer.metadata)));
  for (const WrittenLeaf& leaf : leaves) {
    const std::string path = leaf.column.dotted_path();
    auto column = result->FindColumnKey(path);
    ARROW_RETURN_NOT_OK(WithContext(column.status(), fmt::format("column '{}'", path)));
    result->columns_.push_back(std::move(*column));
  }
  return result;
}

Status FileEncryptor::SetAad(std::string footer_key_metadata) {
  using Kind = EncryptionAlgorithm::Kind;
  EncryptionAlgorithm& algorithm = file_.algorithm;
  uint8_t unique[kUniqueBytes];
  ARROW_RETURN_NOT_OK(crypto::FillRandom(unique));
  algorithm.aad_file_unique.assign(reinterpret_cast<const char*>(unique), kUniqueBytes);
  algorithm.kind = encryption_->ctr_pages ? Kind::kAesGcmCtrV1 : Kind::kAesGcmV1;
  if (!encryption_->aad_prefix.empty()) {
    algorithm.supply_aad_prefix = !encryption_->store_aad_prefix;
    if (encryption_->store_aad_prefix) algorithm.aad_prefix = encryption_->aad_prefix;
  }
  file_.key_metadata = std::move(footer_key_metadata);
  aad_ = encryption_->aad_prefix + algorithm.aad_file_unique;
  return Status::OK();
}

Result<FileEncryptor::ColumnKey> FileEncryptor::FindColumnKey(const std::string& path) const {
  ColumnKey result;
  std::optional<ParquetKey> key;
  if (const auto given = encryption_->column_keys.find(path); given != encryption_->column_keys.end()) {
    key = given->second;
  } else {
    ARROW_ASSIGN_OR_RAISE(key, Ask(*encryption_, path));
  }
  if (key) {
    ARROW_ASSIGN_OR_RAISE(result.key, crypto::AesKey::Make(key->key));
    result.metadata = std::move(key->metadata);
  } else if (!encryption_->other_columns_plaintext) {
    result.key = footer_key_;
    result.is_footers = true;
  }
  return result;
}

Result<std::unique_ptr<ChunkEncryptor>> FileEncryptor::OpenChunk(int64_t row_group, int64_t column) const {
  const ColumnKey& key = columns_[static_cast<size_t>(column)];
  if (!key.key) return nullptr;
  ARROW_ASSIGN_OR_RAISE(auto modules, crypto::ModuleEncryptor::Make(*key.key, aad_, pages()));
  return std::make_unique<ChunkEncryptor>(std::move(modules), row_group, column);
}

Status FileEncryptor::EncryptMetadata(int64_t column, ChunkEncryptor* encryptor, ColumnChunk* chunk) const {
  const ColumnKey& key = columns_[static_cast<size_t>(column)];
  chunk->crypto = std::make_shared<ColumnCryptoMetadata>();
  chunk->crypto->kind = key.is_footers ? ColumnKind::kFooterKey : ColumnKind::kColumnKey;
  chunk->crypto->path_in_schema = chunk->metadata->path_in_schema;
  chunk->crypto->key_metadata = key.metadata;
  if (key.is_footers && !plaintext_footer()) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(chunk->crypto->encrypted_column_metadata,
                        encryptor->Encrypt(ModuleType::kColumnMetadata, Serialize(*chunk->metadata)));
  if (!plaintext_footer()) {
    chunk->metadata.reset();
    return Status::OK();
  }
  chunk->metadata->statistics.reset();
  chunk->metadata->encoding_stats.clear();
  chunk->metadata->size_statistics.reset();
  return Status::OK();
}

Result<std::string> FileEncryptor::EncryptFooter(const FileMetadata& metadata) const {
  ARROW_ASSIGN_OR_RAISE(auto modules, crypto::ModuleEncryptor::Make(footer_key_, aad_, pages()));
  if (plaintext_footer()) {
    std::string footer = Serialize(metadata, file_);
    std::string signature;
    ARROW_RETURN_NOT_OK(modules.Sign(BytesOf(footer), &signature));
    return footer + signature;
  }
  std::string footer = Serialize(file_);
  ARROW_RETURN_NOT_OK(modules.Encrypt({}, BytesOf(Serialize(metadata)), &footer));
  return footer;
}

}  // namespace calve::parquet
