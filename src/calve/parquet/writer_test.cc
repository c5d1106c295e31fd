#include "calve/parquet_writer.h"

#include "calve/base/memory_budget.h"

#include "random_array.h"
#include "written_parquet.h"

#include <arrow/builder.h>
#include <arrow/extension/uuid.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

namespace calve {
namespace {

using arrow::field;
using testing::Batches;
using testing::ExpectRoundTrip;
using testing::FromJson;
using testing::OneColumn;
using testing::RandomArrays;
using testing::WrittenParquet;

std::vector<std::shared_ptr<arrow::DataType>> LeafTypes() {
  using namespace arrow;  // NOLINT
  return {boolean(),
          int8(),
          int16(),
          int32(),
          int64(),
          uint8(),
          uint16(),
          uint32(),
          uint64(),
          float16(),
          float32(),
          float64(),
          decimal32(9, 2),
          decimal64(18, 6),
          decimal128(7, 2),
          decimal128(15, 2),
          decimal128(19, 4),
          decimal128(38, 10),
          decimal256(9, 0),
          decimal256(18, 18),
          decimal256(40, 5),
          decimal256(76, 10),
          date32(),
          date64(),
          time32(TimeUnit::SECOND),
          time32(TimeUnit::MILLI),
          time64(TimeUnit::MICRO),
          time64(TimeUnit::NANO),
          timestamp(TimeUnit::SECOND),
          timestamp(TimeUnit::MILLI, "UTC"),
          timestamp(TimeUnit::MICRO),
          timestamp(TimeUnit::MICRO, "Europe/Paris"),
          timestamp(TimeUnit::NANO),
          utf8(),
          large_utf8(),
          binary(),
          large_binary(),
          utf8_view(),
          binary_view(),
          fixed_size_binary(16),
          fixed_size_binary(1),
          extension::uuid(),
          dictionary(int8(), utf8()),
          dictionary(uint16(), large_binary()),
          dictionary(int32(), int64()),
          dictionary(int64(), decimal128(30, 3)),
          dictionary(uint8(), float64()),
          null()};
}

std::shared_ptr<arrow::RecordBatch> RandomBatch(const std::shared_ptr<arrow::Schema>& schema, int64_t rows,
                                                RandomArrays* arrays) {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (const auto& f : schema->fields()) columns.push_back(arrays->Make(*f, rows));
  return arrow::RecordBatch::Make(schema, rows, std::move(columns));
}

std::shared_ptr<arrow::Schema> AllLeaves(bool nullable) {
  arrow::FieldVector fields;
  for (const auto& type : LeafTypes()) {
    fields.push_back(field("c" + std::to_string(fields.size()), type, nullable || type->id() == arrow::Type::NA));
  }
  return arrow::schema(fields);
}

TEST(ParquetWriter, EveryLeafType) {
  for (bool v2 : {false, true}) {
    for (bool dictionary : {true, false}) {
      for (double nulls : {0.0, 0.25, 0.99, 1.0}) {
        RandomArrays arrays(17, {.null_probability = nulls, .distinct = dictionary ? 40 : 0});
        const auto schema = AllLeaves(nulls > 0);
        ParquetWriteOptions options;
        options.data_page_v2 = v2;
        options.dictionary = dictionary;
        options.page_rows = 100;
        options.row_group_rows = 350;
        SCOPED_TRACE(fmt::format("v2 {} dictionary {} nulls {}", v2, dictionary, nulls));
        ExpectRoundTrip(
            schema,
            {RandomBatch(schema, 333, &arrays), RandomBatch(schema, 1, &arrays), RandomBatch(schema, 500, &arrays)},
            options);
      }
    }
  }
}

TEST(ParquetWriter, EveryCodec) {
  const auto schema = AllLeaves(true);
  for (auto codec : {ParquetCompression::kUncompressed, ParquetCompression::kSnappy, ParquetCompression::kGzip,
                     ParquetCompression::kZstd, ParquetCompression::kLz4Raw, ParquetCompression::kBrotli}) {
    for (bool v2 : {false, true}) {
      RandomArrays arrays(4, {.null_probability = 0.5});
      ParquetWriteOptions options;
      options.compression = codec;
      options.data_page_v2 = v2;
      SCOPED_TRACE(fmt::format("codec {} v2 {}", static_cast<int>(codec), v2));
      ExpectRoundTrip(schema, {RandomBatch(schema, 500, &arrays)}, options);
    }
  }
}

/// A type of at most `depth` levels above the leaves.
std::shared_ptr<arrow::DataType> RandomType(std::mt19937_64* random, int depth) {
  const auto pick = [&](int count) { return static_cast<int>((*random)() % static_cast<uint64_t>(count)); };
  const std::shared_ptr<arrow::DataType> leaves[] = {arrow::int32(),
                                                     arrow::boolean(),
                                                     arrow::utf8(),
                                                     arrow::float64(),
                                                     arrow::dictionary(arrow::int8(), arrow::utf8()),
                                                     arrow::decimal128(25, 2),
                                                     arrow::utf8_view(),
                                                     arrow::null()};
  if (depth == 0) return leaves[pick(8)];
  const auto child = [&](const char* name) { return field(name, RandomType(random, pick(depth)), pick(3) != 0); };
  const auto deep_child = [&](const char* name) { return field(name, RandomType(random, depth - 1), pick(3) != 0); };
  switch (pick(5)) {
    case 0:
      return arrow::list(deep_child("item"));
    case 1:
      return arrow::large_list(deep_child("x"));
    case 2:
      return arrow::fixed_size_list(deep_child("element"), 1 + pick(3));
    case 3:
      return std::make_shared<arrow::MapType>(field("k", arrow::int32(), false), deep_child("v"));
    default:
      return arrow::struct_({child("a"), deep_child("b"), child("c")});
  }
}

TEST(ParquetWriter, RandomNestedToDepthFourWithSlices) {
  std::mt19937_64 random(20260101);
  for (int round = 0; round < 120; ++round) {
    const double nulls[] = {0, 0.01, 0.25, 0.5, 0.99, 1};
    const double density = nulls[round % 6];
    RandomArrays arrays(static_cast<uint64_t>(round),
                        {.null_probability = density, .distinct = round % 4 == 0 ? 0 : 12});
    const auto schema = arrow::schema({field("a", RandomType(&random, 1 + round % 4), round % 3 != 0),
                                       field("b", RandomType(&random, 1 + round % 4))});
    ParquetWriteOptions options;
    options.data_page_v2 = round % 2 == 1;
    options.page_rows = round % 5 == 0 ? 7 : 64;
    options.page_bytes = round % 7 == 0 ? 40 : 1 << 20;
    options.row_group_rows = 150;
    // libparquet cannot make nested dictionaries, and fixed-size lists below null structs, what the schema says.
    options.store_arrow_schema = false;
    SCOPED_TRACE(fmt::format("round {}: {}", round, schema->ToString()));
    ExpectRoundTrip(schema, {RandomBatch(schema, 100, &arrays), RandomBatch(schema, 65, &arrays)}, options);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(ParquetWriter, SlicesAtEveryOffsetUpTo65) {
  const auto type =
      arrow::list(arrow::struct_({field("x", arrow::int32()), field("y", arrow::list(arrow::boolean()))}));
  RandomArrays arrays(3, {.largest_offset = 0});
  const auto schema = arrow::schema({field("flat", arrow::int64()), field("nested", type)});
  const auto batch = RandomBatch(schema, 150, &arrays);
  for (int64_t offset = 0; offset <= 65; ++offset) {
    SCOPED_TRACE(offset);
    ExpectRoundTrip(schema, {batch->Slice(offset, 80), batch->Slice(offset + 3, 1)});
  }
}

// Fault 14: a null fixed-size list has slots in its child all the same.
TEST(ParquetWriter, FixedSizeListWithNullSlots) {
  const auto type = arrow::fixed_size_list(arrow::int32(), 2);
  const auto array = FromJson(type, "[[1, 2], null, [null, 4], null, [5, 6]]");
  ExpectRoundTrip(arrow::schema({field("c", type)}), {OneColumn(array), OneColumn(array->Slice(1, 3))});
}

TEST(ParquetWriter, FixedSizeListOfNothing) {
  const auto type = arrow::fixed_size_list(arrow::int32(), 0);
  ExpectRoundTrip(arrow::schema({field("c", arrow::list(arrow::int32()))}),
                  {OneColumn(FromJson(arrow::list(arrow::int32()), "[[], null, []]"))});
  auto written = WrittenParquet::Make(arrow::schema({field("c", type)}), {OneColumn(FromJson(type, "[[], null, []]"))});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->statistics()->null_count(), 3);
}

TEST(ParquetWriter, NullListsOverRangesThatAreNotEmpty) {
  auto data = FromJson(arrow::list(arrow::int32()), "[[1, 2], [3], [4, 5, 6], [7]]")->data()->Copy();
  data->buffers[0] = arrow::Buffer::FromString(std::string(1, '\xF5'));
  data->null_count = 1;
  const auto array = arrow::MakeArray(data);
  ASSERT_TRUE(array->IsNull(1));
  const auto written = ExpectRoundTrip(arrow::schema({field("c", array->type())}), {OneColumn(array)});
  const auto statistics = written.statistics();
  EXPECT_EQ(statistics->num_values(), 5);
  EXPECT_EQ(statistics->null_count(), 2);
}

// Fault 13: a list after so many nulls that a page ends among them, for pages of all sizes.
TEST(ParquetWriter, ListAfterManyNulls) {
  constexpr int64_t kNulls = 349525;
  arrow::ListBuilder builder(arrow::default_memory_pool(), std::make_shared<arrow::Int32Builder>());
  auto& values = static_cast<arrow::Int32Builder&>(*builder.value_builder());
  ASSERT_TRUE(builder.AppendNulls(kNulls).ok());
  ASSERT_TRUE(builder.Append().ok());
  ASSERT_TRUE(values.AppendValues({7, 8, 9}).ok());
  const auto array = builder.Finish().ValueOrDie();
  for (int64_t page_bytes : {100, 1000, 10000, 100000, 1000000}) {
    for (int64_t page_rows : {int64_t{4096}, int64_t{20000}, int64_t{1} << 40}) {
      ParquetWriteOptions options;
      options.page_bytes = page_bytes;
      options.page_rows = page_rows;
      auto written = WrittenParquet::Make(arrow::schema({field("c", array->type())}), {OneColumn(array)}, options);
      ASSERT_TRUE(written.ok()) << written.status();
      const auto table = written->Read().ValueOrDie();
      ASSERT_EQ(table->num_rows(), kNulls + 1);
      EXPECT_EQ(testing::CanonicalColumn(*table->column(0)->Slice(kNulls)), std::vector<std::string>{"[7,8,9,]"});
    }
  }
}

// Fault 8: dictionaries with duplicate values, and with nulls inside.
TEST(ParquetWriter, DictionariesWithDuplicatesAndNulls) {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto make = [&](const std::string& indices, const std::string& values) {
    return arrow::DictionaryArray::FromArrays(type, FromJson(arrow::int8(), indices), FromJson(arrow::utf8(), values))
        .ValueOrDie();
  };
  const auto schema = arrow::schema({field("c", type)});
  const auto written = ExpectRoundTrip(schema, {OneColumn(make("[0, 1, 2, 1, null]", R"(["a", "a", "b"])")),
                                                OneColumn(make("[0, 1]", R"(["a", null])"))});
  EXPECT_EQ(written.statistics()->null_count(), 2);
  EXPECT_EQ(written.summary.columns[0].null_count, 2);
  const auto list = arrow::ListArray::FromArrays(*FromJson(arrow::int32(), "[0, 2, 3, 5]"),
                                                 *make("[1, 0, 1, 1, 0]", R"(["a", null])"))
                        .ValueOrDie();
  ExpectRoundTrip(arrow::schema({field("c", list->type())}), {OneColumn(list), OneColumn(list->Slice(1))});
}

// Fault 7: two batches with different dictionaries in one chunk.
TEST(ParquetWriter, StatisticsOfAllDictionaries) {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto make = [&](const std::string& values) {
    return arrow::DictionaryArray::FromArrays(type, FromJson(arrow::int8(), "[0, 1, 0, 1]"),
                                              FromJson(arrow::utf8(), values))
        .ValueOrDie();
  };
  const auto written = ExpectRoundTrip(arrow::schema({field("c", type)}),
                                       {OneColumn(make(R"(["m", "n"])")), OneColumn(make(R"(["z", "a"])"))});
  const auto statistics = written.statistics();
  EXPECT_EQ(statistics->EncodeMin(), "a");
  EXPECT_EQ(statistics->EncodeMax(), "z");
  EXPECT_EQ(written.summary.columns[0].min, "a");
  EXPECT_EQ(written.summary.columns[0].max, "z");
}

// Fault 11: pages of the second version without a value, with every codec.
TEST(ParquetWriter, AllNullPagesV2WithEveryCodec) {
  for (auto codec : {ParquetCompression::kUncompressed, ParquetCompression::kSnappy, ParquetCompression::kGzip,
                     ParquetCompression::kZstd, ParquetCompression::kLz4Raw, ParquetCompression::kBrotli}) {
    for (const auto& type : LeafTypes()) {
      const auto array = arrow::MakeArrayOfNull(type, 300).ValueOrDie();
      ParquetWriteOptions options;
      options.compression = codec;
      options.data_page_v2 = true;
      options.page_rows = 100;
      SCOPED_TRACE(type->ToString());
      ExpectRoundTrip(arrow::schema({field("c", type)}), {OneColumn(array)}, options);
    }
  }
}

// Fault 4: pages of nulls do not hide the bounds of the page that has values.
TEST(ParquetWriter, NullPagesKeepTheBoundsOfTheOthers) {
  arrow::Int32Builder builder;
  ASSERT_TRUE(builder.AppendNulls(300).ok());
  ASSERT_TRUE(builder.AppendValues({5, 3, 4}).ok());
  ASSERT_TRUE(builder.AppendNulls(300).ok());
  ParquetWriteOptions options;
  options.page_rows = 100;
  const auto written =
      ExpectRoundTrip(arrow::schema({field("c", arrow::int32())}), {OneColumn(*builder.Finish())}, options);
  const auto statistics = written.statistics();
  EXPECT_TRUE(statistics->HasMinMax());
  EXPECT_EQ(written.summary.columns[0].min, std::string("\x03\0\0\0", 4));
  EXPECT_EQ(written.summary.columns[0].max, std::string("\x05\0\0\0", 4));
  EXPECT_EQ(written.summary.columns[0].null_count, 600);
}

TEST(ParquetWriter, NoRows) {
  const auto schema = arrow::schema({field("a", arrow::int32()), field("b", arrow::list(arrow::utf8()))});
  const auto empty = arrow::RecordBatch::MakeEmpty(schema).ValueOrDie();
  EXPECT_EQ(ExpectRoundTrip(schema, {}).metadata()->num_row_groups(), 0);
  EXPECT_EQ(ExpectRoundTrip(schema, {empty, empty}).metadata()->num_row_groups(), 0);
}

TEST(ParquetWriter, NoColumns) {
  const auto schema = arrow::schema(arrow::FieldVector{});
  auto written = WrittenParquet::Make(schema, {arrow::RecordBatch::Make(schema, 7, arrow::ArrayVector{}),
                                               arrow::RecordBatch::Make(schema, 5, arrow::ArrayVector{})});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->metadata()->num_rows(), 12);
  EXPECT_EQ(written->metadata()->num_columns(), 0);
  EXPECT_EQ(written->summary.rows, 12);
}

TEST(ParquetWriter, MemoryComesFromThePoolAndIsGivenBack) {
  MemoryBudget pool(arrow::default_memory_pool(), 0);
  Context context;
  context.pool = &pool;
  RandomArrays arrays(9, {});
  const auto schema = AllLeaves(true);
  ParquetWriteOptions options;
  options.row_group_rows = 1000;
  const auto written = ExpectRoundTrip(schema, {RandomBatch(schema, 3000, &arrays)}, options, context);
  EXPECT_EQ(pool.bytes_allocated(), 0);
  EXPECT_GT(pool.max_memory(), written.summary.bytes / 3);
}

TEST(ParquetWriter, MemoryBudgetThatIsTooSmall) {
  MemoryBudget pool(arrow::default_memory_pool(), 100000);
  Context context;
  context.pool = &pool;
  RandomArrays arrays(9, {});
  const auto schema = arrow::schema({field("c", arrow::int64())});
  auto written = WrittenParquet::Make(schema, {RandomBatch(schema, 100000, &arrays)}, {}, context);
  EXPECT_TRUE(written.status().IsOutOfMemory()) << written.status();
  EXPECT_EQ(pool.bytes_allocated(), 0);
}

TEST(ParquetWriter, OneThreadAndManyWriteTheSameBytes) {
  RandomArrays arrays(5, {});
  const auto schema = AllLeaves(true);
  const Batches batches = {RandomBatch(schema, 2000, &arrays)};
  Context one, four;
  one.threads = 1;
  four.threads = 4;
  const auto a = WrittenParquet::Make(schema, batches, {}, one), b = WrittenParquet::Make(schema, batches, {}, four);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_TRUE(a->bytes->Equals(*b->bytes));
}

}  // namespace
}  // namespace calve
