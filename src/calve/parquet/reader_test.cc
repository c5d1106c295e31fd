#include "calve/parquet/metadata.h"
#include "random_array.h"
#include "read_parquet.h"

#include <arrow/extension/uuid.h>
#include <arrow/type.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <set>

// Files that libparquet writes under many options, read by calve: the table that went in must come out.

namespace calve {
namespace {

using arrow::field;
using parquet::Encoding;
using parquet::PageType;
using testing::ExpectSameTable;
using testing::RandomArrays;
using testing::ReadWithCalve;
using Properties = ::parquet::WriterProperties::Builder;

/// Types that Parquet holds without ARROW:schema.
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
          decimal128(7, 2),
          decimal128(15, 2),
          decimal128(20, 3),
          decimal128(38, 10),
          decimal256(76, 10),
          date32(),
          time32(TimeUnit::MILLI),
          time64(TimeUnit::MICRO),
          time64(TimeUnit::NANO),
          timestamp(TimeUnit::MILLI),
          timestamp(TimeUnit::MICRO, "UTC"),
          timestamp(TimeUnit::NANO, "UTC"),
          timestamp(TimeUnit::NANO),
          utf8(),
          binary(),
          fixed_size_binary(16),
          fixed_size_binary(3),
          null()};
}

std::shared_ptr<arrow::Schema> AllLeaves(bool nullable) {
  arrow::FieldVector fields;
  for (const auto& type : LeafTypes()) {
    fields.push_back(field("c" + std::to_string(fields.size()), type, nullable || type->id() == arrow::Type::NA));
  }
  return arrow::schema(fields);
}

/// Nesting down to four levels, optional and required at each.
std::shared_ptr<arrow::Schema> Nested() {
  using namespace arrow;  // NOLINT
  const auto inner = struct_({field("x", int64()), field("y", utf8(), false)});
  return arrow::schema({
      field("s",
            struct_({field("a", int32()), field("b", struct_({field("c", utf8()), field("d", float64(), false)}))})),
      field("required_s", struct_({field("a", int32(), false), field("b", boolean())}), false),
      field("l", list(field("element", int32()))),
      field("required_l", list(field("element", utf8(), false)), false),
      field("ll", list(field("element", list(field("element", decimal128(12, 2)))))),
      field("ls", list(field("element", inner))),
      field("rls", list(field("element", inner, false)), false),
      field("m", map(utf8(), int32())),
      field("mm", map(int64(), field("value", map(utf8(), field("value", list(field("element", inner))))))),
      field("lmls", list(field("element", map(int32(), field("value", list(field("element", inner, false)))), false))),
      field("sl",
            struct_({field("l", list(field("element", struct_({field("l2", list(field("element", int8())))}))))})),
      field("llll",
            list(field("element", list(field("element", list(field("element", list(field("element", int32()))))))))),
  });
}

std::shared_ptr<arrow::Table> RandomTable(const std::shared_ptr<arrow::Schema>& schema, int64_t rows, uint64_t seed,
                                          const RandomArrays::Options& options) {
  RandomArrays arrays(seed, options);
  arrow::ArrayVector columns;
  for (const auto& f : schema->fields()) columns.push_back(arrays.Make(*f, rows));
  return arrow::Table::Make(schema, columns, rows);
}

std::shared_ptr<arrow::Buffer> WriteWithLibparquet(const arrow::Table& table, Properties& properties,
                                                   int64_t row_group_rows = 1 << 20, bool int96 = false) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  ::parquet::ArrowWriterProperties::Builder arrow_properties;
  if (int96) arrow_properties.enable_deprecated_int96_timestamps();
  // Format 2.6 keeps nanoseconds.
  const auto status = ::parquet::arrow::WriteTable(table, arrow::default_memory_pool(), sink, row_group_rows,
                                                   properties.version(::parquet::ParquetVersion::PARQUET_2_6)->build(),
                                                   arrow_properties.build());
  EXPECT_TRUE(status.ok()) << status;
  return sink->Finish().ValueOrDie();
}

void ExpectReadsBack(const std::shared_ptr<arrow::Table>& table, Properties& properties,
                     int64_t row_group_rows = 1 << 20, int64_t batch_rows = 65536) {
  const auto bytes = WriteWithLibparquet(*table, properties, row_group_rows);
  ParquetReadOptions options;
  options.batch_rows = batch_rows;
  options.verify_crc = true;
  ExpectSameTable(ReadWithCalve(bytes, options), table);
}

TEST(ParquetReader, EveryLeafType) {
  for (auto version : {::parquet::ParquetDataPageVersion::V1, ::parquet::ParquetDataPageVersion::V2}) {
    for (bool dictionary : {true, false}) {
      for (double nulls : {0.0, 0.25, 0.99, 1.0}) {
        SCOPED_TRACE(fmt::format("v{} dictionary {} nulls {}", static_cast<int>(version) + 1, dictionary, nulls));
        for (const bool nullable : {true, false}) {
          if (!nullable && nulls > 0) continue;
          const auto table =
              RandomTable(AllLeaves(nullable), 1500, 11, {.null_probability = nulls, .distinct = dictionary ? 40 : 0});
          Properties properties;
          properties.data_page_version(version)->data_pagesize(400)->write_batch_size(50)->enable_page_checksum();
          dictionary ? properties.enable_dictionary() : properties.disable_dictionary();
          ExpectReadsBack(table, properties, 700);
          ExpectReadsBack(table, properties, 700, 13);
        }
      }
    }
  }
}

TEST(ParquetReader, NestedFourDeep) {
  for (auto version : {::parquet::ParquetDataPageVersion::V1, ::parquet::ParquetDataPageVersion::V2}) {
    for (double nulls : {0.0, 0.3, 0.9}) {
      for (int64_t batch_rows : {1, 10, 65536}) {
        SCOPED_TRACE(fmt::format("v{} nulls {} batch {}", static_cast<int>(version) + 1, nulls, batch_rows));
        const auto table = RandomTable(Nested(), 600, 23, {.null_probability = nulls, .distinct = 30});
        Properties properties;
        properties.data_page_version(version)->data_pagesize(300)->write_batch_size(20);
        ExpectReadsBack(table, properties, 250, batch_rows);
      }
    }
  }
}

TEST(ParquetReader, NestedWithLargeBatches) {
  const auto table = RandomTable(Nested(), 30000, 5, {.null_probability = 0.1});
  Properties properties;
  ExpectReadsBack(table, properties);
  ExpectReadsBack(table, properties, 12345, 4096);
}

TEST(ParquetReader, EveryCodec) {
  using C = arrow::Compression;
  const auto table = RandomTable(AllLeaves(true), 3000, 3, {.null_probability = 0.2, .distinct = 100});
  for (auto codec : {C::UNCOMPRESSED, C::SNAPPY, C::GZIP, C::BROTLI, C::ZSTD, C::LZ4, C::LZ4_HADOOP}) {
    for (auto version : {::parquet::ParquetDataPageVersion::V1, ::parquet::ParquetDataPageVersion::V2}) {
      SCOPED_TRACE(fmt::format("codec {} v{}", static_cast<int>(codec), static_cast<int>(version) + 1));
      Properties properties;
      properties.compression(codec)->data_page_version(version)->data_pagesize(2000);
      ExpectReadsBack(table, properties);
    }
  }
}

TEST(ParquetReader, DictionaryThatFallsBackToPlain) {
  const auto schema = arrow::schema({field("a", arrow::int64()), field("s", arrow::utf8()),
                                     field("l", arrow::list(field("element", arrow::utf8())))});
  const auto table = RandomTable(schema, 20000, 9, {.null_probability = 0.1});
  Properties properties;
  properties.dictionary_pagesize_limit(2000)->data_pagesize(1000);
  ExpectReadsBack(table, properties);
  ExpectReadsBack(table, properties, 7000, 1000);
}

void CheckEncoding(::parquet::Encoding::type encoding, const std::vector<std::shared_ptr<arrow::DataType>>& types) {
  arrow::FieldVector fields;
  for (const auto& type : types) {
    fields.push_back(field("r" + std::to_string(fields.size()), type, false));
    fields.push_back(field("o" + std::to_string(fields.size()), type));
    fields.push_back(field("l" + std::to_string(fields.size()), arrow::list(field("element", type))));
  }
  for (int64_t rows : {1, 33, 129, 5000}) {
    for (int distinct : {0, 1, 50}) {
      for (auto version : {::parquet::ParquetDataPageVersion::V1, ::parquet::ParquetDataPageVersion::V2}) {
        SCOPED_TRACE(fmt::format("rows {} distinct {} v{}", rows, distinct, static_cast<int>(version) + 1));
        const auto table =
            RandomTable(arrow::schema(fields), rows, 31, {.null_probability = 0.3, .distinct = distinct});
        Properties properties;
        properties.disable_dictionary()->encoding(encoding)->data_page_version(version)->data_pagesize(3000);
        ExpectReadsBack(table, properties);
        ExpectReadsBack(table, properties, 1 << 20, 37);
      }
    }
  }
}

TEST(ParquetReader, DeltaBinaryPacked) {
  CheckEncoding(::parquet::Encoding::DELTA_BINARY_PACKED,
                {arrow::int32(), arrow::int64(), arrow::uint64(), arrow::int8()});
}
TEST(ParquetReader, DeltaLengthByteArray) {
  CheckEncoding(::parquet::Encoding::DELTA_LENGTH_BYTE_ARRAY, {arrow::utf8(), arrow::binary()});
}
TEST(ParquetReader, DeltaByteArray) {
  CheckEncoding(::parquet::Encoding::DELTA_BYTE_ARRAY,
                {arrow::utf8(), arrow::fixed_size_binary(7), arrow::decimal128(30, 2)});
}
TEST(ParquetReader, ByteStreamSplit) {
  CheckEncoding(::parquet::Encoding::BYTE_STREAM_SPLIT,
                {arrow::float32(), arrow::float64(), arrow::int32(), arrow::int64(), arrow::float16(),
                 arrow::fixed_size_binary(5), arrow::decimal128(20, 2)});
}
TEST(ParquetReader, RleBooleans) { CheckEncoding(::parquet::Encoding::RLE, {arrow::boolean()}); }

TEST(ParquetReader, DecimalsAsIntegers) {
  const auto schema = arrow::schema({field("a", arrow::decimal128(9, 2)), field("b", arrow::decimal128(18, 2)),
                                     field("c", arrow::decimal128(9, 2), false)});
  const auto table = RandomTable(schema, 2000, 13, {});
  Properties properties;
  properties.enable_store_decimal_as_integer();
  ExpectReadsBack(table, properties);
}

TEST(ParquetReader, DecimalsFallBackFromDictionaryToPlain) {
  const auto schema =
      arrow::schema({field("fixed", arrow::decimal128(38, 10)), field("wide", arrow::decimal128(20, 3), false),
                     field("long", arrow::decimal128(18, 2)), field("int", arrow::decimal128(9, 2))});
  const auto table = RandomTable(schema, 5000, 17, {.null_probability = 0.2, .distinct = 0});
  for (bool as_integers : {false, true}) {
    Properties properties;
    properties.dictionary_pagesize_limit(4000)->data_pagesize(2000);
    if (as_integers) properties.enable_store_decimal_as_integer();
    const auto bytes = WriteWithLibparquet(*table, properties, 1 << 20, false);
    const auto file = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x").ValueOrDie();
    for (const auto& column : file->metadata().row_groups[0].columns) {
      std::set<std::pair<PageType, Encoding>> pages;
      for (const auto& stats : column.metadata->encoding_stats) pages.insert({stats.page_type, stats.encoding});
      EXPECT_TRUE(pages.contains({PageType::kDataPage, Encoding::kRleDictionary}));
      EXPECT_TRUE(pages.contains({PageType::kDataPage, Encoding::kPlain}));
    }
    ExpectReadsBack(table, properties);
  }
}

TEST(ParquetReader, Int96) {
  const auto type = arrow::timestamp(arrow::TimeUnit::NANO);
  const auto table = RandomTable(arrow::schema({field("t", type)}), 1000, 13, {});
  Properties properties;
  const auto bytes = WriteWithLibparquet(*table, properties, 1 << 20, true);
  ExpectSameTable(ReadWithCalve(bytes), testing::ReadWithLibparquet(std::make_shared<arrow::io::BufferReader>(bytes)));
}

TEST(ParquetReader, Uuid) {
  const auto schema = arrow::schema({field("u", arrow::extension::uuid())});
  const auto table = RandomTable(schema, 100, 1, {});
  Properties properties;
  ExpectReadsBack(table, properties);
}

TEST(ParquetReader, NoRowsAndNoColumns) {
  Properties properties;
  ExpectReadsBack(RandomTable(AllLeaves(true), 0, 1, {}), properties);
  const auto table = RandomTable(arrow::schema({field("a", arrow::int32())}), 100, 1, {});
  auto file =
      ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(WriteWithLibparquet(*table, properties, 60)), "x");
  ASSERT_TRUE(file.ok()) << file.status();
  auto reader = (*file)->Read({}, {0, 1});
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (int64_t rows : {60, 40}) {
    auto batch = (*reader)->Next().ValueOrDie();
    EXPECT_EQ(batch->num_rows(), rows);
    EXPECT_EQ(batch->num_columns(), 0);
  }
  EXPECT_EQ((*reader)->Next().ValueOrDie(), nullptr);
}

TEST(ParquetReader, RowGroupsAndFirstRows) {
  const auto table = RandomTable(arrow::schema({field("a", arrow::int32()), field("b", arrow::utf8())}), 1000, 2, {});
  Properties properties;
  ParquetReadOptions options;
  options.batch_rows = 150;
  auto file = ParquetReader::Open(
      std::make_shared<arrow::io::BufferReader>(WriteWithLibparquet(*table, properties, 200)), "x.parquet", options);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->num_rows(), 1000);
  EXPECT_EQ((*file)->num_row_groups(), 5);
  auto reader = (*file)->Read({1}, {1, 4});
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const auto& [first, rows] :
       std::vector<std::pair<int64_t, int64_t>>{{200, 150}, {350, 50}, {800, 150}, {950, 50}}) {
    auto batch = (*reader)->Next().ValueOrDie();
    EXPECT_EQ((*reader)->first_row(), first);
    EXPECT_EQ(batch->num_rows(), rows);
    EXPECT_TRUE(arrow::ChunkedArray(batch->column(0)).Equals(table->column(1)->Slice(first, rows)));
  }
  EXPECT_EQ((*reader)->Next().ValueOrDie(), nullptr);
  EXPECT_EQ((*file)->Read({0}, {4, 1}).status().message(),
            "x.parquet: row group 1 out of order or range (the file has 5)");
  EXPECT_EQ((*file)->Read({0}, {5}).status().message(),
            "x.parquet: row group 5 out of order or range (the file has 5)");
}

TEST(ParquetReader, NamedColumns) {
  const auto table = RandomTable(Nested(), 300, 2, {});
  Properties properties;
  const auto bytes = WriteWithLibparquet(*table, properties);
  auto got = ReadWithCalve(std::make_shared<arrow::io::BufferReader>(bytes), {}, {"s.b.c", "ls.element.y", "m"});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)->schema()->ToString(),
            "s: struct<b: struct<c: string>>\n"
            "ls: list<element: struct<y: string not null>>\n"
            "m: map<string, int32>");
  auto flat = [](const arrow::Table& t) { return t.Flatten().ValueOrDie(); };
  const auto all = flat(*flat(*table)), some = flat(*flat(**got));
  EXPECT_TRUE(some->GetColumnByName("s.b.c")->Equals(all->GetColumnByName("s.b.c")));
  EXPECT_TRUE((*got)->GetColumnByName("m")->Equals(table->GetColumnByName("m")));
  EXPECT_THAT(ReadWithCalve(std::make_shared<arrow::io::BufferReader>(bytes), {}, {"nope"}).status().message(),
              ::testing::HasSubstr("x.parquet: no column 'nope'; there are: s.a, s.b.c, s.b.d, required_s.a"));
}

}  // namespace
}  // namespace calve
