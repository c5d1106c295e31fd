#include "encrypted_parquet.h"
#include "parquet_testing_keys.h"
#include "test_data.h"

#include "calve/parquet/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

// Files that libparquet and parquet-java encrypted, read by calve and by libparquet.

namespace calve {
namespace {

using testing::Decrypting;
using testing::Encryption;
using testing::ExpectSameTable;
using ::testing::HasSubstr;
using testing::KeyMetadataOf;
using testing::KeyOf;
using testing::KeysFor;
using testing::ReadWithCalve;
using testing::ReadWithLibparquet;
using testing::TableResult;
using testing::TableToEncrypt;
using testing::WriteEncrypted;

TableResult ReadColumns(const std::shared_ptr<arrow::Buffer>& bytes, const ParquetReadOptions& options,
                        const std::vector<std::string>& columns) {
  return ReadWithCalve(std::make_shared<arrow::io::BufferReader>(bytes), options, columns);
}

std::string Error(const std::shared_ptr<arrow::Buffer>& bytes, const ParquetReadOptions& options,
                  const std::vector<std::string>& columns = {}) {
  const arrow::Status status = ReadColumns(bytes, options, columns).status();
  EXPECT_TRUE(status.IsInvalid()) << status;
  return status.message();
}

class EncryptedBy : public ::testing::TestWithParam<Encryption> {};

TEST_P(EncryptedBy, SameRowsAsLibparquet) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const Encryption& encryption = GetParam();
  const auto table = TableToEncrypt();
  const ParquetDecryption keys = KeysFor(encryption);
  for (const auto codec : {arrow::Compression::UNCOMPRESSED, arrow::Compression::SNAPPY, arrow::Compression::ZSTD}) {
    for (const auto version : {::parquet::ParquetDataPageVersion::V1, ::parquet::ParquetDataPageVersion::V2}) {
      for (const bool dictionary : {true, false}) {
        ::parquet::WriterProperties::Builder properties;
        properties.compression(codec)->data_page_version(version);
        if (!dictionary) properties.disable_dictionary();
        const auto bytes = WriteEncrypted(*table, encryption, &properties);
        const auto expected = ReadWithLibparquet(std::make_shared<arrow::io::BufferReader>(bytes), keys);
        ASSERT_TRUE(expected.ok()) << expected.status();
        ASSERT_EQ((*expected)->num_rows(), 3000);
        ParquetReadOptions options = Decrypting(keys);
        options.batch_rows = 257;
        ExpectSameTable(ReadWithCalve(bytes, options), expected);
        ExpectSameTable(ReadWithCalve(bytes, options), table);
        Context one_thread;
        one_thread.threads = 1;
        ExpectSameTable(ReadWithCalve(std::make_shared<arrow::io::BufferReader>(bytes), options, {}, one_thread),
                        expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ParquetEncryption, EncryptedBy, ::testing::ValuesIn(testing::EveryEncryption()),
                         testing::NameOfEncryption);

/// Statistics, which only an encrypted column metadata has, are there too.
TEST(ParquetEncryption, MetadataOfEncryptedColumns) {
  for (const bool plaintext_footer : {false, true}) {
    Encryption encryption;
    encryption.plaintext_footer = plaintext_footer;
    encryption.column_keys = true;
    const auto bytes = WriteEncrypted(*TableToEncrypt(), encryption);
    const auto open = [&](const ParquetReadOptions& options) {
      return ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x.parquet", options).ValueOrDie();
    };
    const auto file = open(Decrypting(KeysFor(encryption)));
    for (const auto& group : file->metadata().row_groups) {
      for (const auto& chunk : group.columns) {
        ASSERT_TRUE(chunk.metadata.has_value());
        EXPECT_TRUE(chunk.metadata->statistics.has_value());
      }
    }
    auto description = Describe(*file);
    ASSERT_TRUE(description.ok()) << description.status();
    // Without its key a column's metadata is not there, or without statistics.
    ParquetDecryption keys = KeysFor(encryption);
    keys.column_keys.clear();
    const auto poor = open(Decrypting(keys));
    const auto& chunk = poor->metadata().row_groups[0].columns[0];
    EXPECT_EQ(chunk.metadata.has_value(), plaintext_footer);
    if (chunk.metadata) EXPECT_FALSE(chunk.metadata->statistics.has_value());
    description = Describe(*poor);
    EXPECT_TRUE(description.ok()) << description.status();
  }
}

TEST(ParquetEncryption, ColumnsWithoutTheirKeyAreErrorsOnlyWhenAskedFor) {
  const auto table = TableToEncrypt();
  for (const bool plaintext_footer : {false, true}) {
    Encryption encryption;
    encryption.plaintext_footer = plaintext_footer;
    encryption.column_keys = true;
    const auto bytes = WriteEncrypted(*table, encryption);
    ParquetDecryption keys = KeysFor(encryption);
    keys.column_keys.erase("name");
    const auto options = Decrypting(keys);
    const std::vector<std::string> others = {"id", "x", "tags", "plain"};
    ExpectSameTable(ReadColumns(bytes, options, others), table->SelectColumns({0, 2, 3, 4}));
    EXPECT_EQ(Error(bytes, options, {"name"}),
              "x.parquet: column 'name': row group 0: encrypted column: no key for it was given");
    EXPECT_EQ(Error(bytes, options), Error(bytes, options, {"name"}));
  }
}

TEST(ParquetEncryption, PlaintextColumnsNeedNoKeysWhenTheFooterIsInPlaintext) {
  Encryption encryption;
  encryption.column_keys = true;
  encryption.plaintext_footer = true;
  const auto table = TableToEncrypt();
  const auto bytes = WriteEncrypted(*table, encryption);
  ExpectSameTable(ReadColumns(bytes, {}, {"plain"}), table->SelectColumns({4}));
  for (const char* column : {"id", "name", "x", "tags"}) {
    EXPECT_THAT(Error(bytes, {}, {column}), HasSubstr("row group 0: encrypted column: no key for it was given"));
  }
  encryption.plaintext_footer = false;
  EXPECT_THAT(Error(WriteEncrypted(*table, encryption), {}, {"plain"}),
              HasSubstr("encrypted Parquet file, and no keys were given"));
}

TEST(ParquetEncryption, WrongKeysAreNamed) {
  for (const bool ctr : {false, true}) {
    Encryption encryption;
    encryption.ctr = ctr;
    encryption.column_keys = true;
    const auto bytes = WriteEncrypted(*TableToEncrypt(), encryption);
    ParquetDecryption wrong = KeysFor(encryption);
    wrong.footer_key = KeyOf("another");
    EXPECT_THAT(Error(bytes, Decrypting(wrong)), HasSubstr("decrypting footer: the authentication tag"));
    wrong = KeysFor(encryption);
    wrong.column_keys["id"] = KeyOf("name");
    EXPECT_THAT(Error(bytes, Decrypting(wrong), {"id"}),
                HasSubstr("column 'id': row group 0: decrypting column metadata: the authentication tag"));
    EXPECT_TRUE(ReadColumns(bytes, Decrypting(wrong), {"name"}).ok());
    wrong.footer_key = "short";
    EXPECT_THAT(Error(bytes, Decrypting(wrong)), HasSubstr("a key of 5 bytes"));
    // Keys never stand in messages.
    EXPECT_THAT(Error(bytes, Decrypting(wrong)), ::testing::Not(HasSubstr("short")));
  }
}

TEST(ParquetEncryption, KeysByCallback) {
  const auto table = TableToEncrypt();
  for (const bool plaintext_footer : {false, true}) {
    Encryption encryption;
    encryption.plaintext_footer = plaintext_footer;
    encryption.column_keys = true;
    const auto bytes = WriteEncrypted(*table, encryption);
    std::map<std::string, int> asked;
    ParquetDecryption keys;
    keys.find_key = [&](const ParquetKeyRequest& request) -> arrow::Result<std::optional<std::string>> {
      ++asked[std::string(request.key_metadata)];
      EXPECT_EQ(request.key_metadata, KeyMetadataOf(std::string(request.column)));
      return KeyOf(std::string(request.column));
    };
    ExpectSameTable(ReadWithCalve(bytes, Decrypting(keys)), table);
    // Once a key, though there are three row groups.
    EXPECT_THAT(
        asked, ::testing::ElementsAre(::testing::Pair("id of ", 1), ::testing::Pair("id of id", 1),
                                      ::testing::Pair("id of name", 1), ::testing::Pair("id of tags.list.element", 1)));
    // Nor are keys of columns that are not read.
    asked.clear();
    ExpectSameTable(ReadColumns(bytes, Decrypting(keys), {"name"}), table->SelectColumns({1}));
    EXPECT_THAT(asked, ::testing::ElementsAre(::testing::Pair("id of ", 1), ::testing::Pair("id of name", 1)));
    // A key that is given is not asked for.
    asked.clear();
    keys.footer_key = KeyOf("");
    keys.column_keys["id"] = KeyOf("id");
    ExpectSameTable(ReadWithCalve(bytes, Decrypting(keys)), table);
    EXPECT_EQ(asked.count("id of "), 0u);
    EXPECT_EQ(asked.count("id of id"), 0u);
  }
}

TEST(ParquetEncryption, CallbacksThatFindNoKeyOrFail) {
  Encryption encryption;
  encryption.column_keys = true;
  const auto bytes = WriteEncrypted(*TableToEncrypt(), encryption);
  ParquetDecryption keys = KeysFor(encryption);
  keys.column_keys.clear();
  keys.find_key = [](const ParquetKeyRequest& request) -> arrow::Result<std::optional<std::string>> {
    if (request.column == "id") return arrow::Status::IOError("the key service said no");
    if (request.column == "name") return std::optional<std::string>("7 bytes");
    return std::nullopt;
  };
  EXPECT_TRUE(ReadColumns(bytes, Decrypting(keys), {"x", "plain"}).ok());
  const arrow::Status refused = ReadColumns(bytes, Decrypting(keys), {"id"}).status();
  EXPECT_TRUE(refused.IsIOError()) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("finding its key: the key service said no"));
  EXPECT_THAT(Error(bytes, Decrypting(keys), {"name"}), HasSubstr("a key of 7 bytes"));
  EXPECT_THAT(Error(bytes, Decrypting(keys), {"tags"}), HasSubstr("no key for it was found"));
  keys.footer_key.clear();
  EXPECT_THAT(Error(bytes, Decrypting(keys)), HasSubstr("no key for it was found"));
}

TEST(ParquetEncryption, AadPrefixes) {
  const auto table = TableToEncrypt();
  Encryption stored, given, none;
  stored.aad_prefix = given.aad_prefix = "table/part-1";
  given.store_prefix = false;
  const auto stored_bytes = WriteEncrypted(*table, stored), given_bytes = WriteEncrypted(*table, given),
             none_bytes = WriteEncrypted(*table, none);
  ParquetDecryption keys = KeysFor(none);
  EXPECT_TRUE(ReadWithCalve(stored_bytes, Decrypting(keys)).ok());
  EXPECT_THAT(Error(given_bytes, Decrypting(keys)), HasSubstr("AAD prefix that is not in the file and was not given"));
  keys.aad_prefix = "table/part-1";
  EXPECT_TRUE(ReadWithCalve(stored_bytes, Decrypting(keys)).ok());
  EXPECT_TRUE(ReadWithCalve(given_bytes, Decrypting(keys)).ok());
  EXPECT_THAT(Error(none_bytes, Decrypting(keys)), HasSubstr("encrypted without an AAD prefix"));
  keys.aad_prefix = "table/part-2";
  EXPECT_THAT(Error(stored_bytes, Decrypting(keys)), HasSubstr("the AAD prefix 'table/part-1', not 'table/part-2'"));
  EXPECT_THAT(Error(given_bytes, Decrypting(keys)), HasSubstr("decrypting footer: the authentication tag"));
  keys.aad_prefix.clear();
  std::string seen;
  keys.verify_aad_prefix = [&](std::string_view prefix) {
    seen = prefix;
    return arrow::Status::Invalid("the wrong part");
  };
  EXPECT_THAT(Error(stored_bytes, Decrypting(keys)), HasSubstr("the wrong part"));
  EXPECT_EQ(seen, "table/part-1");
  EXPECT_TRUE(ReadWithCalve(none_bytes, Decrypting(keys)).ok());
}

TEST(ParquetEncryption, PlaintextFilesAreRefusedUnlessAllowed) {
  const auto table = TableToEncrypt();
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  ASSERT_TRUE(::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink).ok());
  const auto bytes = sink->Finish().ValueOrDie();
  ParquetDecryption keys = KeysFor({});
  EXPECT_THAT(Error(bytes, Decrypting(keys)), HasSubstr("the file is not encrypted"));
  keys.allow_plaintext_files = true;
  ExpectSameTable(ReadWithCalve(bytes, Decrypting(keys)), table);
}

// Files of apache/parquet-testing; conformance_test.cc reads all of them with keys that are given.

TEST(ParquetEncryption, KeysOfParquetTestingByTheirNames) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  CALVE_SHARED_DATA(data);
  for (const char* name : {"aes256/encrypt_columns_and_footer", "aes256/encrypt_columns_plaintext_footer",
                           "aes256/uniform_encryption", "encrypt_columns_and_footer_ctr",
                           "encrypt_columns_and_footer_disable_aad_storage", "encrypt_columns_plaintext_footer"}) {
    SCOPED_TRACE(name);
    const std::string path = data + "/parquet-testing/data/" + name + ".parquet.encrypted";
    const ParquetDecryption given = testing::ParquetTestingKeys(path);
    ParquetDecryption keys;
    keys.aad_prefix = given.aad_prefix;
    keys.find_key = [&](const ParquetKeyRequest& request) -> arrow::Result<std::optional<std::string>> {
      EXPECT_EQ(request.key_metadata.substr(0, 2), request.column.empty() ? "kf" : "kc");
      return request.column.empty() ? given.footer_key : given.column_keys.at(std::string(request.column));
    };
    ExpectSameTable(ReadWithCalve(path, Decrypting(keys)),
                    ReadWithLibparquet(arrow::io::ReadableFile::Open(path).ValueOrDie(), given));
  }
}

// Files that tests/data/encrypted/WriteEncrypted.java had parquet-java write: v2 pages, whose levels it does not
// encrypt.

/// The rows that the program wrote.
std::shared_ptr<arrow::Table> RowsOfJava() {
  std::string json = "[";
  for (int i = 0; i < 200; ++i) {
    const std::string number = std::to_string(i);
    json += (i == 0 ? "" : ",") + std::string("{\"id\":") + std::to_string(i * 7919);
    if (i % 11 != 3) json += ",\"name\":\"name " + std::to_string(i % 23) + "\"";
    if (i % 5 != 1) json += ",\"x\":" + number + ".25";
    if (i % 7 == 1) json += ",\"tags\":[]";
    if (i % 7 > 1) json += ",\"tags\":[" + number + ",null," + std::to_string(i % 3) + "]";
    json += "}";
  }
  const auto type = arrow::struct_({arrow::field("id", arrow::int64(), false), arrow::field("name", arrow::utf8()),
                                    arrow::field("x", arrow::float64()),
                                    arrow::field("tags", arrow::list(arrow::field("element", arrow::int32())))});
  auto array = arrow::json::ArrayFromJSONString(type, json + "]").ValueOrDie();
  auto batch = arrow::RecordBatch::FromStructArray(array).ValueOrDie();
  return arrow::Table::FromRecordBatches(arrow::schema(type->fields()), {batch}).ValueOrDie();
}

TEST(ParquetEncryption, V2PagesOfParquetJava) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  ParquetDecryption keys;
  keys.footer_key = "0123456789012345";
  keys.aad_prefix = "tester";
  keys.column_keys = {
      {"id", "1234567890123450"}, {"name", "1234567890123451"}, {"tags.list.element", "1234567890123452"}};
  for (const char* name : {"java_v2_gcm_columns", "java_v2_ctr_uniform", "java_v2_gcm_plaintext_footer"}) {
    SCOPED_TRACE(name);
    const std::string path = testing::Data("encrypted/" + std::string(name) + ".parquet.encrypted");
    ParquetReadOptions options = Decrypting(keys);
    options.batch_rows = 33;
    ExpectSameTable(ReadWithCalve(path, options), RowsOfJava());
  }
}

}  // namespace
}  // namespace calve
