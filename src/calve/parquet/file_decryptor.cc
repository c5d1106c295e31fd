#include "calve/parquet/file_decryptor.h"

#include "calve/base/status.h"

namespace calve::parquet {
namespace {

std::span<uint8_t> Mutable(arrow::Buffer& buffer) {
  return {buffer.mutable_data(), static_cast<size_t>(buffer.size())};
}

Result<std::shared_ptr<arrow::Buffer>> Room(const crypto::ModuleParts& parts, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(static_cast<int64_t>(parts.ciphertext.size()), pool));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

}  // namespace

Status ChunkDecryptor::Decrypt(crypto::ModuleType type, int64_t page, const crypto::ModuleParts& parts,
                               std::span<uint8_t> plaintext) {
  ARROW_ASSIGN_OR_RAISE(auto context, TakeContext());
  const Status status = context.Decrypt({type, row_group_, column_, page}, parts, plaintext);
  std::lock_guard lock(mutex_);
  spare_.push_back(std::move(context));
  return status;
}

Result<crypto::ModuleDecryptor> ChunkDecryptor::TakeContext() {
  {
    std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      auto context = std::move(spare_.back());
      spare_.pop_back();
      return context;
    }
  }
  return crypto::ModuleDecryptor::Make(key_, file_aad_, pages_);
}

Result<std::shared_ptr<arrow::Buffer>> ChunkDecryptor::Decrypt(crypto::ModuleType type, std::span<const uint8_t> bytes,
                                                               size_t* size_bytes, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const auto parts, crypto::SplitModule(type, pages(), bytes));
  ARROW_ASSIGN_OR_RAISE(auto plaintext, Room(parts, pool));
  ARROW_RETURN_NOT_OK(Decrypt(type, 0, parts, Mutable(*plaintext)));
  if (size_bytes != nullptr) *size_bytes = parts.size_bytes;
  return plaintext;
}

Result<std::shared_ptr<FileDecryptor>> FileDecryptor::Make(FileCryptoMetadata file,
                                                           std::shared_ptr<const ParquetDecryption> keys) {
  using Kind = EncryptionAlgorithm::Kind;
  const Kind kind = file.algorithm.kind;
  if (kind == Kind::kUnknown) return NotImplemented("encrypted with an algorithm that is not known");
  std::shared_ptr<FileDecryptor> result(new FileDecryptor(std::move(file), std::move(keys)));
  if (kind == Kind::kAesGcmCtrV1) result->pages_ = crypto::PageCipher::kCtr;
  ARROW_RETURN_NOT_OK(result->SetAad());
  return result;
}

Status FileDecryptor::SetAad() {
  const EncryptionAlgorithm& algorithm = file_.algorithm;
  const std::string stored = algorithm.aad_prefix.value_or(""), given = keys_ == nullptr ? "" : keys_->aad_prefix;
  if (keys_ != nullptr) {
    if (!stored.empty() && !given.empty() && stored != given) {
      return Invalid("encrypted under the AAD prefix '{}', not '{}'", stored, given);
    }
    if (stored.empty() && given.empty() && algorithm.supply_aad_prefix) {
      return Invalid("encrypted under an AAD prefix that is not in the file and was not given");
    }
    if (stored.empty() && !given.empty() && !algorithm.supply_aad_prefix) {
      return Invalid("encrypted without an AAD prefix, not under '{}'", given);
    }
    if (!stored.empty() && keys_->verify_aad_prefix) ARROW_RETURN_NOT_OK(keys_->verify_aad_prefix(stored));
  }
  aad_ = (stored.empty() ? given : stored) + algorithm.aad_file_unique;
  return Status::OK();
}

Result<std::shared_ptr<arrow::Buffer>> FileDecryptor::DecryptFooter(std::span<const uint8_t> bytes,
                                                                    arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const auto key, FooterKey());
  ARROW_ASSIGN_OR_RAISE(auto modules, crypto::ModuleDecryptor::Make(key, aad_, pages_));
  ARROW_ASSIGN_OR_RAISE(const auto parts, crypto::SplitModule(crypto::ModuleType::kFooter, pages_, bytes));
  if (parts.size_bytes != bytes.size()) {
    return Invalid("an encrypted footer of {} bytes where there are {}", parts.size_bytes, bytes.size());
  }
  ARROW_ASSIGN_OR_RAISE(auto plaintext, Room(parts, pool));
  ARROW_RETURN_NOT_OK(modules.Decrypt({}, parts, Mutable(*plaintext)));
  return plaintext;
}

Status FileDecryptor::CheckSignature(std::span<const uint8_t> footer_and_signature) {
  if (keys_ == nullptr || !keys_->verify_footer_signature) return Status::OK();
  auto key = FooterKey();
  if (!key.ok()) return WithContext(key.status(), "checking the footer's signature");
  if (footer_and_signature.size() < crypto::kSignatureBytes) return Invalid("the footer is cut short of its signature");
  return crypto::CheckSignature(*key, aad_,
                                footer_and_signature.first(footer_and_signature.size() - crypto::kSignatureBytes),
                                footer_and_signature.last<crypto::kSignatureBytes>());
}

Result<std::shared_ptr<ChunkDecryptor>> FileDecryptor::OpenChunk(const ColumnCryptoMetadata& chunk,
                                                                 const std::string& path, int64_t row_group,
                                                                 int64_t column) {
  using Kind = ColumnCryptoMetadata::Kind;
  if (chunk.kind == Kind::kUnknown) return NotImplemented("a column encrypted in a way that is not known");
  auto key = chunk.kind == Kind::kFooterKey ? FooterKey() : ColumnKey(path, chunk.key_metadata);
  if (!key.ok()) return WithContext(key.status(), "encrypted column");
  return std::make_shared<ChunkDecryptor>(*key, aad_, pages_, row_group, column);
}

Result<crypto::AesKey> FileDecryptor::FooterKey() {
  return FindKey(keys_ == nullptr ? "" : keys_->footer_key, "", file_.key_metadata);
}

Result<crypto::AesKey> FileDecryptor::ColumnKey(const std::string& path, const std::string& key_metadata) {
  if (keys_ == nullptr) return FindKey("", path, key_metadata);
  const auto given = keys_->column_keys.find(path);
  return FindKey(given == keys_->column_keys.end() ? "" : given->second, path, key_metadata);
}

Result<crypto::AesKey> FileDecryptor::FindKey(const std::string& given, const std::string& path,
                                              const std::string& key_metadata) {
  if (!given.empty()) return crypto::AesKey::Make(given);
  if (keys_ == nullptr || !keys_->find_key) return Invalid("no key for it was given");
  std::lock_guard lock(mutex_);
  const auto [place, is_new] = found_.try_emplace({path, key_metadata}, Invalid("no key for it was found"));
  if (!is_new) return place->second;
  auto key = keys_->find_key({path, key_metadata});
  if (!key.ok()) {
    place->second = WithContext(key.status(), "finding its key");
  } else if (key->has_value()) {
    place->second = crypto::AesKey::Make(**key);
  }
  return place->second;
}

}  // namespace calve::parquet
