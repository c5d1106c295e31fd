#include "calve/crypto/module.h"

#include "calve/base/byte_cursor.h"
#include "calve/base/status.h"

#include <vector>

// Encryption.md of the Parquet format, 4.4 and 5.1; numbers are little-endian:
//
//   module     := length (4 bytes, of what follows) nonce (12) ciphertext [tag (16)]     no tag: a page under AES-CTR
//   AAD        := [AAD prefix] file's unique bytes, type (1) [row group (2) column (2) [page (2)]]
//   signature  := nonce (12) tag (16)                              of a plaintext footer, whose ciphertext is not kept

namespace calve::crypto {
namespace {

constexpr int64_t kLargestOrdinal = 32767;
constexpr uint64_t kModulesPerKey = uint64_t{1} << 32;

bool HasPageOrdinal(ModuleType type) { return type == ModuleType::kDataPage || type == ModuleType::kDataPageHeader; }

std::string Name(const ModuleId& module) {
  if (module.type == ModuleType::kFooter) return "footer";
  if (!HasPageOrdinal(module.type)) return std::string(ToString(module.type));
  return fmt::format("{} {}", ToString(module.type), module.page);
}

Status AppendOrdinal(const char* what, int64_t ordinal, std::string* out) {
  if (ordinal < 0 || ordinal > kLargestOrdinal) {
    return Invalid("{} {} of an encrypted file (ordinals go up to {})", what, ordinal, kLargestOrdinal);
  }
  out->push_back(static_cast<char>(ordinal & 0xff));
  out->push_back(static_cast<char>(ordinal >> 8));
  return Status::OK();
}

std::span<uint8_t> Grow(std::string* out, size_t size) {
  const size_t before = out->size();
  out->resize(before + size);
  return {reinterpret_cast<uint8_t*>(out->data()) + before, size};
}

void StoreLength(size_t length, std::span<uint8_t> out) {
  const uint32_t little = static_cast<uint32_t>(length);
  std::memcpy(out.data(), &little, sizeof(little));
}

}  // namespace

std::string_view ToString(ModuleType type) {
  static constexpr std::string_view kNames[] = {"footer",
                                                "column metadata",
                                                "data page",
                                                "dictionary page",
                                                "data page header",
                                                "dictionary page header",
                                                "column index",
                                                "offset index",
                                                "bloom filter header",
                                                "bloom filter bitset"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(kNames) ? kNames[index] : "UNKNOWN";
}

Result<std::span<const uint8_t>> ModuleAad::Of(const ModuleId& module) {
  bytes_.resize(file_bytes_);
  bytes_.push_back(static_cast<char>(module.type));
  if (module.type != ModuleType::kFooter) {
    ARROW_RETURN_NOT_OK(AppendOrdinal("row group", module.row_group, &bytes_));
    ARROW_RETURN_NOT_OK(AppendOrdinal("column", module.column, &bytes_));
    if (HasPageOrdinal(module.type)) ARROW_RETURN_NOT_OK(AppendOrdinal("page", module.page, &bytes_));
  }
  return std::span<const uint8_t>(reinterpret_cast<const uint8_t*>(bytes_.data()), bytes_.size());
}

Result<ModuleParts> SplitModule(ModuleType type, PageCipher pages, std::span<const uint8_t> bytes) {
  const size_t around = ModuleOverhead(type, pages) - kModuleLengthBytes;
  ByteCursor in(bytes);
  const uint32_t length = in.Little<uint32_t>();
  if (!in.ok()) return Invalid("encrypted {} cut short: {} bytes", ToString(type), bytes.size());
  if (length < around) return Invalid("encrypted {} of {} bytes (at least {})", ToString(type), length, around);
  if (length > in.remaining()) {
    return Invalid("encrypted {} of {} bytes cut short: there are {}", ToString(type), length, in.remaining());
  }
  ModuleParts parts;
  parts.nonce = in.Bytes(kNonceBytes);
  parts.ciphertext = in.Bytes(length - around);
  parts.tag = in.Bytes(around - kNonceBytes);
  parts.size_bytes = kModuleLengthBytes + length;
  return parts;
}

Result<ModuleDecryptor> ModuleDecryptor::Make(const AesKey& key, std::string file_aad, PageCipher pages) {
  ARROW_ASSIGN_OR_RAISE(auto gcm, GcmDecryptor::Make(key));
  ARROW_ASSIGN_OR_RAISE(auto ctr, CtrCipher::Make(key));
  return ModuleDecryptor(std::move(gcm), std::move(ctr), ModuleAad(std::move(file_aad)), pages);
}

Status ModuleDecryptor::Decrypt(const ModuleId& module, const ModuleParts& parts, std::span<uint8_t> plaintext) {
  const bool tagless = pages_ == PageCipher::kCtr && IsPageBody(module.type);
  if (parts.nonce.size() != kNonceBytes || parts.tag.size() != (tagless ? 0 : kTagBytes)) {
    return Invalid("{}: a nonce of {} and a tag of {} bytes", Name(module), parts.nonce.size(), parts.tag.size());
  }
  ARROW_ASSIGN_OR_RAISE(const auto aad, aad_.Of(module));
  const Nonce nonce = parts.nonce.first<kNonceBytes>();
  const Status status = tagless ? ctr_.Apply(nonce, parts.ciphertext, plaintext)
                                : gcm_.Decrypt(nonce, aad, parts.ciphertext, parts.tag.first<kTagBytes>(), plaintext);
  return WithContext(status, "decrypting " + Name(module));
}

Result<ModuleEncryptor> ModuleEncryptor::Make(const AesKey& key, std::string file_aad, PageCipher pages) {
  ARROW_ASSIGN_OR_RAISE(auto gcm, GcmEncryptor::Make(key));
  ARROW_ASSIGN_OR_RAISE(auto ctr, CtrCipher::Make(key));
  return ModuleEncryptor(std::move(gcm), std::move(ctr), ModuleAad(std::move(file_aad)), pages);
}

Status ModuleEncryptor::CountModule() {
  if (modules_ == kModulesPerKey) return Invalid("{} modules encrypted with one key (no more are safe)", modules_);
  ++modules_;
  return Status::OK();
}

Status ModuleEncryptor::Encrypt(const ModuleId& module, std::span<const uint8_t> plaintext, std::string* out) {
  ARROW_RETURN_NOT_OK(CountModule());
  ARROW_ASSIGN_OR_RAISE(const auto aad, aad_.Of(module));
  const size_t overhead = ModuleOverhead(module.type, pages_);
  if (plaintext.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()) - overhead) {
    return Invalid("{} of {} bytes is too long to be encrypted", Name(module), plaintext.size());
  }
  const auto all = Grow(out, overhead + plaintext.size());
  StoreLength(all.size() - kModuleLengthBytes, all);
  const auto nonce = all.subspan<kModuleLengthBytes, kNonceBytes>();
  const auto ciphertext = all.subspan(kModuleLengthBytes + kNonceBytes, plaintext.size());
  ARROW_RETURN_NOT_OK(FillRandom(nonce));
  if (overhead == kModuleLengthBytes + kNonceBytes) return ctr_.Apply(Nonce(nonce), plaintext, ciphertext);
  return gcm_.Encrypt(Nonce(nonce), aad, plaintext, ciphertext, all.last<kTagBytes>());
}

Status ModuleEncryptor::Sign(std::span<const uint8_t> footer, std::string* out) {
  ARROW_RETURN_NOT_OK(CountModule());
  ARROW_ASSIGN_OR_RAISE(const auto aad, aad_.Of({}));
  const auto signature = Grow(out, kSignatureBytes).first<kSignatureBytes>();
  const auto nonce = signature.first<kNonceBytes>();
  ARROW_RETURN_NOT_OK(FillRandom(nonce));
  std::vector<uint8_t> ciphertext(footer.size());
  return gcm_.Encrypt(Nonce(nonce), aad, footer, ciphertext, signature.last<kTagBytes>());
}

Status CheckSignature(const AesKey& key, std::string file_aad, std::span<const uint8_t> footer,
                      std::span<const uint8_t, kSignatureBytes> signature) {
  // The tag is that of the ciphertext, so the footer is encrypted once more.
  ARROW_ASSIGN_OR_RAISE(auto gcm, GcmEncryptor::Make(key));
  ModuleAad aads(std::move(file_aad));
  ARROW_ASSIGN_OR_RAISE(const auto aad, aads.Of({}));
  std::vector<uint8_t> ciphertext(footer.size());
  uint8_t tag[kTagBytes];
  ARROW_RETURN_NOT_OK(
      gcm.Encrypt(signature.first<kNonceBytes>(), aad, footer, ciphertext, std::span<uint8_t, kTagBytes>(tag)));
  return SameSecret(tag, signature.last<kTagBytes>())
             ? Status::OK()
             : Invalid("the footer's signature is not that of these bytes under this key");
}

}  // namespace calve::crypto
