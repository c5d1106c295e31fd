#include "calve/crypto/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace calve::crypto {
namespace {

using Bytes = std::vector<uint8_t>;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

const AesKey& Key() {
  static const AesKey key = AesKey::Make("0123456789012345").ValueOrDie();
  return key;
}

Bytes Text(std::string_view text) { return Bytes(text.begin(), text.end()); }

std::span<const uint8_t> View(const std::string& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

ModuleId DataPage(int64_t row_group, int64_t column, int64_t page) {
  return {ModuleType::kDataPage, row_group, column, page};
}

std::string Encrypted(const ModuleId& module, const Bytes& plaintext, PageCipher pages = PageCipher::kGcm,
                      const std::string& file_aad = "file") {
  std::string out;
  auto encryptor = ModuleEncryptor::Make(Key(), file_aad, pages);
  EXPECT_TRUE(encryptor.ok()) << encryptor.status();
  EXPECT_TRUE(encryptor->Encrypt(module, plaintext, &out).ok());
  return out;
}

Result<Bytes> Decrypted(const ModuleId& module, std::span<const uint8_t> bytes, PageCipher pages = PageCipher::kGcm,
                        const std::string& file_aad = "file", const AesKey& key = Key()) {
  ARROW_ASSIGN_OR_RAISE(const ModuleParts parts, SplitModule(module.type, pages, bytes));
  ARROW_ASSIGN_OR_RAISE(auto decryptor, ModuleDecryptor::Make(key, file_aad, pages));
  Bytes plaintext(parts.ciphertext.size());
  ARROW_RETURN_NOT_OK(decryptor.Decrypt(module, parts, plaintext));
  return plaintext;
}

// The table of Encryption.md, 4.4.2.
TEST(ModuleAad, AsTheSpecificationLaysItOut) {
  ModuleAad aad("prefixunique");
  const auto expect = [&](const ModuleId& module, std::vector<uint8_t> suffix) {
    Bytes expected = Text("prefixunique");
    expected.insert(expected.end(), suffix.begin(), suffix.end());
    auto got = aad.Of(module);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_THAT(*got, ElementsAreArray(expected)) << ToString(module.type);
  };
  const int64_t group = 0x0102, column = 0x0304, page = 0x0506;
  expect({ModuleType::kFooter, group, column, page}, {0});
  expect({ModuleType::kColumnMetadata, group, column, page}, {1, 2, 1, 4, 3});
  expect({ModuleType::kDataPage, group, column, page}, {2, 2, 1, 4, 3, 6, 5});
  expect({ModuleType::kDictionaryPage, group, column, page}, {3, 2, 1, 4, 3});
  expect({ModuleType::kDataPageHeader, group, column, page}, {4, 2, 1, 4, 3, 6, 5});
  expect({ModuleType::kDictionaryPageHeader, group, column, page}, {5, 2, 1, 4, 3});
  expect({ModuleType::kColumnIndex, group, column, page}, {6, 2, 1, 4, 3});
  expect({ModuleType::kOffsetIndex, group, column, page}, {7, 2, 1, 4, 3});
  expect({ModuleType::kBloomFilterHeader, group, column, page}, {8, 2, 1, 4, 3});
  expect({ModuleType::kBloomFilterBitset, group, column, page}, {9, 2, 1, 4, 3});
}

TEST(ModuleAad, OrdinalsHaveSixteenBits) {
  ModuleAad aad("");
  EXPECT_TRUE(aad.Of(DataPage(32767, 32767, 32767)).ok());
  EXPECT_THAT(aad.Of(DataPage(32768, 0, 0)).status().message(), HasSubstr("row group 32768"));
  EXPECT_THAT(aad.Of(DataPage(0, 40000, 0)).status().message(), HasSubstr("column 40000"));
  EXPECT_THAT(aad.Of(DataPage(0, 0, 32768)).status().message(), HasSubstr("page 32768"));
  EXPECT_TRUE(aad.Of(DataPage(-1, 0, 0)).status().IsInvalid());
  EXPECT_TRUE(aad.Of({ModuleType::kDictionaryPage, 0, 0, 99999}).ok());
}

TEST(Module, LaidOutAsTheSpecificationSays) {
  const Bytes plaintext = Text("a page");
  const std::string gcm = Encrypted(DataPage(0, 0, 0), plaintext);
  EXPECT_EQ(gcm.size(), 4 + 12 + 6 + 16u);
  EXPECT_EQ(gcm.substr(0, 4), std::string("\x22\0\0\0", 4));
  const std::string ctr = Encrypted(DataPage(0, 0, 0), plaintext, PageCipher::kCtr);
  EXPECT_EQ(ctr.size(), 4 + 12 + 6u);
  EXPECT_EQ(ctr.substr(0, 4), std::string("\x12\0\0\0", 4));
  // Headers are authenticated under either algorithm.
  EXPECT_EQ(Encrypted({ModuleType::kDataPageHeader}, plaintext, PageCipher::kCtr).size(), gcm.size());
}

TEST(Module, RoundTripOfEverySizeAndType) {
  for (const PageCipher pages : {PageCipher::kGcm, PageCipher::kCtr}) {
    for (int type = 0; type <= 9; ++type) {
      const ModuleId module{static_cast<ModuleType>(type), 3, 7, 11};
      for (size_t size : {0, 1, 15, 16, 17, 1000}) {
        Bytes plaintext(size);
        std::iota(plaintext.begin(), plaintext.end(), uint8_t{3});
        const std::string bytes = Encrypted(module, plaintext, pages) + "what follows";
        auto back = Decrypted(module, View(bytes), pages);
        ASSERT_TRUE(back.ok()) << back.status();
        EXPECT_EQ(*back, plaintext);
      }
    }
  }
}

TEST(Module, TruncatedAtEveryByte) {
  for (const PageCipher pages : {PageCipher::kGcm, PageCipher::kCtr}) {
    const std::string bytes = Encrypted(DataPage(0, 0, 0), Text("some bytes of a page"), pages);
    for (size_t size = 0; size < bytes.size(); ++size) {
      const Status status = Decrypted(DataPage(0, 0, 0), View(bytes).first(size), pages).status();
      EXPECT_TRUE(status.IsInvalid()) << size << status;
      EXPECT_THAT(status.message(), HasSubstr("cut short")) << size;
    }
  }
}

TEST(Module, LengthsThatNoModuleHas) {
  for (uint32_t length = 0; length < 28; ++length) {
    Bytes bytes(100);
    std::memcpy(bytes.data(), &length, 4);
    EXPECT_TRUE(SplitModule(ModuleType::kFooter, PageCipher::kGcm, bytes).status().IsInvalid()) << length;
    EXPECT_EQ(SplitModule(ModuleType::kDataPage, PageCipher::kCtr, bytes).ok(), length >= 12) << length;
  }
  Bytes bytes(100, 0xff);
  EXPECT_THAT(SplitModule(ModuleType::kFooter, PageCipher::kGcm, bytes).status().message(),
              HasSubstr("encrypted footer of 4294967295 bytes cut short"));
}

TEST(Module, EveryByteIsAuthenticated) {
  const std::string bytes = Encrypted(DataPage(0, 0, 0), Text("some bytes of a page"));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit : {0x01, 0x80}) {
      std::string wrong = bytes;
      wrong[i] = static_cast<char>(wrong[i] ^ bit);
      EXPECT_FALSE(Decrypted(DataPage(0, 0, 0), View(wrong)).ok()) << i;
    }
  }
}

TEST(Module, AnotherPlaceKeyOrFileIsRefusedByName) {
  const Bytes plaintext = Text("some bytes of a page");
  const std::string bytes = Encrypted(DataPage(1, 2, 3), plaintext);
  ASSERT_TRUE(Decrypted(DataPage(1, 2, 3), View(bytes)).ok());
  const auto error = [&](const ModuleId& module, const std::string& file_aad = "file", const AesKey& key = Key()) {
    return Decrypted(module, View(bytes), PageCipher::kGcm, file_aad, key).status().message();
  };
  EXPECT_THAT(error(DataPage(1, 2, 4)), HasSubstr("decrypting data page 4: the authentication tag"));
  EXPECT_THAT(error(DataPage(1, 3, 3)), HasSubstr("decrypting data page 3"));
  EXPECT_THAT(error(DataPage(2, 2, 3)), HasSubstr("decrypting data page 3"));
  EXPECT_THAT(error({ModuleType::kDictionaryPage, 1, 2}), HasSubstr("decrypting dictionary page"));
  EXPECT_THAT(error({ModuleType::kFooter}), HasSubstr("decrypting footer"));
  EXPECT_THAT(error(DataPage(1, 2, 3), "other"), HasSubstr("tag"));
  EXPECT_THAT(error(DataPage(1, 2, 3), "file", AesKey::Make("0123456789012346").ValueOrDie()), HasSubstr("tag"));
}

TEST(Module, NoncesDiffer) {
  auto encryptor = ModuleEncryptor::Make(Key(), "", PageCipher::kGcm).ValueOrDie();
  std::set<std::string> nonces;
  for (int i = 0; i < 1000; ++i) {
    std::string out;
    ASSERT_TRUE(encryptor.Encrypt(DataPage(0, 0, i), {}, &out).ok());
    nonces.insert(out.substr(4, 12));
  }
  EXPECT_EQ(nonces.size(), 1000u);
}

TEST(FooterSignature, OfTheseBytesUnderThisKey) {
  const Bytes footer = Text("a footer that all can read");
  std::string signature;
  ASSERT_TRUE(ModuleEncryptor::Make(Key(), "file", PageCipher::kCtr)->Sign(footer, &signature).ok());
  ASSERT_EQ(signature.size(), kSignatureBytes);
  const auto check = [&](const Bytes& bytes, const std::string& sign, const std::string& aad = "file") {
    return CheckSignature(Key(), aad, bytes, View(sign).first<kSignatureBytes>());
  };
  EXPECT_TRUE(check(footer, signature).ok());
  for (size_t i = 0; i < footer.size(); ++i) {
    Bytes wrong = footer;
    wrong[i] ^= 1;
    EXPECT_TRUE(check(wrong, signature).IsInvalid()) << i;
  }
  for (size_t i = 0; i < signature.size(); ++i) {
    std::string wrong = signature;
    wrong[i] = static_cast<char>(wrong[i] ^ 1);
    EXPECT_TRUE(check(footer, wrong).IsInvalid()) << i;
  }
  EXPECT_TRUE(check(footer, signature, "other").IsInvalid());
}

}  // namespace
}  // namespace calve::crypto
