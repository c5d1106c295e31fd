#include "calve/crypto/aes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

// Vectors: AES-GCM, the test cases that NIST published with the mode's submission (the numbers are theirs); AES-CTR,
// NIST SP 800-38A, F.5.

namespace calve::crypto {
namespace {

using Bytes = std::vector<uint8_t>;
using ::testing::HasSubstr;

Bytes Hex(std::string_view digits) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

AesKey Key(const Bytes& bytes) {
  return AesKey::Make({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).ValueOrDie();
}

struct GcmVector {
  const char *key, *nonce, *aad, *plaintext, *ciphertext, *tag;
};

constexpr char kLongPlaintext[] =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba"
    "637"
    "b39";
constexpr char kLongAad[] = "feedfacedeadbeeffeedfacedeadbeefabaddad2";

const GcmVector kGcmVectors[] = {
    // 1 and 2
    {"00000000000000000000000000000000", "000000000000000000000000", "", "", "", "58e2fccefa7e3061367f1d57a4e7455a"},
    {"00000000000000000000000000000000", "000000000000000000000000", "", "00000000000000000000000000000000",
     "0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf"},
    // 4, 10 and 16
    {"feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888", kLongAad, kLongPlaintext,
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973"
     "d5"
     "8e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {"feffe9928665731c6d6a8f9467308308feffe9928665731c", "cafebabefacedbaddecaf888", kLongAad, kLongPlaintext,
     "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9c"
     "cd"
     "a2710",
     "2519498e80f1478f37ba55bd6d27618c"},
    {"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888", kLongAad,
     kLongPlaintext,
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0ab"
     "cc"
     "9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
};

TEST(AesGcm, EncryptsTheVectors) {
  for (const GcmVector& vector : kGcmVectors) {
    auto gcm = GcmEncryptor::Make(Key(Hex(vector.key)));
    ASSERT_TRUE(gcm.ok()) << gcm.status();
    const Bytes nonce = Hex(vector.nonce), plaintext = Hex(vector.plaintext);
    for (int use = 0; use < 2; ++use) {  // a context is good for more than one module
      Bytes ciphertext(plaintext.size()), tag(kTagBytes);
      ASSERT_TRUE(gcm->Encrypt(std::span(nonce).first<kNonceBytes>(), Hex(vector.aad), plaintext, ciphertext,
                               std::span(tag).first<kTagBytes>())
                      .ok());
      EXPECT_EQ(ciphertext, Hex(vector.ciphertext));
      EXPECT_EQ(tag, Hex(vector.tag));
    }
  }
}

Status DecryptVector(const GcmVector& vector, GcmDecryptor* gcm, const Bytes& ciphertext, const Bytes& tag,
                     const Bytes& aad, Bytes* plaintext) {
  const Bytes nonce = Hex(vector.nonce);
  plaintext->resize(ciphertext.size());
  return gcm->Decrypt(std::span(nonce).first<kNonceBytes>(), aad, ciphertext, std::span(tag).first<kTagBytes>(),
                      *plaintext);
}

TEST(AesGcm, DecryptsTheVectorsAndNothingElse) {
  for (const GcmVector& vector : kGcmVectors) {
    auto gcm = GcmDecryptor::Make(Key(Hex(vector.key)));
    ASSERT_TRUE(gcm.ok()) << gcm.status();
    const Bytes right = Hex(vector.ciphertext), tag = Hex(vector.tag), aad = Hex(vector.aad);
    Bytes plaintext;
    ASSERT_TRUE(DecryptVector(vector, &*gcm, right, tag, aad, &plaintext).ok());
    EXPECT_EQ(plaintext, Hex(vector.plaintext));
    const auto expect_refused = [&](const Bytes& ciphertext, const Bytes& tag_bytes, const Bytes& aad_bytes) {
      const Status status = DecryptVector(vector, &*gcm, ciphertext, tag_bytes, aad_bytes, &plaintext);
      EXPECT_TRUE(status.IsInvalid()) << status;
      EXPECT_THAT(status.message(), HasSubstr("authentication tag"));
      EXPECT_EQ(plaintext, Bytes(plaintext.size()));  // nothing of it is left
    };
    for (size_t i = 0; i < right.size(); ++i) {
      Bytes wrong = right;
      wrong[i] ^= 1;
      expect_refused(wrong, tag, aad);
    }
    for (size_t i = 0; i < tag.size(); ++i) {
      Bytes wrong = tag;
      wrong[i] ^= 0x80;
      expect_refused(right, wrong, aad);
    }
    Bytes longer = aad;
    longer.push_back(0);
    expect_refused(right, tag, longer);
    // A failure does not spoil the next use.
    ASSERT_TRUE(DecryptVector(vector, &*gcm, right, tag, aad, &plaintext).ok());
    EXPECT_EQ(plaintext, Hex(vector.plaintext));
  }
}

TEST(AesGcm, InPlace) {
  const GcmVector& vector = kGcmVectors[2];
  const Bytes nonce = Hex(vector.nonce);
  Bytes bytes = Hex(vector.plaintext), tag(kTagBytes);
  auto encryptor = GcmEncryptor::Make(Key(Hex(vector.key))).ValueOrDie();
  auto decryptor = GcmDecryptor::Make(Key(Hex(vector.key))).ValueOrDie();
  ASSERT_TRUE(encryptor
                  .Encrypt(std::span(nonce).first<kNonceBytes>(), Hex(vector.aad), bytes, bytes,
                           std::span(tag).first<kTagBytes>())
                  .ok());
  EXPECT_EQ(bytes, Hex(vector.ciphertext));
  ASSERT_TRUE(decryptor
                  .Decrypt(std::span(nonce).first<kNonceBytes>(), Hex(vector.aad), bytes,
                           std::span(tag).first<kTagBytes>(), bytes)
                  .ok());
  EXPECT_EQ(bytes, Hex(vector.plaintext));
}

TEST(AesCtr, AppliesTheVectors) {
  const Bytes counter = Hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
  const Bytes plaintext =
      Hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f"
          "9b17ad2b"
          "417be66c3710");
  const std::pair<const char*, const char*> vectors[] = {
      {"2b7e151628aed2a6abf7158809cf4f3c",
       "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d"
       "1"
       "792170a0f3009cee"},
      {"8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
       "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e941e36b26bd1ebc670d1bd1d665620abf74f78a7f6d298095"
       "8"
       "5a97daec58c6b050"},
      {"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
       "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c52b0930daa23de94ce87017ba2d84988ddfc9c58db67aada"
       "6"
       "13c2dd08457941a6"}};
  for (const auto& [key, ciphertext] : vectors) {
    auto ctr = CtrCipher::Make(Key(Hex(key)));
    ASSERT_TRUE(ctr.ok()) << ctr.status();
    for (size_t size : {plaintext.size(), size_t{17}, size_t{1}, size_t{0}}) {
      Bytes in(plaintext.begin(), plaintext.begin() + static_cast<ptrdiff_t>(size)), out(size), back(size);
      ASSERT_TRUE(ctr->Apply(std::span(counter).first<16>(), in, out).ok());
      Bytes expected = Hex(ciphertext);
      expected.resize(size);
      EXPECT_EQ(out, expected);
      ASSERT_TRUE(ctr->Apply(std::span(counter).first<16>(), out, back).ok());
      EXPECT_EQ(back, in);
    }
  }
}

TEST(AesCtr, TheCounterBeginsAtOne) {
  auto ctr = CtrCipher::Make(Key(Hex("2b7e151628aed2a6abf7158809cf4f3c"))).ValueOrDie();
  const Bytes nonce = Hex("f0f1f2f3f4f5f6f7f8f9fafb"), counter = Hex("f0f1f2f3f4f5f6f7f8f9fafb00000001");
  const Bytes in(40, 7);
  Bytes by_nonce(40), by_counter(40);
  ASSERT_TRUE(ctr.Apply(std::span(nonce).first<kNonceBytes>(), in, by_nonce).ok());
  ASSERT_TRUE(ctr.Apply(std::span(counter).first<16>(), in, by_counter).ok());
  EXPECT_EQ(by_nonce, by_counter);
}

TEST(AesKey, SixteenTwentyFourOrThirtyTwoBytes) {
  for (size_t size = 0; size <= 64; ++size) {
    auto key = AesKey::Make(std::string(size, 'k'));
    EXPECT_EQ(key.ok(), size == 16 || size == 24 || size == 32) << size;
    if (!key.ok()) EXPECT_THAT(key.status().message(), HasSubstr(std::to_string(size) + " bytes"));
  }
}

TEST(AesKey, RoomOfAnotherSizeIsRefused) {
  const AesKey key = Key(Bytes(16));
  auto gcm = GcmDecryptor::Make(key).ValueOrDie();
  auto ctr = CtrCipher::Make(key).ValueOrDie();
  const Bytes nonce(kNonceBytes), in(10), tag(kTagBytes);
  Bytes small(9);
  EXPECT_TRUE(
      gcm.Decrypt(std::span(nonce).first<kNonceBytes>(), {}, in, std::span(tag).first<kTagBytes>(), small).IsInvalid());
  EXPECT_TRUE(ctr.Apply(std::span(nonce).first<kNonceBytes>(), in, small).IsInvalid());
}

}  // namespace
}  // namespace calve::crypto
