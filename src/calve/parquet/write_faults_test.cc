// Faults that other writers shipped: levels, pages, dictionaries, slices and sizes. What is written is read by
// libparquet.

#include "calve/base/memory_budget.h"
#include "calve/parquet/column_writer.h"
#include "calve/parquet_writer.h"

#include "random_array.h"
#include "test_data.h"
#include "written_parquet.h"

#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <parquet/column_reader.h>

#include <random>

namespace calve {
namespace {

using arrow::field;
using testing::Batches;
using testing::ExpectRoundTrip;
using testing::FromJson;
using testing::OneColumn;
using testing::RandomArrays;
using testing::WrittenParquet;

/// The descriptions of the pages that `array` is written to.
std::vector<parquet::PageDescription> PagesOf(const std::shared_ptr<arrow::Array>& array,
                                              const ParquetWriteOptions& options = {}) {
  const auto schema = parquet::WrittenSchema::Make(*arrow::schema({field("c", array->type())})).ValueOrDie();
  const parquet::PageWriter pages(options, arrow::default_memory_pool());
  const auto column = parquet::ColumnWriter::Make(&schema.leaves[0], &options, &pages, arrow::default_memory_pool());
  EXPECT_TRUE(column->Write(*array->data(), 0, array->length()).ok());
  return column->FinishChunk().ValueOrDie().data_pages;
}

// Fault 1: a page of lists is a null page when it has no value, and not when it has as many nulls as rows.
TEST(WriteFaults, NullPagesOfLists) {
  const auto type = arrow::list(arrow::int32());
  const auto some = PagesOf(FromJson(type, "[[1, null], [2, null]]"));
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].row_count, 2);
  EXPECT_EQ(some[0].null_count(), 2);
  EXPECT_EQ(some[0].value_count, 2);
  EXPECT_EQ(some[0].min, std::string("\1\0\0\0", 4));
  EXPECT_EQ(some[0].definition_histogram, (parquet::LevelHistogram{0, 0, 2, 2}));
  EXPECT_EQ(some[0].repetition_histogram, (parquet::LevelHistogram{2, 2}));
  const auto none = PagesOf(FromJson(type, "[[], []]"));
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].null_count(), 2);
  EXPECT_EQ(none[0].value_count, 0);
  EXPECT_FALSE(none[0].min.has_value() || none[0].max.has_value());
  EXPECT_EQ(none[0].definition_histogram, (parquet::LevelHistogram{0, 2, 0, 0}));
}

// Faults 4 and 6: what is said of each page is what is in it, null pages among them, whatever its encoding.
TEST(WriteFaults, DescriptionsOfPages) {
  for (int distinct : {40, 0}) {
    RandomArrays arrays(4, {.null_probability = 0.4, .distinct = distinct});
    auto data = arrays.Make(*field("c", arrow::utf8()), 5000)->data();
    const auto nulls = arrow::MakeArrayOfNull(arrow::utf8(), 1000).ValueOrDie();
    const auto array = std::static_pointer_cast<arrow::StringArray>(
        arrow::Concatenate({nulls, arrow::MakeArray(data), nulls}).ValueOrDie());
    const auto pages = PagesOf(array, {.page_rows = 500});
    ASSERT_EQ(pages.size(), 14u);
    int64_t row = 0;
    for (const auto& page : pages) {
      int64_t values = 0, bytes = 0;
      std::optional<std::string> min, max;
      for (int64_t i = row; i < row + page.row_count; ++i) {
        if (array->IsNull(i)) continue;
        const std::string value(array->GetView(i));
        ++values;
        bytes += static_cast<int64_t>(value.size());
        if (!min || value < *min) min = value;
        if (!max || *max < value) max = value;
      }
      EXPECT_EQ(page.row_count, 500);
      EXPECT_EQ(page.value_count, values);
      EXPECT_EQ(page.byte_array_bytes, bytes);
      EXPECT_EQ(page.null_count(), 500 - values);
      EXPECT_TRUE(page.definition_histogram.empty() && page.repetition_histogram.empty());
      EXPECT_EQ(page.min, min) << row;
      EXPECT_EQ(page.max, max) << row;
      row += page.row_count;
    }
  }
}

// Whatever the length of values, what is kept of a page is as small as what the index will have of it.
TEST(WriteFaults, DescriptionsOfLongValuesAreSmall) {
  const std::string low = "low" + std::string(100000, 'x'), high = "low" + std::string(100000, 'y');
  const auto text = FromJson(arrow::utf8(), "[\"" + low + "\", \"" + high + "\"]");
  const auto pages = PagesOf(text);
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_EQ(pages[0].min, "low" + std::string(61, 'x'));
  EXPECT_EQ(pages[0].max, "low" + std::string(60, 'y') + 'z');
  EXPECT_LT(pages[0].min->capacity(), 1000u);
  EXPECT_LT(pages[0].max->capacity(), 1000u);
  // Bytes of which none can be larger have no upper bound that is short.
  arrow::BinaryBuilder largest;
  ASSERT_TRUE(largest.Append(std::string(100000, '\xFF')).ok());
  EXPECT_FALSE(PagesOf(largest.Finish().ValueOrDie()).at(0).max.has_value());
}

// Fault 2: more than 2^31 - 1 bits of dictionary indices in a page.
TEST(WriteFaults, MoreBitsOfIndicesThanAnInt32Counts) {
  if (!testing::LongTests()) GTEST_SKIP() << "writes and reads 150 million rows (set CALVE_LONG_TESTS)";
  constexpr int64_t kDistinct = 200000, kBatchRows = 10000000, kBatches = 15;
  arrow::Int64Builder entries;
  for (int64_t i = 0; i < kDistinct; ++i) ASSERT_TRUE(entries.Append(i * 7919).ok());
  arrow::Int32Builder keys;
  std::mt19937_64 random(1);
  for (int64_t i = 0; i < kBatchRows; ++i) ASSERT_TRUE(keys.Append(static_cast<int32_t>(random() % kDistinct)).ok());
  const auto indices = keys.Finish().ValueOrDie();
  const auto type = arrow::dictionary(arrow::int32(), arrow::int64());
  const auto batch =
      OneColumn(arrow::DictionaryArray::FromArrays(type, indices, *entries.Finish()).ValueOrDie(), false);
  ParquetWriteOptions options;
  options.page_bytes = int64_t{1} << 30;
  options.page_rows = options.row_group_rows = kBatchRows * kBatches;
  options.row_group_bytes = int64_t{4} << 30;
  options.compression = ParquetCompression::kUncompressed;
  const auto file = WrittenParquet::Make(batch->schema(), Batches(kBatches, batch), options).ValueOrDie();
  EXPECT_GT(file.bytes->size(), int64_t{300} << 20);
  const auto reader = file.Open();
  auto column = std::static_pointer_cast<::parquet::Int64Reader>(reader->RowGroup(0)->Column(0));
  std::vector<int64_t> values(100000);
  const auto* expected = std::static_pointer_cast<arrow::Int32Array>(indices)->raw_values();
  int64_t row = 0;
  while (column->HasNext()) {
    int64_t count = 0;
    column->ReadBatch(static_cast<int64_t>(values.size()), nullptr, nullptr, values.data(), &count);
    for (int64_t i = 0; i < count; ++i, ++row) {
      ASSERT_EQ(values[static_cast<size_t>(i)], expected[row % kBatchRows] * int64_t{7919}) << row;
    }
  }
  EXPECT_EQ(row, kBatchRows * kBatches);
}

// Fault 3: pages of long lists in small batches are cut, on rows.
TEST(WriteFaults, RepeatedColumnsAreCut) {
  const auto type = arrow::list(arrow::int64());
  RandomArrays arrays(3, {.null_probability = 0.1});
  Batches batches;
  for (int b = 0; b < 100; ++b) {
    const auto values = arrays.Make(*field("item", arrow::int64()), 900);
    batches.push_back(
        OneColumn(arrow::ListArray::FromArrays(*FromJson(arrow::int32(), "[0, 300, 300, 900]"), *values).ValueOrDie()));
  }
  for (bool v2 : {false, true}) {
    ParquetWriteOptions options;
    options.page_bytes = 8000;
    options.data_page_v2 = v2;
    const auto file = ExpectRoundTrip(arrow::schema({field("c", type)}), batches, options);
    ASSERT_EQ(file.metadata()->num_row_groups(), 1);
    EXPECT_EQ(file.metadata()->RowGroup(0)->ColumnChunk(0)->num_values(), 100 * 901);
  }
  const auto pages = PagesOf(batches[0]->column(0), {.page_bytes = 1000});
  ASSERT_EQ(pages.size(), 3u);  // each list is larger than a page
  for (const auto& page : pages) EXPECT_EQ(page.row_count, 1);
}

// Fault 8: duplicates and nulls inside a dictionary; null_count is exact.
TEST(WriteFaults, DictionaryWithDuplicatesAndNulls) {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto make = [&](const std::string& indices, const std::string& values) {
    return arrow::DictionaryArray::FromArrays(type, FromJson(arrow::int8(), indices), FromJson(arrow::utf8(), values))
        .ValueOrDie();
  };
  for (bool dictionary : {true, false}) {
    ParquetWriteOptions options;
    options.dictionary = dictionary;
    const auto file = ExpectRoundTrip(arrow::schema({field("c", type)}),
                                      {OneColumn(make("[0, 1, 2, 2, 1, 0, 0, 0, 1, 1]", R"(["a", "a", "b"])")),
                                       OneColumn(make("[0, 1]", R"(["a", null])"))},
                                      options);
    EXPECT_EQ(file.statistics()->null_count(), 1);
    EXPECT_EQ(file.statistics()->num_values(), 11);
  }
  const auto pages = PagesOf(make("[0, 1, 1, null]", R"(["a", null])"));
  EXPECT_EQ(pages.at(0).null_count(), 3);
}

// Fault 13: a list after so many nulls that a page ends among them.
TEST(WriteFaults, ListBehindManyNulls) {
  constexpr int64_t kNulls = 349525;
  arrow::ListBuilder builder(arrow::default_memory_pool(), std::make_shared<arrow::Int32Builder>());
  auto& values = static_cast<arrow::Int32Builder&>(*builder.value_builder());
  ASSERT_TRUE(builder.AppendNulls(kNulls).ok());
  ASSERT_TRUE(builder.Append().ok() && values.AppendValues({7, 8, 9}).ok());
  const auto array = builder.Finish().ValueOrDie();
  for (int64_t page_bytes : {1000, 30000, 1000000}) {
    ParquetWriteOptions options;
    options.page_bytes = page_bytes;
    options.page_rows = int64_t{1} << 40;
    const auto file = WrittenParquet::Make(arrow::schema({field("c", array->type())}), {OneColumn(array)}, options);
    ASSERT_TRUE(file.ok()) << file.status();
    const auto table = file->Read().ValueOrDie();
    ASSERT_EQ(table->num_rows(), kNulls + 1);
    EXPECT_EQ(table->column(0)->null_count(), kNulls);
    EXPECT_EQ(testing::CanonicalColumn(*table->column(0)->Slice(kNulls)), std::vector<std::string>{"[7,8,9,]"});
  }
}

// Fault 14: slices at every offset of nested arrays; null slots of fixed-size lists have elements all the same.
TEST(WriteFaults, SlicesOfNestedArrays) {
  const auto types = {arrow::list(arrow::utf8()), arrow::large_list(arrow::fixed_size_list(arrow::int16(), 3)),
                      arrow::fixed_size_list(arrow::struct_({field("x", arrow::boolean())}), 2),
                      arrow::struct_({field("x", arrow::list(arrow::int64())), field("y", arrow::decimal128(25, 2))}),
                      arrow::map(arrow::utf8(), arrow::list(arrow::float64()))};
  for (const auto& type : types) {
    RandomArrays arrays(14, {.null_probability = 0.3, .largest_offset = 5});
    const auto array = arrays.Make(*field("c", type), 140);
    for (int64_t offset = 1; offset <= 65; offset += testing::LongTests() ? 1 : 7) {
      SCOPED_TRACE(type->ToString() + " from " + std::to_string(offset));
      ParquetWriteOptions options;
      options.page_rows = 33;
      ExpectRoundTrip(arrow::schema({field("c", type)}), {OneColumn(array->Slice(offset, 70))}, options);
    }
  }
}

// Fault 16: many columns in little memory.
TEST(WriteFaults, ManyColumnsInLittleMemory) {
  constexpr int kColumns = 1600;
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  RandomArrays arrays(16, {});
  for (int c = 0; c < kColumns; ++c) {
    fields.push_back(field("c" + std::to_string(c), arrow::float32()));
    columns.push_back(arrays.Make(*fields.back(), 500));
  }
  const auto schema = arrow::schema(fields);
  const auto batch = arrow::RecordBatch::Make(schema, 500, columns);
  MemoryBudget pool(arrow::default_memory_pool(), 0);
  Context context;
  context.pool = &pool;
  ParquetWriteOptions options;
  options.row_group_bytes = 8 << 20;
  const auto file = WrittenParquet::Make(schema, Batches(20, batch), options, context).ValueOrDie();
  EXPECT_GT(file.metadata()->num_row_groups(), 1);
  EXPECT_EQ(file.metadata()->num_rows(), 500 * 20);
  // What a row group holds, as much of memory to use again, and the encoders of each column.
  EXPECT_LT(pool.max_memory(), 2 * options.row_group_bytes + kColumns * int64_t{48 << 10});
}

// Fault 16: chunks of more bytes than an int32 counts.
TEST(WriteFaults, TwoChunksOfManyBytes) {
  if (!testing::LongTests()) GTEST_SKIP() << "writes 3 GiB (set CALVE_LONG_TESTS)";
  const std::string text(int64_t{1} << 20, 'x');
  arrow::LargeStringBuilder builder;
  for (int i = 0; i < 1536; ++i) ASSERT_TRUE(builder.Append(text).ok());
  const auto array = builder.Finish().ValueOrDie();
  const auto schema = arrow::schema({field("a", array->type()), field("b", array->type())});
  ParquetWriteOptions options;
  options.dictionary = false;
  options.row_group_bytes = int64_t{8} << 30;
  const auto file =
      WrittenParquet::Make(schema, {arrow::RecordBatch::Make(schema, array->length(), {array, array})}, options)
          .ValueOrDie();
  ASSERT_EQ(file.metadata()->num_row_groups(), 1);
  for (int c : {0, 1}) {
    EXPECT_GT(file.metadata()->RowGroup(0)->ColumnChunk(c)->total_uncompressed_size(), int64_t{1536} << 20);
  }
}

}  // namespace
}  // namespace calve
