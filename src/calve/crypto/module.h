#pragma once

#include "calve/crypto/aes.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace calve::crypto {

/// The parts of an encrypted Parquet file that are encrypted apart, with their numbers in AADs (Encryption.md, 4.4.2).
enum class ModuleType : uint8_t {
  kFooter = 0,
  kColumnMetadata = 1,
  kDataPage = 2,
  kDictionaryPage = 3,
  kDataPageHeader = 4,
  kDictionaryPageHeader = 5,
  kColumnIndex = 6,
  kOffsetIndex = 7,
  kBloomFilterHeader = 8,
  kBloomFilterBitset = 9
};

std::string_view ToString(ModuleType type);  ///< "data page header"

/// Which module of a file. A footer has no ordinals, and only data pages and their headers have that of a page.
struct ModuleId {
  ModuleType type = ModuleType::kFooter;
  int64_t row_group = 0, column = 0, page = 0;
};

/// Builds the AADs of a file's modules: the AAD prefix, the file's unique bytes, the type and the ordinals.
class ModuleAad {
 public:
  /// `file_aad`: prefix and unique bytes, one after the other.
  explicit ModuleAad(std::string file_aad) : bytes_(std::move(file_aad)), file_bytes_(bytes_.size()) {}
  /// Valid until the next call. Invalid when an ordinal does not fit the format's 16 bits (it may be 32767 at most).
  Result<std::span<const uint8_t>> Of(const ModuleId& module);

 private:
  std::string bytes_;
  size_t file_bytes_;
};

constexpr size_t kModuleLengthBytes = 4;

/// An encrypted module taken apart; the spans lie in its bytes.
struct ModuleParts {
  std::span<const uint8_t> nonce, ciphertext, tag;  ///< no tag: encrypted with AES-CTR
  size_t size_bytes = 0;                            ///< of all of it, length included
};

/// How the pages' bodies are encrypted; all other modules are with AES-GCM.
enum class PageCipher { kGcm, kCtr };

/// True for the modules that AES_GCM_CTR_V1 encrypts with AES-CTR.
constexpr bool IsPageBody(ModuleType type) {
  return type == ModuleType::kDataPage || type == ModuleType::kDictionaryPage;
}

/// Bytes of an encrypted module beside its ciphertext.
constexpr size_t ModuleOverhead(ModuleType type, PageCipher pages) {
  const bool tagless = pages == PageCipher::kCtr && IsPageBody(type);
  return kModuleLengthBytes + kNonceBytes + (tagless ? 0 : kTagBytes);
}

/// Takes the module at the start of `bytes` apart; more bytes may follow it. Invalid when it is cut short, or says to
/// be shorter than a module is.
Result<ModuleParts> SplitModule(ModuleType type, PageCipher pages, std::span<const uint8_t> bytes);

/// Decrypts modules of one file with one key. Reusable; not thread-safe.
class ModuleDecryptor {
 public:
  static Result<ModuleDecryptor> Make(const AesKey& key, std::string file_aad, PageCipher pages);
  /// Decrypts to `plaintext`, which is as long as the ciphertext. Invalid names the module when its tag shows another
  /// key, other bytes, or another place in the file than `module` says.
  Status Decrypt(const ModuleId& module, const ModuleParts& parts, std::span<uint8_t> plaintext);
  PageCipher pages() const { return pages_; }

 private:
  ModuleDecryptor(GcmDecryptor gcm, CtrCipher ctr, ModuleAad aad, PageCipher pages)
      : gcm_(std::move(gcm)), ctr_(std::move(ctr)), aad_(std::move(aad)), pages_(pages) {}

  GcmDecryptor gcm_;
  CtrCipher ctr_;
  ModuleAad aad_;
  PageCipher pages_;
};

/// Encrypts modules of one file with one key, each with a nonce of its own drawn at random. Not thread-safe.
class ModuleEncryptor {
 public:
  static Result<ModuleEncryptor> Make(const AesKey& key, std::string file_aad, PageCipher pages);
  /// Appends the encrypted module to `out`. Invalid after 2^32 modules, which is what a key is good for.
  Status Encrypt(const ModuleId& module, std::span<const uint8_t> plaintext, std::string* out);
  /// Appends the signature of a plaintext footer to `out`: a nonce and the tag.
  Status Sign(std::span<const uint8_t> footer, std::string* out);

 private:
  ModuleEncryptor(GcmEncryptor gcm, CtrCipher ctr, ModuleAad aad, PageCipher pages)
      : gcm_(std::move(gcm)), ctr_(std::move(ctr)), aad_(std::move(aad)), pages_(pages) {}
  Status CountModule();

  GcmEncryptor gcm_;
  CtrCipher ctr_;
  ModuleAad aad_;
  PageCipher pages_;
  uint64_t modules_ = 0;
};

constexpr size_t kSignatureBytes = kNonceBytes + kTagBytes;

/// Checks the signature of a plaintext footer. Invalid when it is not that of these bytes under this key.
Status CheckSignature(const AesKey& key, std::string file_aad, std::span<const uint8_t> footer,
                      std::span<const uint8_t, kSignatureBytes> signature);

}  // namespace calve::crypto
