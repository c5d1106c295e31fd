#include "encrypted_parquet.h"

#include "calve/parquet/encryption_metadata.h"
#include "calve/parquet/footer_decryption.h"
#include "calve/parquet/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

// Files that were encrypted by libparquet and then changed: no row of them may be wrong.

namespace calve {
namespace {

using testing::Decrypting;
using testing::Encryption;
using ::testing::HasSubstr;
using testing::KeysFor;
using testing::ReadWithCalve;
using testing::TableResult;
using testing::WriteEncrypted;

/// Where a module lies in a file.
struct Module {
  size_t begin = 0, size = 0;
};

/// A file whose columns have pages of the same sizes everywhere, so that any may stand in another's place.
class Victim {
 public:
  explicit Victim(const Encryption& encryption, int32_t first = 0) : encryption_(encryption) {
    encryption_.checksums = false;
    ::parquet::WriterProperties::Builder properties;
    properties.compression(arrow::Compression::UNCOMPRESSED)->disable_statistics()->disable_dictionary();
    bytes = WriteEncrypted(*MakeTable(first), encryption_, &properties)->ToString();
  }

  static std::shared_ptr<arrow::Table> MakeTable(int32_t first) {
    std::string ids = "[", xs = "[";
    for (int32_t i = 0; i < 2000; ++i) {
      ids += (i == 0 ? "" : ",") + std::to_string(first + i);
      xs += (i == 0 ? "" : ",") + std::to_string(-(first + i));
    }
    const auto array = [](const std::string& json) {
      return arrow::json::ArrayFromJSONString(arrow::int64(), json + "]").ValueOrDie();
    };
    const auto schema =
        arrow::schema({arrow::field("id", arrow::int64(), false), arrow::field("x", arrow::int64(), false)});
    return arrow::Table::Make(schema, {array(ids), array(xs)});
  }

  TableResult Read(ParquetDecryption keys) const {
    return ReadWithCalve(arrow::Buffer::FromString(bytes), Decrypting(std::move(keys)));
  }
  TableResult Read() const { return Read(KeysFor(encryption_)); }
  std::string Error() const {
    const arrow::Status status = Read().status();
    EXPECT_TRUE(status.IsInvalid()) << status;
    return status.message();
  }

  /// The modules of a chunk: header and page, in turn.
  std::vector<Module> Modules(size_t row_group, size_t column) const {
    const auto file = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes)),
                                          "x", Decrypting(KeysFor(encryption_)));
    const auto& chunk = *(*file)->metadata().row_groups[row_group].columns[column].metadata;
    std::vector<Module> modules;
    const auto end = static_cast<size_t>(chunk.data_page_offset + chunk.total_compressed_size);
    for (auto at = static_cast<size_t>(chunk.data_page_offset); at < end; at += modules.back().size) {
      uint32_t length = 0;
      std::memcpy(&length, bytes.data() + at, sizeof(length));
      modules.push_back({at, length + 4});
    }
    EXPECT_EQ(modules.size(), 20u);
    return modules;
  }

  void Swap(const Module& a, const Module& b) {
    ASSERT_EQ(a.size, b.size);
    std::swap_ranges(bytes.begin() + static_cast<ptrdiff_t>(a.begin),
                     bytes.begin() + static_cast<ptrdiff_t>(a.begin + a.size),
                     bytes.begin() + static_cast<ptrdiff_t>(b.begin));
  }

  std::string bytes;

 private:
  Encryption encryption_;
};

TEST(ParquetEncryptionAttack, PagesInTheWrongPlace) {
  const Encryption encryption;
  const Victim victim(encryption);
  ASSERT_TRUE(victim.Read().ok());
  const auto id = victim.Modules(0, 0), x = victim.Modules(0, 1), id_later = victim.Modules(1, 0);
  const auto swapped = [&](const Module& a, const Module& b) {
    Victim changed = victim;
    changed.Swap(a, b);
    return changed.Error();
  };
  const std::string tag = ": the authentication tag is not that of these bytes under this key";
  EXPECT_THAT(swapped(id[1], id[3]), HasSubstr("column 'id': row group 0: page 0"));
  EXPECT_THAT(swapped(id[1], id[3]), HasSubstr("decrypting data page 0" + tag));
  EXPECT_THAT(swapped(id[2], id[4]), HasSubstr("decrypting data page header 1" + tag));
  EXPECT_THAT(swapped(id[5], x[5]), HasSubstr("decrypting data page 2" + tag));
  EXPECT_THAT(swapped(id[6], x[6]), HasSubstr("decrypting data page header 3" + tag));
  EXPECT_THAT(swapped(id[7], id_later[7]), HasSubstr("decrypting data page 3" + tag));
  EXPECT_THAT(swapped(id[8], id_later[8]), HasSubstr("decrypting data page header 4" + tag));
}

TEST(ParquetEncryptionAttack, WholeChunksInTheWrongPlace) {
  for (const bool ctr : {false, true}) {
    Encryption encryption;
    encryption.ctr = ctr;
    const Victim victim(encryption);
    const auto whole = [&](size_t row_group, size_t column) {
      const auto modules = victim.Modules(row_group, column);
      return Module{modules.front().begin, modules.back().begin + modules.back().size - modules.front().begin};
    };
    Victim columns = victim, groups = victim;
    columns.Swap(whole(0, 0), whole(0, 1));
    EXPECT_THAT(columns.Error(), HasSubstr("decrypting data page header 0"));
    groups.Swap(whole(0, 0), whole(1, 0));
    EXPECT_THAT(groups.Error(), HasSubstr("decrypting data page header 0"));
  }
}

/// The same keys and layout: only the bytes that are unique to each file tell them apart.
TEST(ParquetEncryptionAttack, ModulesOfAnotherFile) {
  const Encryption encryption;
  const Victim older(encryption, 0), newer(encryption, 50000);
  ASSERT_EQ(older.bytes.size(), newer.bytes.size());
  for (const size_t module : {0u, 1u}) {
    Victim changed = newer;
    const auto from = older.Modules(0, 0)[module], to = newer.Modules(0, 0)[module];
    ASSERT_EQ(from.size, to.size);
    changed.bytes.replace(to.begin, to.size, older.bytes, from.begin, from.size);
    EXPECT_THAT(changed.Error(), HasSubstr(module == 0 ? "decrypting data page header 0" : "decrypting data page 0"));
  }
}

/// Only a prefix tells whole files apart.
TEST(ParquetEncryptionAttack, AnotherFileAsAWhole) {
  Encryption encryption;
  encryption.store_prefix = false;
  encryption.aad_prefix = "2026-11-30";
  const Victim older(encryption);
  encryption.aad_prefix = "2026-12-01";
  EXPECT_THAT(older.Read(KeysFor(encryption)).status().message(), HasSubstr("decrypting footer"));
}

/// The metadata of encrypted chunks, swapped in a footer whose signature is not checked.
TEST(ParquetEncryptionAttack, ColumnMetadataInTheWrongPlace) {
  Encryption encryption;
  encryption.plaintext_footer = true;
  Victim victim(encryption);
  const auto file =
      ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(victim.bytes)), "x",
                          Decrypting(KeysFor(encryption)));
  ASSERT_TRUE(file.ok()) << file.status();
  const auto place = [&](size_t row_group) {  // of "x": of "id" the first offset is written shorter
    const std::string& module = (*file)->metadata().row_groups[row_group].columns[1].crypto->encrypted_column_metadata;
    EXPECT_GT(module.size(), 0u);
    return Module{victim.bytes.find(module), module.size()};
  };
  victim.Swap(place(0), place(1));
  EXPECT_THAT(victim.Error(), HasSubstr("the footer's signature is not that of these bytes"));
  ParquetDecryption keys = KeysFor(encryption);
  keys.verify_footer_signature = false;
  EXPECT_THAT(victim.Read(keys).status().message(), HasSubstr("decrypting column metadata: the authentication tag"));
}

TEST(ParquetEncryptionAttack, PlaintextFootersAreSigned) {
  Encryption encryption;
  encryption.plaintext_footer = true;
  Victim victim(encryption);
  const size_t name = victim.bytes.find("parquet-cpp-arrow");
  ASSERT_NE(name, std::string::npos);
  victim.bytes[name] = 'q';
  EXPECT_THAT(victim.Error(), HasSubstr("the footer's signature is not that of these bytes under this key"));
  ParquetDecryption keys = KeysFor(encryption);
  keys.verify_footer_signature = false;
  EXPECT_TRUE(victim.Read(keys).ok());
  keys.verify_footer_signature = true;
  keys.footer_key.clear();
  EXPECT_THAT(victim.Read(keys).status().message(), HasSubstr("checking the footer's signature: no key"));
}

/// A small file of two encrypted columns.
std::string SmallFile(const Encryption& encryption) {
  ::parquet::WriterProperties::Builder properties;
  properties.created_by("c");
  return WriteEncrypted(*testing::TableToEncrypt(5)->SelectColumns({0, 1}).ValueOrDie(), encryption, &properties)
      ->ToString();
}

TEST(ParquetEncryptionAttack, EveryByteChanged) {
  for (const bool plaintext_footer : {false, true}) {
    Encryption encryption;
    encryption.plaintext_footer = plaintext_footer;
    const std::string bytes = SmallFile(encryption);
    const auto options = Decrypting(KeysFor(encryption));
    const auto right = ReadWithCalve(arrow::Buffer::FromString(bytes), options);
    ASSERT_TRUE(right.ok()) << right.status();
    int refused = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (const int bits : {0x01, 0x80}) {
        std::string wrong = bytes;
        wrong[i] = static_cast<char>(wrong[i] ^ bits);
        const auto got = ReadWithCalve(arrow::Buffer::FromString(wrong), options);
        if (got.ok()) EXPECT_TRUE((*got)->Equals(**right)) << i;
        refused += got.ok() ? 0 : 1;
      }
    }
    // What is read all the same: the magic at the start, and the page indexes, which nobody asks for.
    EXPECT_GT(refused, static_cast<int>(bytes.size()));
  }
}

TEST(ParquetEncryptionAttack, TruncatedAtEveryByte) {
  for (const bool plaintext_footer : {false, true}) {
    Encryption encryption;
    encryption.plaintext_footer = plaintext_footer;
    const std::string bytes = SmallFile(encryption);
    const auto options = Decrypting(KeysFor(encryption));
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(ReadWithCalve(arrow::Buffer::FromString(bytes.substr(0, size)), options).ok()) << size;
    }
  }
}

TEST(ParquetEncryptionAttack, EncryptedFooterTruncatedAtEveryByte) {
  Encryption encryption;
  encryption.aad_prefix = "prefix";
  const std::string bytes = SmallFile(encryption);
  uint32_t size = 0;
  std::memcpy(&size, bytes.data() + bytes.size() - 8, sizeof(size));
  const std::string footer = bytes.substr(bytes.size() - 8 - size, size);
  const auto keys = std::make_shared<const ParquetDecryption>(KeysFor(encryption));
  const auto decrypt = [&](const std::string& text) {
    return parquet::DecryptFooter({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, keys,
                                  arrow::default_memory_pool())
        .status();
  };
  ASSERT_TRUE(decrypt(footer).ok()) << decrypt(footer);
  for (size_t cut = 0; cut < footer.size(); ++cut) {
    EXPECT_TRUE(decrypt(footer.substr(0, cut)).IsInvalid()) << cut;
  }
  EXPECT_THAT(decrypt(footer + "x").message(), HasSubstr("an encrypted footer of"));
}

// The structure in plaintext before the footer, written by hand: algorithm AES_GCM_CTR_V1 {"ab", "unique", true}, key
// metadata "key".
constexpr std::string_view kFileCrypto(
    "\x1c\x2c\x18\x02"
    "ab\x18\x06unique\x11\x00\x00\x18\x03key\x00",
    23);

TEST(FileCryptoMetadata, ParsedAndTruncatedAtEveryByte) {
  const std::string text = std::string(kFileCrypto) + "what follows";
  size_t size = 0;
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const auto file = parquet::ParseFileCryptoMetadata(bytes, &size);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(size, kFileCrypto.size());
  EXPECT_EQ(file->algorithm.kind, parquet::EncryptionAlgorithm::Kind::kAesGcmCtrV1);
  EXPECT_EQ(file->algorithm.aad_prefix, "ab");
  EXPECT_EQ(file->algorithm.aad_file_unique, "unique");
  EXPECT_TRUE(file->algorithm.supply_aad_prefix);
  EXPECT_EQ(file->key_metadata, "key");
  for (size_t cut = 0; cut < kFileCrypto.size(); ++cut) {
    EXPECT_TRUE(parquet::ParseFileCryptoMetadata(bytes.first(cut), &size).status().IsInvalid()) << cut;
  }
}

TEST(FileCryptoMetadata, UnknownAlgorithmsAreNotImplemented) {
  std::string text(kFileCrypto);
  text[1] = '\x3c';  // the union's third member
  size_t size = 0;
  auto file = parquet::ParseFileCryptoMetadata({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, &size);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto decryptor = parquet::FileDecryptor::Make(*file, std::make_shared<const ParquetDecryption>());
  EXPECT_TRUE(decryptor.status().IsNotImplemented()) << decryptor.status();
}

}  // namespace
}  // namespace calve
