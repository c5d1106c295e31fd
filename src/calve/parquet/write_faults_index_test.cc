// Faults that other writers shipped in statistics, page indexes and encodings; libparquet reads what calve writes.

#include "calve/parquet/statistics.h"
#include "calve/parquet_writer.h"

#include "written_parquet.h"

#include <arrow/builder.h>
#include <gmock/gmock.h>
#include <parquet/page_index.h>
#include <parquet/size_statistics.h>

#include <cmath>
#include <limits>

namespace calve {
namespace {

using arrow::field;
using testing::Batches;
using ::testing::ElementsAre;
using testing::ExpectRoundTrip;
using testing::FromJson;
using testing::OneColumn;
using testing::WrittenParquet;

/// The page indexes of a chunk, as libparquet reads them.
struct Indexes {
  explicit Indexes(const WrittenParquet& file, int row_group = 0, int column = 0) : reader(file.Open()) {
    auto group = reader->GetPageIndexReader()->RowGroup(row_group);
    if (group == nullptr) return;
    columns = group->GetColumnIndex(column);
    offsets = group->GetOffsetIndex(column);
  }
  std::unique_ptr<::parquet::ParquetFileReader> reader;
  std::shared_ptr<::parquet::ColumnIndex> columns;
  std::shared_ptr<::parquet::OffsetIndex> offsets;
};

WrittenParquet WriteColumn(const std::shared_ptr<arrow::Array>& array, ParquetWriteOptions options = {}) {
  return ExpectRoundTrip(arrow::schema({field("c", array->type())}), {OneColumn(array)}, options);
}

ParquetWriteOptions PagesOf(int64_t rows) {
  ParquetWriteOptions options;
  options.page_rows = rows;
  return options;
}

std::string Int32(int32_t value) { return std::string(reinterpret_cast<const char*>(&value), sizeof(value)); }

template <typename T>
std::string PlainOf(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
T ValueOf(const std::string& plain) {
  T value{};
  EXPECT_EQ(plain.size(), sizeof(T));
  std::memcpy(&value, plain.data(), std::min(sizeof(T), plain.size()));
  return value;
}

// Fault 1.
TEST(WriteFaults, PageOfListsIsNullWithoutLeafValuesOnly) {
  const auto type = arrow::list(arrow::int32());
  Indexes some(WriteColumn(FromJson(type, "[[1,null],[2,null]]")));
  ASSERT_NE(some.columns, nullptr);
  EXPECT_THAT(some.columns->null_pages(), ElementsAre(false));
  EXPECT_THAT(some.columns->null_counts(), ElementsAre(2));
  EXPECT_EQ(some.columns->encoded_min_values()[0], Int32(1));
  Indexes none(WriteColumn(FromJson(type, "[[],[]]")));
  ASSERT_NE(none.columns, nullptr);
  EXPECT_THAT(none.columns->null_pages(), ElementsAre(true));
  EXPECT_THAT(none.columns->null_counts(), ElementsAre(2));
  EXPECT_EQ(none.columns->encoded_min_values()[0], "");
  EXPECT_EQ(none.columns->encoded_max_values()[0], "");
}

// Fault 4.
TEST(WriteFaults, NullPagesKeepTheBoundsOfTheChunk) {
  arrow::Int32Builder builder;
  ASSERT_TRUE(builder.AppendNulls(60).ok());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(builder.Append(100 + i).ok());
  ASSERT_TRUE(builder.AppendNulls(10).ok());
  const auto file = WriteColumn(*builder.Finish(), PagesOf(10));
  const auto statistics = file.statistics();
  ASSERT_TRUE(statistics->HasMinMax());
  EXPECT_EQ(statistics->EncodeMin(), Int32(100));
  EXPECT_EQ(statistics->EncodeMax(), Int32(109));
  EXPECT_EQ(statistics->null_count(), 70);
  const Indexes indexes(file);
  EXPECT_THAT(indexes.columns->null_pages(), ElementsAre(true, true, true, true, true, true, false, true));
  EXPECT_THAT(indexes.columns->null_counts(), ElementsAre(10, 10, 10, 10, 10, 10, 0, 10));
  EXPECT_THAT(indexes.columns->non_null_page_indices(), ElementsAre(6));
}

// Fault 5.
TEST(WriteFaults, AllNullColumnKeepsItsOffsetIndex) {
  for (const bool v2 : {false, true}) {
    for (const auto& type : {arrow::int32(), arrow::utf8(), arrow::list(arrow::int32()), arrow::null()}) {
      const auto nulls = arrow::MakeArrayOfNull(type, 95).ValueOrDie();
      ParquetWriteOptions options = PagesOf(10);
      options.data_page_v2 = v2;
      const auto file = WriteColumn(nulls, options);
      const Indexes indexes(file);
      ASSERT_NE(indexes.offsets, nullptr) << type->ToString();
      const auto& pages = indexes.offsets->page_locations();
      ASSERT_EQ(pages.size(), 10u);
      for (size_t i = 0; i < pages.size(); ++i) EXPECT_EQ(pages[i].first_row_index, static_cast<int64_t>(i) * 10);
      if (type->id() == arrow::Type::NA) continue;  // its values have no order
      ASSERT_NE(indexes.columns, nullptr) << type->ToString();
      EXPECT_THAT(indexes.columns->null_pages(), ::testing::Each(true));
    }
  }
}

// Fault 5: pages of lists begin with rows in both versions, and the index leads to each page.
TEST(WriteFaults, OffsetIndexOfLists) {
  std::string json = "[";
  for (int i = 0; i < 300; ++i) {
    json += (i > 0 ? "," : "") + std::string("[") + std::to_string(i) + (i % 3 == 0 ? ",1,2,3" : "") + "]";
  }
  const auto lists = FromJson(arrow::list(arrow::int32()), json + "]");
  for (const bool v2 : {false, true}) {
    ParquetWriteOptions options;
    options.page_bytes = 200;
    options.dictionary = false;
    options.data_page_v2 = v2;
    options.compression = ParquetCompression::kUncompressed;
    const auto file = WriteColumn(lists, options);
    const Indexes indexes(file);
    const auto& pages = indexes.offsets->page_locations();
    ASSERT_GT(pages.size(), 5u);
    EXPECT_EQ(pages.front().offset, file.metadata()->RowGroup(0)->ColumnChunk(0)->data_page_offset());
    for (size_t i = 1; i < pages.size(); ++i) {
      EXPECT_GT(pages[i].first_row_index, pages[i - 1].first_row_index);
      EXPECT_EQ(pages[i].offset, pages[i - 1].offset + pages[i - 1].compressed_page_size);
    }
    EXPECT_EQ(indexes.columns->null_pages().size(), pages.size());
  }
}

// Fault 6, on columns of many densities: a page is null exactly when all its slots are, and its counts add up.
TEST(WriteFaults, NullPagesAgreeWithNullCounts) {
  for (const int every : {1, 2, 7, 40, 1000}) {
    arrow::Int64Builder builder;
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE((i / 30 % 3 == 0 || i % every != 0 ? builder.AppendNull() : builder.Append(i)).ok());
    }
    const auto array = *builder.Finish();
    const auto file = WriteColumn(array, PagesOf(10));
    const Indexes indexes(file);
    const auto& columns = *indexes.columns;
    int64_t nulls = 0;
    for (size_t page = 0; page < columns.null_pages().size(); ++page) {
      EXPECT_EQ(columns.null_pages()[page], columns.null_counts()[page] == 10) << page;
      EXPECT_EQ(columns.null_pages()[page], columns.encoded_min_values()[page].empty()) << page;
      nulls += columns.null_counts()[page];
    }
    EXPECT_EQ(nulls, array->null_count());
    EXPECT_EQ(columns.boundary_order(), ::parquet::BoundaryOrder::Ascending);
    ASSERT_TRUE(columns.has_definition_level_histograms());
    int64_t slots = 0;
    for (const int64_t count : columns.definition_level_histograms()) slots += count;
    EXPECT_EQ(slots, 1000);
  }
}

// Fault 7.
TEST(WriteFaults, StatisticsOfEveryDictionary) {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto first = arrow::DictionaryArray::FromArrays(type, FromJson(arrow::int8(), "[0,1,0,null]"),
                                                        FromJson(arrow::utf8(), R"(["m","n","unused"])"))
                         .ValueOrDie();
  const auto second = arrow::DictionaryArray::FromArrays(type, FromJson(arrow::int8(), "[1,0]"),
                                                         FromJson(arrow::utf8(), R"(["z","a"])"))
                          .ValueOrDie();
  const auto file = ExpectRoundTrip(arrow::schema({field("c", type)}), {OneColumn(first), OneColumn(second)});
  const auto statistics = file.statistics();
  EXPECT_EQ(statistics->EncodeMin(), "a");
  EXPECT_EQ(statistics->EncodeMax(), "z");
  EXPECT_EQ(statistics->null_count(), 1);
}

// Fault 9.
TEST(WriteFaults, DecimalsCompareSigned) {
  for (const auto& type : {arrow::smallest_decimal(9, 2), arrow::smallest_decimal(18, 2),
                           arrow::smallest_decimal(38, 2), arrow::smallest_decimal(76, 2)}) {
    ParquetWriteOptions options = PagesOf(1);
    options.row_group_rows = 3;
    const auto array = FromJson(type, R"(["-0.01","0.00","0.01","1.00","-1.00","0.00"])");
    const auto file = WriteColumn(array, options);
    ASSERT_EQ(file.metadata()->num_row_groups(), 2);
    const auto single = [&](int row) { return WriteColumn(array->Slice(row, 1)).statistics()->EncodeMin(); };
    EXPECT_EQ(file.statistics(0)->EncodeMin(), single(0)) << type->ToString();
    EXPECT_EQ(file.statistics(0)->EncodeMax(), single(2));
    EXPECT_EQ(file.statistics(1)->EncodeMin(), single(4));
    EXPECT_EQ(file.statistics(1)->EncodeMax(), single(3));
    EXPECT_EQ(Indexes(file, 0).columns->boundary_order(), ::parquet::BoundaryOrder::Ascending) << type->ToString();
    EXPECT_EQ(Indexes(file, 1).columns->boundary_order(), ::parquet::BoundaryOrder::Unordered);
  }
}

TEST(WriteFaults, BoundaryOrders) {
  const auto order = [](const std::shared_ptr<arrow::DataType>& type, const char* json) {
    return Indexes(WriteColumn(FromJson(type, json), PagesOf(1))).columns->boundary_order();
  };
  using Order = ::parquet::BoundaryOrder;
  EXPECT_EQ(order(arrow::int32(), "[-1,0,0,null,2]"), Order::Ascending);
  EXPECT_EQ(order(arrow::int32(), "[null,2,1,null,-7]"), Order::Descending);
  EXPECT_EQ(order(arrow::int32(), "[1,2,1]"), Order::Unordered);
  EXPECT_EQ(order(arrow::uint32(), "[1,2147483647,4294967295]"), Order::Ascending);
  EXPECT_EQ(order(arrow::uint64(), "[1,18446744073709551615]"), Order::Ascending);
  EXPECT_EQ(order(arrow::utf8(), R"(["a","b","é"])"), Order::Ascending);
  EXPECT_EQ(order(arrow::float64(), "[1.5,-0.5,-2]"), Order::Descending);
  EXPECT_EQ(order(arrow::float16(), "[-2,-0.5,1.5]"), Order::Ascending);
  EXPECT_EQ(order(arrow::boolean(), "[false,true]"), Order::Ascending);
}

// Fault 10.
template <typename ArrowType, typename T>
void CheckFloatBounds() {
  const auto type = arrow::TypeTraits<ArrowType>::type_singleton();
  const auto make = [](std::vector<T> values) {
    typename arrow::TypeTraits<ArrowType>::BuilderType builder;
    EXPECT_TRUE(builder.AppendValues(values).ok());
    return *builder.Finish();
  };
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  for (const T zero : {T{0}, -T{0}}) {
    const auto file = WriteColumn(make({zero}));
    EXPECT_TRUE(std::signbit(ValueOf<T>(file.statistics()->EncodeMin())));
    EXPECT_FALSE(std::signbit(ValueOf<T>(file.statistics()->EncodeMax())));
    const Indexes indexes(file);
    EXPECT_TRUE(std::signbit(ValueOf<T>(indexes.columns->encoded_min_values()[0])));
    EXPECT_FALSE(std::signbit(ValueOf<T>(indexes.columns->encoded_max_values()[0])));
  }
  const auto mixed = WriteColumn(make({nan, 1, nan}));
  EXPECT_EQ(ValueOf<T>(mixed.statistics()->EncodeMin()), 1);
  EXPECT_EQ(ValueOf<T>(mixed.statistics()->EncodeMax()), 1);
  EXPECT_NE(Indexes(mixed).columns, nullptr);
  const auto ends = WriteColumn(make({infinity, -infinity, 0}));
  EXPECT_EQ(ValueOf<T>(ends.statistics()->EncodeMin()), -infinity);
  EXPECT_EQ(ValueOf<T>(ends.statistics()->EncodeMax()), infinity);
  // No bounds, and no column index though the other page has some; the offset index stays.
  EXPECT_FALSE(WriteColumn(make({nan, nan})).statistics()->HasMinMax());
  const auto one_page = WriteColumn(make({1, nan, 2}), PagesOf(1));
  EXPECT_TRUE(one_page.statistics()->HasMinMax());
  const Indexes indexes(one_page);
  EXPECT_EQ(indexes.columns, nullptr);
  ASSERT_NE(indexes.offsets, nullptr);
  EXPECT_EQ(indexes.offsets->page_locations().size(), 3u);
}

TEST(WriteFaults, SignedZeroAndNan) {
  CheckFloatBounds<arrow::FloatType, float>();
  CheckFloatBounds<arrow::DoubleType, double>();
}

// Fault 11.
TEST(WriteFaults, PagesWithoutValuesUnderEveryCodec) {
  for (const auto compression :
       {ParquetCompression::kUncompressed, ParquetCompression::kSnappy, ParquetCompression::kGzip,
        ParquetCompression::kZstd, ParquetCompression::kLz4Raw, ParquetCompression::kBrotli}) {
    for (const bool v2 : {false, true}) {
      for (const auto& type : {arrow::boolean(), arrow::int32(), arrow::float64(), arrow::utf8(),
                               arrow::fixed_size_binary(3), arrow::list(arrow::utf8())}) {
        ParquetWriteOptions options = PagesOf(7);
        options.compression = compression;
        options.data_page_v2 = v2;
        WriteColumn(arrow::MakeArrayOfNull(type, 20).ValueOrDie(), options);
        options.dictionary = false;
        for (const auto encoding :
             {ParquetEncoding::kDeltaBinaryPacked, ParquetEncoding::kDeltaByteArray,
              ParquetEncoding::kDeltaLengthByteArray, ParquetEncoding::kByteStreamSplit, ParquetEncoding::kRle}) {
          options.encoding = encoding;
          WriteColumn(arrow::MakeArrayOfNull(type, 20).ValueOrDie(), options);
        }
      }
    }
  }
}

// Fault 12, through files; the encoder itself is tested with libparquet's decoder.
TEST(WriteFaults, DeltasWiderThanTheirType) {
  for (const int count : {1, 129, 1000}) {
    arrow::Int32Builder builder;
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(builder.Append(i % 2 == 0 ? INT32_MIN : INT32_MAX).ok());
    }
    ParquetWriteOptions options;
    options.columns["c"].encoding = ParquetEncoding::kDeltaBinaryPacked;
    const auto file = WriteColumn(*builder.Finish(), options);
    const auto chunk = file.metadata()->RowGroup(0)->ColumnChunk(0);
    EXPECT_THAT(chunk->encodings(), ::testing::Contains(::parquet::Encoding::DELTA_BINARY_PACKED));
    EXPECT_FALSE(chunk->has_dictionary_page());
  }
}

// Fault 15.
TEST(WriteFaults, LongValuesStayOutOfTheFooter) {
  arrow::BinaryBuilder builder;
  ASSERT_TRUE(builder.Append(std::string(16 << 20, 'x')).ok());
  ASSERT_TRUE(builder.Append(std::string(16 << 20, '\xFF')).ok());
  ParquetWriteOptions options;
  options.store_arrow_schema = false;
  const auto file = WriteColumn(*builder.Finish(), options);
  uint32_t footer_bytes = 0;
  std::memcpy(&footer_bytes, file.bytes->data() + file.bytes->size() - 8, sizeof(footer_bytes));
  EXPECT_LT(footer_bytes, 1024u);
  EXPECT_EQ(file.metadata()->RowGroup(0)->ColumnChunk(0)->encoded_statistics()->is_min_value_exact, false);
  // All bytes 0xFF have no successor: no maximum, and no column index.
  EXPECT_FALSE(file.metadata()->RowGroup(0)->ColumnChunk(0)->encoded_statistics()->has_max);
  const Indexes indexes(file);
  EXPECT_EQ(indexes.columns, nullptr);
  EXPECT_NE(indexes.offsets, nullptr);
}

TEST(WriteFaults, TruncatedTextIsStillText) {
  // 63 bytes and then a code point of two, three or four, and the last code point of each size.
  for (const std::string_view last : {"\u00e9", "\u20ac", "\U0001F600", "\u07ff", "\uffff", "\uD7FF"}) {
    const std::string text = std::string(63, 'x') + std::string(last) + "more";
    arrow::StringBuilder builder;
    ASSERT_TRUE(builder.Append(text).ok());
    const auto file = WriteColumn(*builder.Finish());
    const auto statistics = file.metadata()->RowGroup(0)->ColumnChunk(0)->encoded_statistics();
    EXPECT_EQ(statistics->min(), std::string(63, 'x'));
    EXPECT_EQ(statistics->max(), std::string(62, 'x') + "y");
    EXPECT_EQ(statistics->is_min_value_exact, false);
    EXPECT_EQ(statistics->is_max_value_exact, false);
    const Indexes indexes(file);
    EXPECT_EQ(indexes.columns->encoded_min_values()[0], std::string(63, 'x'));
    EXPECT_EQ(indexes.columns->encoded_max_values()[0], std::string(62, 'x') + "y");
  }
}

/// A page whose upper bound has no shorter form has the full value in the column index.
TEST(WriteFaults, FullValueWhereNoShorterBoundIsOne) {
  const std::string high(100, '\xFF');
  arrow::BinaryBuilder builder;
  ASSERT_TRUE(builder.Append("a").ok());
  ASSERT_TRUE(builder.Append(high).ok());
  const auto file = WriteColumn(*builder.Finish(), PagesOf(1));
  const Indexes indexes(file);
  ASSERT_NE(indexes.columns, nullptr);
  EXPECT_EQ(indexes.columns->encoded_max_values()[1], high);
  EXPECT_FALSE(file.metadata()->RowGroup(0)->ColumnChunk(0)->encoded_statistics()->has_max);
}

// Fault 17: INT96 is not written, but what its readers coerce is: nanoseconds up to what 64 bits hold, and finer ones
// of the year 9999 in microseconds.
TEST(WriteFaults, TimestampsAtTheEndsOfTheirRange) {
  const auto nanos =
      FromJson(arrow::timestamp(arrow::TimeUnit::NANO), "[9223372036854775807,-9223372036854775808,0,null]");
  EXPECT_EQ(WriteColumn(nanos).statistics()->EncodeMax(), PlainOf(std::numeric_limits<int64_t>::max()));
  WriteColumn(FromJson(arrow::timestamp(arrow::TimeUnit::MICRO), "[253402300799999999,-62135596800000000]"));
  const auto seconds = FromJson(arrow::timestamp(arrow::TimeUnit::SECOND), "[253402300799]");
  const auto file = WrittenParquet::Make(arrow::schema({field("c", seconds->type())}), {OneColumn(seconds)});
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->statistics()->EncodeMax(), PlainOf(int64_t{253402300799000}));
}

// Fault 18.
TEST(WriteFaults, EncodingStatsAlwaysThere) {
  std::string json = "[";
  for (int i = 0; i < 500; ++i) json += (i > 0 ? "," : "") + std::to_string(i % 10);
  const auto numbers = FromJson(arrow::int32(), json + "]");
  for (const bool v2 : {false, true}) {
    for (const bool dictionary : {false, true}) {
      for (const auto& array : {numbers, arrow::MakeArrayOfNull(arrow::int32(), 500).ValueOrDie()}) {
        ParquetWriteOptions options = PagesOf(100);
        options.data_page_v2 = v2;
        options.dictionary = dictionary;
        const auto file = WriteColumn(array, options);
        int pages = 0;
        const auto chunk = file.metadata()->RowGroup(0)->ColumnChunk(0);
        for (const auto& stats : chunk->encoding_stats()) {
          if (stats.page_type == ::parquet::PageType::DICTIONARY_PAGE) continue;
          EXPECT_EQ(stats.page_type, v2 ? ::parquet::PageType::DATA_PAGE_V2 : ::parquet::PageType::DATA_PAGE);
          pages += stats.count;
        }
        EXPECT_EQ(pages, 5);
      }
    }
  }
}

}  // namespace
}  // namespace calve
