// What the options of a file and of its columns come to, as libparquet sees it.

#include "calve/parquet/column_options.h"

#include "random_array.h"
#include "written_parquet.h"

#include <arrow/builder.h>
#include <gmock/gmock.h>
#include <parquet/bloom_filter.h>
#include <parquet/bloom_filter_reader.h>
#include <parquet/page_index.h>
#include <parquet/size_statistics.h>

#include <random>

namespace calve {
namespace {

using arrow::field;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::ExpectRoundTrip;
using testing::FromJson;
using ::testing::Not;
using testing::OneColumn;
using testing::RandomArrays;
using testing::WrittenParquet;
using TheirEncoding = ::parquet::Encoding;

std::vector<TheirEncoding::type> EncodingsOf(const WrittenParquet& file, int column = 0) {
  const auto group = file.metadata()->RowGroup(0);
  return group->ColumnChunk(column)->encodings();
}

std::shared_ptr<arrow::Array> Numbers(int64_t count, int64_t distinct) {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < count; ++i) EXPECT_TRUE(builder.Append(i % distinct * 7919).ok());
  return *builder.Finish();
}

WrittenParquet WriteColumn(const std::shared_ptr<arrow::Array>& array, const ParquetWriteOptions& options) {
  return ExpectRoundTrip(arrow::schema({field("c", array->type())}), {OneColumn(array)}, options);
}

/// Every encoding of every type that can have it, in both versions of pages, with nulls, over several pages.
TEST(ParquetColumnOptions, EveryEncodingReadByLibparquet) {
  const std::pair<ParquetEncoding, TheirEncoding::type> encodings[] = {
      {ParquetEncoding::kRle, TheirEncoding::RLE},
      {ParquetEncoding::kDeltaBinaryPacked, TheirEncoding::DELTA_BINARY_PACKED},
      {ParquetEncoding::kDeltaLengthByteArray, TheirEncoding::DELTA_LENGTH_BYTE_ARRAY},
      {ParquetEncoding::kDeltaByteArray, TheirEncoding::DELTA_BYTE_ARRAY},
      {ParquetEncoding::kByteStreamSplit, TheirEncoding::BYTE_STREAM_SPLIT}};
  RandomArrays arrays(11, {});
  int written = 0;
  for (const auto& type : {arrow::boolean(), arrow::int8(), arrow::int32(), arrow::uint64(),
                           arrow::timestamp(arrow::TimeUnit::MICRO), arrow::float32(), arrow::float64(),
                           arrow::float16(), arrow::utf8(), arrow::binary(), arrow::fixed_size_binary(5),
                           arrow::decimal128(30, 4), arrow::list(arrow::int32()), arrow::list(arrow::utf8())}) {
    const auto column = field("c", type);
    const auto array = arrays.Make(*column, 1000);
    const std::string path = type->id() == arrow::Type::LIST ? "c.list.element" : "c";
    for (const auto& [encoding, theirs] : encodings) {
      for (const bool v2 : {false, true}) {
        ParquetWriteOptions options;
        options.columns[path].encoding = encoding;
        options.data_page_v2 = v2;
        options.page_rows = 300;
        const auto schema = arrow::schema({column});
        if (WrittenParquet::Make(schema, {}, options).status().IsInvalid()) continue;  // not for this type
        const auto file = ExpectRoundTrip(schema, {OneColumn(array)}, options);
        EXPECT_THAT(EncodingsOf(file), Contains(theirs)) << type->ToString();
        EXPECT_THAT(EncodingsOf(file), Not(Contains(TheirEncoding::RLE_DICTIONARY)));
        ++written;
      }
    }
  }
  EXPECT_EQ(written, 2 * 25);
}

TEST(ParquetColumnOptions, WhatIsSaidForAllHoldsWhereItCan) {
  ParquetWriteOptions options;
  options.dictionary = false;
  options.encoding = ParquetEncoding::kByteStreamSplit;
  EXPECT_THAT(EncodingsOf(WriteColumn(Numbers(100, 100), options)), Contains(TheirEncoding::BYTE_STREAM_SPLIT));
  WriteColumn(FromJson(arrow::utf8(), R"(["a","b"])"), options);
  options.columns["c"].dictionary = true;
  EXPECT_THAT(EncodingsOf(WriteColumn(Numbers(1000, 3), options)), Contains(TheirEncoding::RLE_DICTIONARY));
  options.columns["c"].encoding = ParquetEncoding::kPlain;
  EXPECT_THAT(EncodingsOf(WriteColumn(Numbers(1000, 3), options)), Contains(TheirEncoding::RLE_DICTIONARY));
  options.columns["c"].dictionary.reset();
  EXPECT_THAT(EncodingsOf(WriteColumn(Numbers(1000, 3), options)),
              ElementsAre(TheirEncoding::RLE, TheirEncoding::PLAIN));
}

TEST(ParquetColumnOptions, MistakesAreNamed) {
  const auto schema = arrow::schema({field("c", arrow::int32()), field("b", arrow::boolean())});
  const auto message = [&](const ParquetWriteOptions& options) {
    const auto status = WrittenParquet::Make(schema, {}, options).status();
    EXPECT_TRUE(status.IsInvalid()) << status;
    return status.message();
  };
  ParquetWriteOptions options;
  options.columns["x"];
  EXPECT_EQ(message(options), "options for column 'x', which is not in the schema");
  options = {};
  options.columns["c"].encoding = ParquetEncoding::kDeltaByteArray;
  EXPECT_EQ(message(options), "column 'c': INT32 values cannot be encoded as DELTA_BYTE_ARRAY");
  options = {};
  options.columns["b"].bloom_filter.emplace();
  EXPECT_EQ(message(options), "column 'b': a BOOLEAN column has no bloom filter");
  options = {};
  options.bloom_filter = ParquetBloomFilterOptions{1.5, {}, 1024};
  EXPECT_EQ(message(options), "bloom_filter.fpp must be between 0 and 1, got 1.5");
  options = {};
  options.sorting_columns = {{"nowhere"}};
  EXPECT_EQ(message(options), "sorting column 'nowhere', which is not in the schema");
  options = {};
  options.page_rows = 0;
  EXPECT_EQ(message(options), "page_rows must be positive, got 0");
}

/// In columns with a dictionary, without, and with both.
TEST(ParquetBloomFilters, ReadByLibparquet) {
  for (const int64_t distinct : {5, 3000, 20000}) {
    for (const bool dictionary : {false, true}) {
      ParquetWriteOptions options;
      options.bloom_filter = ParquetBloomFilterOptions{0.01, {}, 1 << 20};
      options.dictionary = dictionary;
      options.dictionary_bytes = 40000;
      options.row_group_rows = 15000;
      options.page_rows = 1000;
      const auto array = Numbers(20000, distinct);
      const auto file = WriteColumn(array, options);
      const auto reader = file.Open();
      const auto& numbers = static_cast<const arrow::Int64Array&>(*array);
      for (int group = 0; group < 2; ++group) {
        const auto filter = reader->GetBloomFilterReader().RowGroup(group)->GetColumnBloomFilter(0);
        ASSERT_NE(filter, nullptr);
        const int64_t begin = group * 15000, end = group == 0 ? 15000 : 20000;
        for (int64_t i = begin; i < end; ++i) ASSERT_TRUE(filter->FindHash(filter->Hash(numbers.Value(i)))) << i;
        int64_t passed = 0;
        for (int64_t i = 0; i < 10000; ++i) passed += filter->FindHash(filter->Hash(-1 - i)) ? 1 : 0;
        EXPECT_LT(passed, 200);
        // Folded: not much more than a byte and a quarter for each distinct value, to the next power of two.
        EXPECT_LE(filter->GetBitsetSize(), std::max<int64_t>(32, distinct * 4));
      }
    }
  }
}

TEST(ParquetBloomFilters, OfStringsFloatsAndNothing) {
  ParquetWriteOptions options;
  options.bloom_filter.emplace();
  const auto strings = WriteColumn(FromJson(arrow::utf8(), R"(["a",null,"longer text"])"), options);
  const auto reader = strings.Open();
  const auto filter = reader->GetBloomFilterReader().RowGroup(0)->GetColumnBloomFilter(0);
  for (const std::string_view text : {"a", "longer text"}) {
    const ::parquet::ByteArray bytes(text);
    EXPECT_TRUE(filter->FindHash(filter->Hash(&bytes)));
  }
  const ::parquet::ByteArray other("b");
  EXPECT_FALSE(filter->FindHash(filter->Hash(&other)));
  const auto nulls = WriteColumn(FromJson(arrow::utf8(), "[null,null]"), options);
  EXPECT_FALSE(nulls.metadata()->RowGroup(0)->ColumnChunk(0)->bloom_filter_offset().has_value());
  const auto booleans = WriteColumn(FromJson(arrow::boolean(), "[true,false]"), options);
  EXPECT_FALSE(booleans.metadata()->RowGroup(0)->ColumnChunk(0)->bloom_filter_offset().has_value());
}

TEST(ParquetWriteOptions, SizeStatisticsReadByLibparquet) {
  const auto lists = FromJson(arrow::list(arrow::utf8()), R"([["a","bcd",null],[],null,["ef"]])");
  const auto file = WriteColumn(lists, {});
  const auto group = file.metadata()->RowGroup(0);
  const auto sizes = group->ColumnChunk(0)->size_statistics();
  ASSERT_NE(sizes, nullptr);
  EXPECT_THAT(sizes->definition_level_histogram, ElementsAre(1, 1, 1, 3));
  EXPECT_THAT(sizes->repetition_level_histogram, ElementsAre(4, 2));
  EXPECT_EQ(sizes->unencoded_byte_array_data_bytes, 6);
  const auto reader = file.Open();
  const auto indexes = reader->GetPageIndexReader()->RowGroup(0);
  EXPECT_THAT(indexes->GetColumnIndex(0)->definition_level_histograms(), ElementsAre(1, 1, 1, 3));
  EXPECT_THAT(indexes->GetColumnIndex(0)->repetition_level_histograms(), ElementsAre(4, 2));
  EXPECT_THAT(indexes->GetOffsetIndex(0)->unencoded_byte_array_data_bytes(), ElementsAre(6));
  ParquetWriteOptions without;
  without.size_statistics = false;
  const auto plain = WriteColumn(lists, without);
  EXPECT_EQ(plain.metadata()->RowGroup(0)->ColumnChunk(0)->size_statistics(), nullptr);
}

TEST(ParquetWriteOptions, ArrowTypesAreRestored) {
  const auto schema = arrow::schema(
      {field("l", arrow::large_utf8()), field("z", arrow::timestamp(arrow::TimeUnit::MICRO, "Europe/Berlin"))});
  for (const bool store : {false, true}) {
    ParquetWriteOptions options;
    options.store_arrow_schema = store;
    const auto file = WrittenParquet::Make(schema, {}, options).ValueOrDie();
    const auto read = file.Read().ValueOrDie()->schema();
    EXPECT_EQ(read->field(0)->type()->Equals(*arrow::large_utf8()), store);
    EXPECT_EQ(read->field(1)->type()->Equals(*schema->field(1)->type()), store);
  }
}

TEST(ParquetWriteOptions, IndexesChecksumsAndSortingColumns) {
  ParquetWriteOptions options;
  options.page_index = false;
  options.page_checksums = false;
  options.sorting_columns = {{"c", true, true}};
  const auto file = WriteColumn(Numbers(100, 100), options);
  const auto group = file.metadata()->RowGroup(0);
  EXPECT_FALSE(group->ColumnChunk(0)->GetColumnIndexLocation().has_value());
  EXPECT_FALSE(group->ColumnChunk(0)->GetOffsetIndexLocation().has_value());
  const auto sorting = group->sorting_columns();
  ASSERT_EQ(sorting.size(), 1u);
  EXPECT_EQ(sorting[0].column_idx, 0);
  EXPECT_TRUE(sorting[0].descending);
  EXPECT_TRUE(sorting[0].nulls_first);
}

/// What does not compress stays as it is: a v2 page by itself, and by option the whole chunk.
TEST(ParquetWriteOptions, WhatDoesNotCompressIsStored) {
  std::mt19937_64 random(5);
  arrow::Int64Builder builder;
  for (int i = 0; i < 20000; ++i) ASSERT_TRUE(builder.Append(static_cast<int64_t>(random())).ok());
  const auto noise = *builder.Finish();
  for (const bool v2 : {false, true}) {
    ParquetWriteOptions options;
    options.data_page_v2 = v2;
    options.skip_poor_compression = true;
    const auto file = WriteColumn(noise, options);
    const auto group = file.metadata()->RowGroup(0);
    EXPECT_EQ(group->ColumnChunk(0)->compression(), ::parquet::Compression::UNCOMPRESSED);
    EXPECT_EQ(group->ColumnChunk(0)->total_compressed_size(), group->ColumnChunk(0)->total_uncompressed_size());
    const auto even = WriteColumn(Numbers(20000, 20000), options);
    EXPECT_EQ(even.metadata()->RowGroup(0)->ColumnChunk(0)->compression(), ::parquet::Compression::ZSTD);
  }
  ParquetWriteOptions v2;
  v2.data_page_v2 = true;
  const auto file = WriteColumn(noise, v2);
  const auto group = file.metadata()->RowGroup(0);
  EXPECT_EQ(group->ColumnChunk(0)->total_compressed_size(), group->ColumnChunk(0)->total_uncompressed_size());
}

}  // namespace
}  // namespace calve
