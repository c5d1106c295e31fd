#include "encrypted_parquet.h"
#include "parquet_testing_keys.h"
#include "test_data.h"

#include "calve/expression.h"
#include "calve/hash/hash.h"
#include "calve/parquet/bloom_filter.h"
#include "calve/parquet/encryption_metadata.h"
#include "calve/parquet/footer.h"
#include "calve/parquet/page_index.h"
#include "calve/parquet_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/page_index.h>

// Page indexes and bloom filters of encrypted chunks.

namespace calve::parquet {
namespace {

using testing::Encryption;

using File = std::shared_ptr<arrow::io::RandomAccessFile>;

Result<std::shared_ptr<const Footer>> ReadFooter(const File& file, const ParquetDecryption& keys) {
  return Footer::Read(file.get(), std::make_shared<const ParquetDecryption>(keys));
}

/// Every index of the file, against libparquet's parser; returns the pages.
int64_t ExpectSameIndexes(const File& file, const ParquetDecryption& keys) {
  const auto footer = ReadFooter(file, keys).ValueOrDie();
  ::parquet::ReaderProperties properties = ::parquet::default_reader_properties();
  properties.file_decryption_properties(testing::DecryptionProperties(keys));
  const auto reader = ::parquet::ParquetFileReader::Open(file, properties);
  const auto indexes = reader->GetPageIndexReader();
  int64_t pages = 0;
  for (int g = 0; g < footer->num_row_groups(); ++g) {
    const auto group = indexes->RowGroup(g);
    for (int c = 0; c < footer->num_columns(); ++c) {
      const auto offsets = group == nullptr ? nullptr : group->GetOffsetIndex(c);
      const ColumnChunk chunk = footer->Chunk(g, c).ValueOrDie();
      const auto plan = PlanChunk(*footer, footer->schema().leaves[static_cast<size_t>(c)], c, g).ValueOrDie();
      const auto index =
          ReadPageIndex(file.get(), chunk, plan, footer->row_group(g).num_rows, footer->begin(), true).ValueOrDie();
      EXPECT_EQ(index.has_value(), offsets != nullptr) << "column " << c;
      if (!index) continue;
      EXPECT_EQ(index->offsets.page_locations.size(), offsets->page_locations().size());
      for (size_t i = 0; i < index->offsets.page_locations.size(); ++i) {
        EXPECT_EQ(index->offsets.page_locations[i].offset, offsets->page_locations()[i].offset);
        EXPECT_EQ(index->offsets.page_locations[i].first_row_index, offsets->page_locations()[i].first_row_index);
      }
      const auto columns = group->GetColumnIndex(c);
      EXPECT_EQ(index->columns.has_value(), columns != nullptr);
      if (columns != nullptr) EXPECT_EQ(index->columns->min_values, columns->encoded_min_values());
      pages += static_cast<int64_t>(index->offsets.page_locations.size());
    }
  }
  return pages;
}

TEST(ParquetEncryptionIndex, PageIndexesAsLibparquetReadsThem) {
  for (const bool ctr : {false, true}) {
    for (const bool plaintext_footer : {false, true}) {
      Encryption encryption;
      encryption.ctr = ctr;
      encryption.plaintext_footer = plaintext_footer;
      encryption.column_keys = true;
      const auto bytes = testing::WriteEncrypted(*testing::TableToEncrypt(), encryption);
      EXPECT_GE(ExpectSameIndexes(std::make_shared<arrow::io::BufferReader>(bytes), testing::KeysFor(encryption)), 150);
    }
  }
}

TEST(ParquetEncryptionIndex, PageIndexesOfParquetTesting) {
  CALVE_SHARED_DATA(data);
  int64_t pages = 0;
  for (const char* name : {"aes256/encrypt_columns_and_footer", "aes256/encrypt_columns_plaintext_footer",
                           "encrypt_columns_and_footer_ctr", "uniform_encryption"}) {
    const std::string path = data + "/parquet-testing/data/" + name + ".parquet.encrypted";
    pages += ExpectSameIndexes(arrow::io::ReadableFile::Open(path).ValueOrDie(), testing::ParquetTestingKeys(path));
  }
  EXPECT_GT(pages, 0);
}

/// An index that is not its chunk's is not used.
TEST(ParquetEncryptionIndex, PageIndexesOfAnotherChunk) {
  const auto bytes = testing::WriteEncrypted(*testing::TableToEncrypt(), {});
  const File file = std::make_shared<arrow::io::BufferReader>(bytes);
  const auto footer = ReadFooter(file, testing::KeysFor({})).ValueOrDie();
  const auto plan = PlanChunk(*footer, footer->schema().leaves[0], 0, 0).ValueOrDie();
  const auto read = [&](const ColumnChunk& chunk) {
    return ReadPageIndex(file.get(), chunk, plan, 1000, footer->begin(), true).ValueOrDie();
  };
  EXPECT_TRUE(read(footer->Chunk(0, 0).ValueOrDie()).has_value());
  EXPECT_FALSE(read(footer->Chunk(1, 0).ValueOrDie()).has_value());
  EXPECT_FALSE(read(footer->Chunk(0, 1).ValueOrDie()).has_value());
}

template <typename T>
bool MightHold(BloomFilter* filter, T value) {
  uint8_t plain[sizeof(T)];
  std::memcpy(plain, &value, sizeof(T));
  const uint64_t hash = Xxh64(plain, 0);
  return filter->MightHoldAny({&hash, 1}).ValueOrDie();
}

TEST(ParquetEncryptionIndex, BloomFilters) {
  CALVE_SHARED_DATA(data);
  const std::string path = data + "/parquet-testing/data/encrypt_columns_and_footer_bloom_filter.parquet.encrypted";
  const File file = arrow::io::ReadableFile::Open(path).ValueOrDie();
  const ParquetDecryption keys = testing::ParquetTestingKeys(path);
  const auto footer = ReadFooter(file, keys).ValueOrDie();
  const auto table = testing::ReadWithLibparquet(file, keys).ValueOrDie();
  const auto& values = static_cast<const arrow::DoubleArray&>(*table->GetColumnByName("double_field")->chunk(0));
  const int leaf = footer->LeavesOf("double_field").ValueOrDie()[0];
  const ColumnChunk chunk = footer->Chunk(0, leaf).ValueOrDie();
  ASSERT_NE(chunk.crypto, nullptr);
  const auto open = [&](ChunkDecryptor* decryptor) {
    return BloomFilter::Open(file.get(), *chunk.metadata, footer->begin(), decryptor).ValueOrDie();
  };
  auto filter = open(chunk.crypto->decryptor.get());
  ASSERT_TRUE(filter.has_value());
  int held = 0;
  for (int64_t i = 0; i < std::min<int64_t>(values.length(), footer->row_group(0).num_rows); ++i) {
    EXPECT_TRUE(MightHold(&*filter, values.Value(i))) << values.Value(i);
  }
  for (int i = 0; i < 1000; ++i) held += MightHold(&*filter, i + 0.123456) ? 1 : 0;
  EXPECT_LT(held, 200);
  // Without the key, or with that of another chunk, nothing is excluded.
  EXPECT_FALSE(open(nullptr).has_value());
  const int other = footer->LeavesOf("float_field").ValueOrDie()[0];
  EXPECT_FALSE(open(footer->Chunk(0, other).ValueOrDie().crypto->decryptor.get()).has_value());
}

/// What a filter leaves of a file of TableToEncrypt.
Result<std::shared_ptr<arrow::Table>> ReadWhere(const File& file, const ParquetDecryption& keys,
                                                const std::string& filter, ParquetReadMetrics* metrics) {
  ARROW_ASSIGN_OR_RAISE(const auto reader, ParquetReader::Open(file, "x.parquet", testing::Decrypting(keys)));
  ParquetReadRequest request;
  request.leaves = {0, 1, 2, 3, 4};
  ARROW_ASSIGN_OR_RAISE(request.filter, Expression::Parse(filter));
  ARROW_ASSIGN_OR_RAISE(const auto batches, reader->Read(request));
  std::vector<std::shared_ptr<arrow::RecordBatch>> all;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto batch, batches->Next());
    if (batch == nullptr) break;
    all.push_back(std::move(batch));
  }
  *metrics = batches->metrics();
  return arrow::Table::FromRecordBatches(batches->schema(), all);
}

TEST(ParquetEncryptionIndex, FilteredReadsPassOverPages) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto table = testing::TableToEncrypt();
  for (const bool ctr : {false, true}) {
    for (const bool plaintext_footer : {false, true}) {
      for (const auto version : {::parquet::ParquetDataPageVersion::V1, ::parquet::ParquetDataPageVersion::V2}) {
        Encryption encryption;
        encryption.ctr = ctr;
        encryption.plaintext_footer = plaintext_footer;
        encryption.column_keys = true;
        ::parquet::WriterProperties::Builder properties;
        properties.data_page_version(version);
        const File file =
            std::make_shared<arrow::io::BufferReader>(testing::WriteEncrypted(*table, encryption, &properties));
        ParquetReadMetrics metrics;
        // Row 1550, in the sixth of the second row group's ten pages; rows from 2990 on.
        testing::ExpectSameTable(ReadWhere(file, testing::KeysFor(encryption), "id = 12274450", &metrics),
                                 table->Slice(1550, 1));
        EXPECT_EQ(metrics.selection.row_groups_skipped_by_statistics, 2);
        EXPECT_EQ(metrics.selection.pages_skipped_by_page_index, 5 * 9);
        testing::ExpectSameTable(ReadWhere(file, testing::KeysFor(encryption), "id >= 23677810", &metrics),
                                 table->Slice(2990));
        EXPECT_EQ(metrics.selection.pages_skipped_by_page_index, 5 * 9);
      }
    }
  }
}

TEST(ParquetEncryptionIndex, FiltersOfColumnsWithoutTheirKey) {
  for (const bool plaintext_footer : {false, true}) {
    Encryption encryption;
    encryption.plaintext_footer = plaintext_footer;
    encryption.column_keys = true;
    const File file =
        std::make_shared<arrow::io::BufferReader>(testing::WriteEncrypted(*testing::TableToEncrypt(), encryption));
    ParquetDecryption keys = testing::KeysFor(encryption);
    keys.column_keys.erase("id");
    ParquetReadMetrics metrics;
    const Status status = ReadWhere(file, keys, "id = 12274450", &metrics).status();
    EXPECT_THAT(status.message(), ::testing::HasSubstr("column 'id': row group 0: encrypted column: no key"));
  }
}

}  // namespace
}  // namespace calve::parquet
