#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace calve::crypto {

using arrow::Result;
using arrow::Status;

constexpr size_t kNonceBytes = 12;
constexpr size_t kTagBytes = 16;

using Nonce = std::span<const uint8_t, kNonceBytes>;

/// A key of AES: 16, 24 or 32 bytes. Its memory is wiped when it is let go of, and no message ever holds it.
class AesKey {
 public:
  /// Invalid says the size, when it is another one.
  static Result<AesKey> Make(std::string_view bytes);
  AesKey(const AesKey&) = default;
  AesKey& operator=(const AesKey&) = default;
  ~AesKey();

  std::span<const uint8_t> bytes() const { return {bytes_.data(), size_}; }

 private:
  AesKey() = default;

  std::array<uint8_t, 32> bytes_{};
  size_t size_ = 0;
};

struct FreeCipher {
  void operator()(void* context) const;
};
/// A cipher's context of OpenSSL, its key schedule made; only the nonce changes from use to use.
using CipherHandle = std::unique_ptr<void, FreeCipher>;

/// Encrypts with AES-GCM (NIST SP 800-38D), nonces of 12 and tags of 16 bytes. Reusable; not thread-safe. A nonce must
/// never be used twice with one key.
class GcmEncryptor {
 public:
  static Result<GcmEncryptor> Make(const AesKey& key);
  /// `ciphertext` is as long as `plaintext`, and may be the same memory. At most 2^31 - 1 bytes.
  Status Encrypt(Nonce nonce, std::span<const uint8_t> aad, std::span<const uint8_t> plaintext,
                 std::span<uint8_t> ciphertext, std::span<uint8_t, kTagBytes> tag);

 private:
  CipherHandle context_;
};

/// Decrypts what GcmEncryptor encrypts. Reusable; not thread-safe.
class GcmDecryptor {
 public:
  static Result<GcmDecryptor> Make(const AesKey& key);
  /// `plaintext` is as long as `ciphertext`, and may be the same memory. Invalid when the tag is not that of these
  /// bytes, this key, nonce and AAD; `plaintext` is wiped then.
  Status Decrypt(Nonce nonce, std::span<const uint8_t> aad, std::span<const uint8_t> ciphertext,
                 std::span<const uint8_t, kTagBytes> tag, std::span<uint8_t> plaintext);

 private:
  CipherHandle context_;
};

/// Encrypts and decrypts with AES-CTR (NIST SP 800-38A), which authenticates nothing. Reusable; not thread-safe.
class CtrCipher {
 public:
  static Result<CtrCipher> Make(const AesKey& key);
  /// The initial counter block is the nonce and then the number one, big-endian, in 4 bytes. `out` is as long as `in`,
  /// and may be the same memory. At most 2^31 - 1 bytes.
  Status Apply(Nonce nonce, std::span<const uint8_t> in, std::span<uint8_t> out);
  /// The same from any counter block.
  Status Apply(std::span<const uint8_t, 16> counter, std::span<const uint8_t> in, std::span<uint8_t> out);

 private:
  CipherHandle context_;
};

/// Fills `out` from the system's secure random numbers.
Status FillRandom(std::span<uint8_t> out);

/// Compares in a time that does not depend on where the bytes differ.
bool SameSecret(std::span<const uint8_t> a, std::span<const uint8_t> b);

}  // namespace calve::crypto
