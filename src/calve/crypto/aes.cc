#include "calve/crypto/aes.h"

#include "calve/base/status.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstring>
#include <limits>

namespace calve::crypto {
namespace {

EVP_CIPHER_CTX* Native(const CipherHandle& context) { return static_cast<EVP_CIPHER_CTX*>(context.get()); }

const EVP_CIPHER* GcmOf(const AesKey& key) {
  const size_t size = key.bytes().size();
  return size == 16 ? EVP_aes_128_gcm() : size == 24 ? EVP_aes_192_gcm() : EVP_aes_256_gcm();
}

const EVP_CIPHER* CtrOf(const AesKey& key) {
  const size_t size = key.bytes().size();
  return size == 16 ? EVP_aes_128_ctr() : size == 24 ? EVP_aes_192_ctr() : EVP_aes_256_ctr();
}

Status Failed(const char* what) { return Status::UnknownError(what, " failed in OpenSSL"); }

Result<CipherHandle> MakeContext(const EVP_CIPHER* cipher, const AesKey& key, bool encrypt) {
  CipherHandle context(EVP_CIPHER_CTX_new());
  if (context == nullptr) return Status::OutOfMemory("a cipher's context");
  if (EVP_CipherInit_ex(Native(context), cipher, nullptr, key.bytes().data(), nullptr, encrypt ? 1 : 0) != 1) {
    return Failed("setting a cipher's key");
  }
  return context;
}

Status CheckSizes(size_t in, size_t out) {
  constexpr size_t kMax = std::numeric_limits<int>::max();
  if (in != out) return Invalid("{} bytes of room for {} bytes of a cipher", out, in);
  if (in > kMax) return NotImplemented("{} bytes to encrypt or decrypt at once (at most {})", in, kMax);
  return Status::OK();
}

/// One update of the cipher; no bytes are no call, since OpenSSL takes a null output for AAD.
bool Update(const CipherHandle& context, std::span<const uint8_t> in, uint8_t* out) {
  if (in.empty()) return true;
  int size = 0;
  return EVP_CipherUpdate(Native(context), out, &size, in.data(), static_cast<int>(in.size())) == 1 &&
         static_cast<size_t>(size) == in.size();
}

bool Begin(const CipherHandle& context, const uint8_t* iv) {
  return EVP_CipherInit_ex(Native(context), nullptr, nullptr, nullptr, iv, -1) == 1;
}

bool Finish(const CipherHandle& context) {
  uint8_t nothing[16];
  int size = 0;
  return EVP_CipherFinal_ex(Native(context), nothing, &size) == 1;
}

}  // namespace

void FreeCipher::operator()(void* context) const { EVP_CIPHER_CTX_free(static_cast<EVP_CIPHER_CTX*>(context)); }

Result<AesKey> AesKey::Make(std::string_view bytes) {
  if (bytes.size() != 16 && bytes.size() != 24 && bytes.size() != 32) {
    return Invalid("a key of {} bytes (AES has keys of 16, 24 and 32)", bytes.size());
  }
  AesKey key;
  key.size_ = bytes.size();
  std::memcpy(key.bytes_.data(), bytes.data(), bytes.size());
  return key;
}

AesKey::~AesKey() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

Result<GcmEncryptor> GcmEncryptor::Make(const AesKey& key) {
  GcmEncryptor result;
  ARROW_ASSIGN_OR_RAISE(result.context_, MakeContext(GcmOf(key), key, true));
  return result;
}

Status GcmEncryptor::Encrypt(Nonce nonce, std::span<const uint8_t> aad, std::span<const uint8_t> plaintext,
                             std::span<uint8_t> ciphertext, std::span<uint8_t, kTagBytes> tag) {
  ARROW_RETURN_NOT_OK(CheckSizes(plaintext.size(), ciphertext.size()));
  ARROW_RETURN_NOT_OK(CheckSizes(aad.size(), aad.size()));
  const bool done =
      Begin(context_, nonce.data()) && Update(context_, aad, nullptr) &&
      Update(context_, plaintext, ciphertext.data()) && Finish(context_) &&
      EVP_CIPHER_CTX_ctrl(Native(context_), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(kTagBytes), tag.data()) == 1;
  return done ? Status::OK() : Failed("encrypting with AES-GCM");
}

Result<GcmDecryptor> GcmDecryptor::Make(const AesKey& key) {
  GcmDecryptor result;
  ARROW_ASSIGN_OR_RAISE(result.context_, MakeContext(GcmOf(key), key, false));
  return result;
}

Status GcmDecryptor::Decrypt(Nonce nonce, std::span<const uint8_t> aad, std::span<const uint8_t> ciphertext,
                             std::span<const uint8_t, kTagBytes> tag, std::span<uint8_t> plaintext) {
  ARROW_RETURN_NOT_OK(CheckSizes(ciphertext.size(), plaintext.size()));
  ARROW_RETURN_NOT_OK(CheckSizes(aad.size(), aad.size()));
  uint8_t expected[kTagBytes];
  std::memcpy(expected, tag.data(), kTagBytes);
  const bool done =
      Begin(context_, nonce.data()) && Update(context_, aad, nullptr) &&
      Update(context_, ciphertext, plaintext.data()) &&
      EVP_CIPHER_CTX_ctrl(Native(context_), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(kTagBytes), expected) == 1;
  const bool authentic = done && Finish(context_);
  if (authentic) return Status::OK();
  if (!plaintext.empty()) OPENSSL_cleanse(plaintext.data(), plaintext.size());
  return done ? Invalid("the authentication tag is not that of these bytes under this key")
              : Failed("decrypting with AES-GCM");
}

Result<CtrCipher> CtrCipher::Make(const AesKey& key) {
  CtrCipher result;
  ARROW_ASSIGN_OR_RAISE(result.context_, MakeContext(CtrOf(key), key, true));
  return result;
}

Status CtrCipher::Apply(Nonce nonce, std::span<const uint8_t> in, std::span<uint8_t> out) {
  uint8_t counter[16] = {};
  std::memcpy(counter, nonce.data(), kNonceBytes);
  counter[15] = 1;
  return Apply(std::span<const uint8_t, 16>(counter), in, out);
}

Status CtrCipher::Apply(std::span<const uint8_t, 16> counter, std::span<const uint8_t> in, std::span<uint8_t> out) {
  ARROW_RETURN_NOT_OK(CheckSizes(in.size(), out.size()));
  const bool done = Begin(context_, counter.data()) && Update(context_, in, out.data()) && Finish(context_);
  return done ? Status::OK() : Failed("AES-CTR");
}

Status FillRandom(std::span<uint8_t> out) {
  ARROW_RETURN_NOT_OK(CheckSizes(out.size(), out.size()));
  if (RAND_bytes(out.data(), static_cast<int>(out.size())) == 1) return Status::OK();
  return Failed("drawing random numbers");
}

bool SameSecret(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace calve::crypto
