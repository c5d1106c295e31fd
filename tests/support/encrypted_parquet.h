#pragma once

#include "calve/parquet_encryption.h"

#include "read_parquet.h"

#include <arrow/io/memory.h>
#include <arrow/json/from_string.h>
#include <arrow/table.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/encryption/encryption.h>
#include <parquet/properties.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace calve::testing {

/// How libparquet is to encrypt a file.
struct Encryption {
  bool plaintext_footer = false;
  bool ctr = false;
  bool column_keys = false;  ///< otherwise every column has the footer's key
  size_t key_bytes = 16;
  std::string aad_prefix;
  bool store_prefix = true;
  bool checksums = true;
};

/// Every combination of footer, algorithm, keys and AAD prefix.
inline std::vector<Encryption> EveryEncryption() {
  std::vector<Encryption> all;
  for (const bool plaintext_footer : {false, true}) {
    for (const bool ctr : {false, true}) {
      for (const bool column_keys : {false, true}) {
        for (const int prefix : {0, 1, 2}) {
          Encryption encryption;
          encryption.plaintext_footer = plaintext_footer;
          encryption.ctr = ctr;
          encryption.column_keys = column_keys;
          if (prefix > 0) encryption.aad_prefix = "table/part-1";
          encryption.store_prefix = prefix != 2;
          encryption.key_bytes = 16 + 8 * (all.size() % 3);
          all.push_back(encryption);
        }
      }
    }
  }
  return all;
}

/// For the names of parameterized tests.
inline std::string NameOfEncryption(const ::testing::TestParamInfo<Encryption>& info) {
  const Encryption& encryption = info.param;
  std::string name = encryption.plaintext_footer ? "PlaintextFooter" : "EncryptedFooter";
  name += encryption.ctr ? "GcmCtr" : "Gcm";
  name += encryption.column_keys ? "ColumnKeys" : "OneKey";
  name += encryption.aad_prefix.empty() ? "" : encryption.store_prefix ? "StoredPrefix" : "GivenPrefix";
  return name;
}

/// Columns that have a key of their own when there are column keys. "x" has the footer's then, "plain" has none.
inline std::vector<std::string> ColumnsWithKeys() { return {"id", "name", "tags.list.element"}; }

/// The key of a column, "" for the footer's.
inline std::string KeyOf(const std::string& column, size_t bytes = 16) {
  std::string key = "key of " + (column.empty() ? "the footer" : column);
  key.resize(bytes, '#');
  return key;
}

inline std::string KeyMetadataOf(const std::string& column) { return "id of " + column; }

/// 3000 rows of every kind of column that matters: required, nullable, with repeated values, nested, floating.
inline std::shared_ptr<arrow::Table> TableToEncrypt(int64_t rows = 3000) {
  std::string json = "[";
  for (int64_t i = 0; i < rows; ++i) {
    const std::string number = std::to_string(i);
    json += (i == 0 ? "" : ",") + std::string("{\"id\":") + std::to_string(i * 7919) +
            ",\"name\":" + (i % 11 == 3 ? "null" : "\"name " + std::to_string(i % 23) + "\"") +
            ",\"x\":" + (i % 5 == 1 ? "null" : number + ".25") + ",\"tags\":" +
            (i % 7 == 0   ? "null"
             : i % 7 == 1 ? "[]"
                          : "[" + number + ",null," + std::to_string(i % 3) + "]") +
            ",\"plain\":" + std::to_string(i % 100) + "}";
  }
  const auto type = arrow::struct_({arrow::field("id", arrow::int64(), false), arrow::field("name", arrow::utf8()),
                                    arrow::field("x", arrow::float64()),
                                    arrow::field("tags", arrow::list(arrow::field("element", arrow::int32()))),
                                    arrow::field("plain", arrow::int32())});
  auto array = arrow::json::ArrayFromJSONString(type, json + "]").ValueOrDie();
  auto batch = arrow::RecordBatch::FromStructArray(array).ValueOrDie();
  return arrow::Table::FromRecordBatches(arrow::schema(type->fields()), {batch}).ValueOrDie();
}

inline arrow::util::SecureString Secure(std::string key) { return arrow::util::SecureString(std::move(key)); }

inline std::shared_ptr<::parquet::FileEncryptionProperties> EncryptionProperties(const Encryption& encryption) {
  const size_t size = encryption.key_bytes;
  ::parquet::FileEncryptionProperties::Builder builder(Secure(KeyOf("", size)));
  builder.footer_key_metadata(KeyMetadataOf(""));
  if (encryption.plaintext_footer) builder.set_plaintext_footer();
  if (encryption.ctr) builder.algorithm(::parquet::ParquetCipher::AES_GCM_CTR_V1);
  if (!encryption.aad_prefix.empty()) builder.aad_prefix(encryption.aad_prefix);
  if (!encryption.store_prefix) builder.disable_aad_prefix_storage();
  if (encryption.column_keys) {
    std::map<std::string, std::shared_ptr<::parquet::ColumnEncryptionProperties>> columns;
    for (const std::string& column : ColumnsWithKeys()) {
      columns[column] =
          ::parquet::ColumnEncryptionProperties::WithColumnKey(Secure(KeyOf(column, size)), KeyMetadataOf(column));
    }
    columns["x"] = ::parquet::ColumnEncryptionProperties::WithFooterKey();
    builder.encrypted_columns(columns);
  }
  return builder.build();
}

/// Row groups of 1000 rows, pages of 100, page indexes, whatever else `properties` say.
inline std::shared_ptr<arrow::Buffer> WriteEncrypted(const arrow::Table& table, const Encryption& encryption,
                                                     ::parquet::WriterProperties::Builder* properties = nullptr) {
  ::parquet::WriterProperties::Builder defaults;
  if (properties == nullptr) properties = &defaults;
  properties->encryption(EncryptionProperties(encryption));
  properties->max_rows_per_page(100)->write_batch_size(50)->enable_write_page_index();
  if (encryption.checksums) properties->enable_page_checksum();
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const arrow::Status status =
      ::parquet::arrow::WriteTable(table, arrow::default_memory_pool(), sink, 1000, properties->build());
  EXPECT_TRUE(status.ok()) << status;
  return sink->Finish().ValueOrDie();
}

/// All keys of a file written by WriteEncrypted, for calve.
inline ParquetDecryption KeysFor(const Encryption& encryption) {
  ParquetDecryption keys;
  keys.footer_key = KeyOf("", encryption.key_bytes);
  if (encryption.column_keys) {
    for (const std::string& column : ColumnsWithKeys()) keys.column_keys[column] = KeyOf(column, encryption.key_bytes);
  }
  if (!encryption.store_prefix) keys.aad_prefix = encryption.aad_prefix;
  return keys;
}

inline ParquetReadOptions Decrypting(ParquetDecryption keys) {
  ParquetReadOptions options;
  options.verify_crc = true;
  options.decryption = std::make_shared<const ParquetDecryption>(std::move(keys));
  return options;
}

/// Finds keys by their metadata alone, which is all that libparquet tells of them.
class KeyFinder : public ::parquet::DecryptionKeyRetriever {
 public:
  explicit KeyFinder(const ParquetDecryption& keys) : keys_(keys) {}
  arrow::util::SecureString GetKey(const std::string& key_metadata) override {
    return Secure(keys_.find_key({"", key_metadata}).ValueOrDie().value());
  }

 private:
  ParquetDecryption keys_;
};

/// The same for libparquet.
inline std::shared_ptr<::parquet::FileDecryptionProperties> DecryptionProperties(const ParquetDecryption& keys) {
  ::parquet::FileDecryptionProperties::Builder builder;
  if (!keys.footer_key.empty()) builder.footer_key(Secure(keys.footer_key));
  if (keys.find_key) builder.key_retriever(std::make_shared<KeyFinder>(keys));
  ::parquet::ColumnPathToDecryptionPropertiesMap columns;
  for (const auto& [column, key] : keys.column_keys) {
    columns[column] = ::parquet::ColumnDecryptionProperties::Builder(column).key(Secure(key))->build();
  }
  builder.column_keys(columns);
  if (!keys.aad_prefix.empty()) builder.aad_prefix(keys.aad_prefix);
  return builder.build();
}

inline TableResult ReadWithLibparquet(std::shared_ptr<arrow::io::RandomAccessFile> source,
                                      const ParquetDecryption& keys) {
  ::parquet::ReaderProperties reader_properties = ::parquet::default_reader_properties();
  reader_properties.file_decryption_properties(DecryptionProperties(keys));
  ::parquet::ArrowReaderProperties properties;
  properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);
  ::parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(source), reader_properties));
  ARROW_ASSIGN_OR_RAISE(auto reader, builder.properties(properties)->Build());
  return reader->ReadTable();
}

}  // namespace calve::testing
