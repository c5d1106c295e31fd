// Files that calve encrypts, read by libparquet and by calve.

#include "calve/parquet_verify.h"
#include "calve/parquet_writer.h"

#include "calve/parquet/footer.h"

#include "encrypted_parquet.h"
#include "written_parquet.h"

#include <gmock/gmock.h>
#include <parquet/bloom_filter_reader.h>
#include <parquet/page_index.h>

#include <algorithm>

namespace calve {
namespace {

using testing::ColumnsWithKeys;
using testing::Decrypting;
using testing::Encryption;
using testing::ExpectSameTable;
using ::testing::HasSubstr;
using testing::KeyMetadataOf;
using testing::KeyOf;
using testing::KeysFor;
using testing::ReadWithCalve;
using testing::ReadWithLibparquet;
using testing::TableToEncrypt;

ParquetEncryption EncryptionOf(const Encryption& wanted) {
  ParquetEncryption encryption;
  encryption.footer_key = {KeyOf("", wanted.key_bytes), KeyMetadataOf("")};
  if (wanted.column_keys) {
    for (const std::string& column : ColumnsWithKeys()) {
      encryption.column_keys[column] = {KeyOf(column, wanted.key_bytes), KeyMetadataOf(column)};
    }
  }
  encryption.plaintext_footer = wanted.plaintext_footer;
  encryption.ctr_pages = wanted.ctr;
  encryption.aad_prefix = wanted.aad_prefix;
  encryption.store_aad_prefix = wanted.store_prefix;
  return encryption;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Write(const ParquetEncryption& encryption,
                                                    ParquetWriteOptions options = {}) {
  options.encryption = std::make_shared<const ParquetEncryption>(encryption);
  options.row_group_rows = 1000;
  options.page_rows = 100;
  const auto table = TableToEncrypt();
  ARROW_ASSIGN_OR_RAISE(auto sink, arrow::io::BufferOutputStream::Create());
  ARROW_ASSIGN_OR_RAISE(auto writer, ParquetWriter::Make(sink.get(), table->schema(), options));
  arrow::TableBatchReader batches(*table);
  for (auto batch = batches.Next(); batch.ok() && *batch != nullptr; batch = batches.Next()) {
    ARROW_RETURN_NOT_OK(writer->Write(**batch));
  }
  ARROW_RETURN_NOT_OK(writer->Close().status());
  return sink->Finish();
}

/// By `VerifyParquet`, which finds the encrypted files of libparquet and parquet-java right.
void ExpectRight(const std::shared_ptr<arrow::Buffer>& bytes, const ParquetDecryption& keys) {
  ParquetVerifyOptions options;
  options.decryption = std::make_shared<const ParquetDecryption>(keys);
  const auto found = VerifyParquet(std::make_shared<arrow::io::BufferReader>(bytes), options).ValueOrDie();
  EXPECT_GT(found.pages, 0);
  EXPECT_THAT(found.not_checked, ::testing::IsEmpty());
  for (const ParquetViolation& violation : found.violations) ADD_FAILURE() << ToString(violation);
}

class EncryptedWrite : public ::testing::TestWithParam<Encryption> {};

TEST_P(EncryptedWrite, ReadByLibparquetAndCalve) {
  const auto table = TableToEncrypt();
  const ParquetDecryption keys = KeysFor(GetParam());
  for (const auto compression : {ParquetCompression::kUncompressed, ParquetCompression::kZstd}) {
    for (const bool v2 : {false, true}) {
      for (const bool dictionary : {false, true}) {
        ParquetWriteOptions options;
        options.compression = compression;
        options.data_page_v2 = v2;
        options.dictionary = dictionary;
        const auto bytes = Write(EncryptionOf(GetParam()), options).ValueOrDie();
        ExpectSameTable(ReadWithLibparquet(std::make_shared<arrow::io::BufferReader>(bytes), keys), table);
        ExpectSameTable(ReadWithCalve(bytes, Decrypting(keys)), table);
        ExpectRight(bytes, keys);
      }
    }
  }
}

/// Indexes, filters and statistics are there for who has the keys.
TEST_P(EncryptedWrite, IndexesAndFiltersReadByLibparquet) {
  ParquetWriteOptions options;
  options.bloom_filter.emplace();
  const auto bytes = Write(EncryptionOf(GetParam()), options).ValueOrDie();
  ::parquet::ReaderProperties properties = ::parquet::default_reader_properties();
  properties.file_decryption_properties(testing::DecryptionProperties(KeysFor(GetParam())));
  auto reader = ::parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), properties);
  for (int group = 0; group < 3; ++group) {
    const auto indexes = reader->GetPageIndexReader()->RowGroup(group);
    for (int column = 0; column < 5; ++column) {
      EXPECT_EQ(indexes->GetOffsetIndex(column)->page_locations().size(), 10u);
      EXPECT_EQ(indexes->GetColumnIndex(column)->null_pages().size(), 10u);
      // Under a plaintext footer libparquet looks into the metadata of columns with a key of their own only.
      const bool has_own_key = GetParam().column_keys && column != 2 && column != 4;
      if (GetParam().plaintext_footer && !has_own_key) continue;
      EXPECT_TRUE(reader->metadata()->RowGroup(group)->ColumnChunk(column)->is_stats_set());
    }
  }
  // calve's reader uses encrypted filters; libparquet's does not.
  const auto file =
      ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x", Decrypting(KeysFor(GetParam())))
          .ValueOrDie();
  for (const auto& chunk : file->metadata().row_groups[0].columns) {
    EXPECT_TRUE(chunk.metadata->bloom_filter_offset.has_value());
    EXPECT_TRUE(chunk.metadata->statistics.has_value());
  }
}

INSTANTIATE_TEST_SUITE_P(ParquetEncryptedWrite, EncryptedWrite, ::testing::ValuesIn(testing::EveryEncryption()),
                         testing::NameOfEncryption);

/// Nothing of the values stands in the file in plaintext.
TEST(ParquetEncryptedWriter, HidesValuesAndTheirStatistics) {
  for (const bool plaintext_footer : {false, true}) {
    Encryption wanted;
    wanted.plaintext_footer = plaintext_footer;
    wanted.column_keys = true;
    ParquetWriteOptions options;
    options.compression = ParquetCompression::kUncompressed;
    const auto bytes = Write(EncryptionOf(wanted), options).ValueOrDie()->ToString();
    EXPECT_THAT(bytes, ::testing::Not(HasSubstr("name 1")));
    EXPECT_EQ(bytes.substr(0, 4), plaintext_footer ? "PAR1" : "PARE");
    EXPECT_EQ(bytes.substr(bytes.size() - 4), plaintext_footer ? "PAR1" : "PARE");
    EXPECT_EQ(bytes.find("created_by") != std::string::npos || bytes.find("calve version") != std::string::npos,
              plaintext_footer);
  }
}

TEST(ParquetEncryptedWriter, ColumnsLeftInPlaintext) {
  Encryption wanted;
  wanted.column_keys = true;
  wanted.plaintext_footer = true;
  ParquetEncryption encryption = EncryptionOf(wanted);
  encryption.other_columns_plaintext = true;
  const auto bytes = Write(encryption).ValueOrDie();
  const auto table = TableToEncrypt();
  ExpectSameTable(ReadWithLibparquet(std::make_shared<arrow::io::BufferReader>(bytes), KeysFor(wanted)), table);
  // Without any key: the columns that have none.
  auto reader = ::parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(bytes));
  const auto group = reader->metadata()->RowGroup(0);
  EXPECT_TRUE(group->ColumnChunk(4)->is_stats_set());
  EXPECT_EQ(group->ColumnChunk(4)->crypto_metadata(), nullptr);
  EXPECT_THROW(group->ColumnChunk(0), ::parquet::ParquetException);
}

TEST(ParquetEncryptedWriter, KeysByCallback) {
  ParquetEncryption encryption;
  std::vector<std::string> asked;
  encryption.find_key = [&](std::string_view column) -> arrow::Result<std::optional<ParquetKey>> {
    asked.emplace_back(column);
    if (column == "plain") return std::nullopt;
    return ParquetKey{KeyOf(std::string(column)), KeyMetadataOf(std::string(column))};
  };
  const auto bytes = Write(encryption).ValueOrDie();
  EXPECT_THAT(asked, ::testing::ElementsAre("", "id", "name", "x", "tags.list.element", "plain"));
  ParquetDecryption keys;
  keys.find_key = [](const ParquetKeyRequest& request) -> arrow::Result<std::optional<std::string>> {
    const std::string prefix = KeyMetadataOf("");
    return KeyOf(std::string(request.key_metadata.substr(prefix.size())));
  };
  ExpectSameTable(ReadWithLibparquet(std::make_shared<arrow::io::BufferReader>(bytes), keys), TableToEncrypt());
}

TEST(ParquetEncryptedWriter, RefusesKeysThatAreNone) {
  const auto message = [](const ParquetEncryption& encryption) {
    const auto status = Write(encryption).status();
    EXPECT_TRUE(status.IsInvalid()) << status;
    return status.message();
  };
  EXPECT_EQ(message({}), "no key to encrypt the footer with");
  ParquetEncryption encryption;
  encryption.footer_key.key = "short";
  EXPECT_THAT(message(encryption), HasSubstr("the footer's key: "));
  encryption.footer_key.key = KeyOf("");
  encryption.column_keys["nowhere"].key = KeyOf("nowhere");
  EXPECT_EQ(message(encryption), "a key for column 'nowhere', which is not in the schema");
  encryption.column_keys.clear();
  encryption.column_keys["name"].key = "short";
  EXPECT_THAT(message(encryption), HasSubstr("column 'name': "));
  encryption.column_keys.clear();
  encryption.find_key = [](std::string_view) { return arrow::Status::IOError("the key server is away"); };
  EXPECT_THAT(Write(encryption).status().message(), HasSubstr("finding the key: the key server is away"));
}

}  // namespace
}  // namespace calve
