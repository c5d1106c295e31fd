#include "calve/parquet/page_decryption.h"

#include "calve/parquet/page_reader.h"

#include <arrow/io/memory.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace calve::parquet {
namespace {

using crypto::ModuleId;
using crypto::ModuleType;
using crypto::PageCipher;
using ::testing::HasSubstr;

constexpr int64_t kRowGroup = 2, kColumn = 5;

std::span<const uint8_t> Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string Text(std::span<const uint8_t> bytes) { return std::string(bytes.begin(), bytes.end()); }

/// Writes the modules of a chunk, and reads its pages.
class EncryptedChunk {
 public:
  explicit EncryptedChunk(PageCipher pages) : pages_(pages) {}

  void AddDictionary(const std::string& body) {
    PageHeader header;
    header.type = PageType::kDictionaryPage;
    header.dictionary_page.emplace().num_values = 1;
    AddHeader(ModuleType::kDictionaryPageHeader, 0, header, body.size(), ModuleSize(body));
    Add({ModuleType::kDictionaryPage, kRowGroup, kColumn}, body);
  }
  void AddPage(int64_t ordinal, const std::string& body) {
    PageHeader header;
    header.type = PageType::kDataPage;
    header.data_page.emplace().num_values = 1;
    AddHeader(ModuleType::kDataPageHeader, ordinal, header, body.size(), ModuleSize(body));
    Add({ModuleType::kDataPage, kRowGroup, kColumn, ordinal}, body);
  }
  /// `levels_apart`: in plaintext before the module, as parquet-java has them.
  void AddPageV2(int64_t ordinal, const std::string& repetition, const std::string& definition,
                 const std::string& values, bool levels_apart) {
    PageHeader header;
    header.type = PageType::kDataPageV2;
    DataPageHeaderV2& v2 = header.data_page_v2.emplace();
    v2.num_values = 1;
    v2.repetition_levels_byte_length = static_cast<int32_t>(repetition.size());
    v2.definition_levels_byte_length = static_cast<int32_t>(definition.size());
    const std::string levels = repetition + definition, all = levels + values;
    const size_t size = levels_apart ? levels.size() + ModuleSize(values) : ModuleSize(all);
    AddHeader(ModuleType::kDataPageHeader, ordinal, header, all.size(), size);
    if (levels_apart) bytes += levels;
    Add({ModuleType::kDataPage, kRowGroup, kColumn, ordinal}, levels_apart ? values : all);
  }
  void AddHeader(ModuleType type, int64_t ordinal, PageHeader header, size_t size, size_t stored_size) {
    header.uncompressed_page_size = static_cast<int32_t>(size);
    header.compressed_page_size = static_cast<int32_t>(stored_size);
    Add({type, kRowGroup, kColumn, ordinal}, Serialize(header));
  }
  void Add(const ModuleId& module, const std::string& plaintext) {
    auto encryptor = crypto::ModuleEncryptor::Make(Key(), "file", pages_).ValueOrDie();
    ASSERT_TRUE(encryptor.Encrypt(module, Bytes(plaintext), &bytes).ok());
  }
  size_t ModuleSize(const std::string& body) const {
    return crypto::ModuleOverhead(ModuleType::kDataPage, pages_) + body.size();
  }

  /// The bodies of all pages, levels and values in brackets for v2; or the error.
  std::string Read(int64_t num_values, bool dictionary_first = false) const {
    return ReadFrom(bytes, num_values, dictionary_first);
  }
  std::string ReadFrom(const std::string& chunk, int64_t num_values, bool dictionary_first = false) const {
    arrow::io::BufferReader file(arrow::Buffer::FromString("PAR1" + chunk));
    ChunkPlan plan;
    plan.offset = 4;
    plan.size_bytes = static_cast<int64_t>(chunk.size());
    plan.num_values = num_values;
    plan.dictionary_first = dictionary_first;
    plan.decryptor = std::make_shared<ChunkDecryptor>(Key(), "file", pages_, kRowGroup, kColumn);
    PageOptions options;
    options.pool = arrow::default_memory_pool();
    PageReader reader(ChunkBytes(&file, plan.offset, plan.size_bytes, 64, options.pool), plan, options);
    std::string all;
    while (true) {
      const auto page = reader.Next();
      if (!page.ok()) return page.status().message();
      if (*page == nullptr) return all;
      if (!all.empty()) all += ",";
      if ((*page)->header.type == PageType::kDataPageV2) {
        all += "[" + Text((*page)->repetition_levels) + "][" + Text((*page)->definition_levels) + "]";
      }
      all += Text((*page)->body);
    }
  }

  static const crypto::AesKey& Key() {
    static const crypto::AesKey key = crypto::AesKey::Make("0123456789012345").ValueOrDie();
    return key;
  }

  std::string bytes;

 private:
  PageCipher pages_;
};

class PageDecryption : public ::testing::TestWithParam<PageCipher> {};
INSTANTIATE_TEST_SUITE_P(, PageDecryption, ::testing::Values(PageCipher::kGcm, PageCipher::kCtr),
                         [](const auto& cipher) { return cipher.param == PageCipher::kGcm ? "Gcm" : "Ctr"; });

TEST_P(PageDecryption, DictionaryAndPages) {
  EncryptedChunk chunk(GetParam());
  chunk.AddDictionary("entries");
  chunk.AddPage(0, "first");
  chunk.AddPage(1, std::string());
  chunk.AddPage(2, std::string(100000, 'x'));
  const std::string expected = "entries,first,," + std::string(100000, 'x');
  // Whatever the footer says of a dictionary.
  EXPECT_EQ(chunk.Read(3, true), expected);
  EXPECT_EQ(chunk.Read(3, false), expected);
  EncryptedChunk without(GetParam());
  without.AddPage(0, "only");
  EXPECT_EQ(without.Read(1, true), "only");
  EXPECT_EQ(without.Read(1, false), "only");
}

TEST_P(PageDecryption, LevelsOfV2PagesInsideAndBeforeTheModule) {
  EncryptedChunk chunk(GetParam());
  chunk.AddPageV2(0, "rep", "defi", "values", false);
  chunk.AddPageV2(1, "rep", "defi", "values", true);
  chunk.AddPageV2(2, "", "defi", "", true);
  chunk.AddPageV2(3, "", "", "values", true);
  EXPECT_EQ(chunk.Read(4), "[rep][defi]values,[rep][defi]values,[][defi],[][]values");
}

TEST_P(PageDecryption, TruncatedAtEveryByte) {
  EncryptedChunk chunk(GetParam());
  chunk.AddDictionary("entries");
  chunk.AddPage(0, "first");
  chunk.AddPageV2(1, "r", "d", "values", true);
  for (size_t size = 0; size < chunk.bytes.size(); ++size) {
    const std::string got = chunk.ReadFrom(chunk.bytes.substr(0, size), 2, true);
    EXPECT_THAT(got, ::testing::ContainsRegex("cut short|left|pages end")) << size;
  }
}

TEST_P(PageDecryption, PagesOutOfTheirPlaceAreNamed) {
  EncryptedChunk skipped(GetParam());
  skipped.AddPage(0, "first");
  skipped.AddPage(2, "third");
  EXPECT_THAT(skipped.Read(2), HasSubstr("page 1 at byte"));
  EXPECT_THAT(skipped.Read(2), HasSubstr("decrypting data page header 1: the authentication tag"));
  EncryptedChunk twice(GetParam());
  twice.AddDictionary("entries");
  twice.AddDictionary("entries");
  twice.AddPage(0, "first");
  EXPECT_THAT(twice.Read(1, true), HasSubstr("decrypting data page header 0: the authentication tag"));
  EncryptedChunk late(GetParam());
  late.AddPage(0, "first");
  late.AddDictionary("entries");
  late.AddPage(1, "second");
  EXPECT_THAT(late.Read(2), HasSubstr("decrypting data page header 1"));
}

TEST_P(PageDecryption, HeadersUnderTheWrongModule) {
  PageHeader dictionary, data, index;
  dictionary.type = PageType::kDictionaryPage;
  dictionary.dictionary_page.emplace().num_values = 1;
  data.type = PageType::kDataPage;
  data.data_page.emplace().num_values = 1;
  index.type = PageType::kIndexPage;
  for (const auto& [type, header] :
       {std::pair(ModuleType::kDataPageHeader, dictionary), std::pair(ModuleType::kDictionaryPageHeader, data),
        std::pair(ModuleType::kDataPageHeader, index)}) {
    EncryptedChunk chunk(GetParam());
    chunk.AddHeader(type, 0, header, 4, chunk.ModuleSize("body"));
    chunk.Add({ModuleType::kDataPage, kRowGroup, kColumn, 0}, "body");
    EXPECT_THAT(chunk.Read(1), HasSubstr("under the header of a"));
  }
}

TEST_P(PageDecryption, SizesThatDoNotFit) {
  PageHeader header;
  header.type = PageType::kDataPage;
  header.data_page.emplace().num_values = 1;
  for (const int more : {-1, 1}) {
    EncryptedChunk chunk(GetParam());
    chunk.AddHeader(ModuleType::kDataPageHeader, 0, header, 4,
                    static_cast<size_t>(static_cast<int>(chunk.ModuleSize("body")) + more));
    chunk.Add({ModuleType::kDataPage, kRowGroup, kColumn, 0}, "body");
    chunk.bytes += "what follows";
    EXPECT_THAT(chunk.Read(1), HasSubstr("no module of that size"));
  }
  EncryptedChunk garbage(GetParam());
  garbage.bytes = std::string(1000, '\xff');
  EXPECT_THAT(garbage.Read(1), HasSubstr("encrypted page header of 4294967299 bytes"));
  garbage.bytes = std::string(1000, '\0');
  EXPECT_THAT(garbage.Read(1), HasSubstr("encrypted data page header of 0 bytes (at least 28)"));
}

}  // namespace
}  // namespace calve::parquet
