#include "calve/parquet/metadata.h"
#include "calve/parquet/thrift_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace calve::parquet {
namespace {

std::string Hex(std::string_view bytes) {
  std::string text;
  for (char byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return text;
}

// Thrift's compact protocol, by hand.
TEST(ThriftWriter, MembersAndTheirTypes) {
  ThriftWriter out;
  out.Bool(1, true);   // delta 1, type 1
  out.Bool(2, false);  // delta 1, type 2
  out.I8(3, -1);       // delta 1, type 3, the byte itself
  out.I16(4, -2);      // delta 1, type 4, zigzag 3
  out.I32(20, 150);    // delta 16: long form, type 5, zigzag(20) = 40, zigzag(150) = 300
  out.I64(21, INT64_MIN);
  out.Binary(22, "ab");
  EXPECT_EQ(Hex(out.Finish()),
            "11"
            "12"
            "13ff"
            "1403"
            "0528ac02"
            "16ffffffffffffffffff01"
            "18026162"
            "00");
}

TEST(ThriftWriter, StructuresBeginCountingAgain) {
  ThriftWriter out;
  out.Struct(5, [&] {
    out.I32(1, 1);
    out.Struct(2, [] {});
  });
  out.I32(6, 0);
  EXPECT_EQ(Hex(out.Finish()),
            "5c"
            "1502"
            "1c00"
            "00"
            "1500"
            "00");
}

TEST(ThriftWriter, ListsOf14And15) {
  for (size_t size : {14u, 15u}) {
    ThriftWriter out;
    const std::vector<int32_t> values(size, 1);
    out.List(1, ThriftWriter::Type::kI32, values, [&](int32_t value) { out.I32Element(value); });
    const std::string header = size == 14 ? "19e5" : "19f50f";
    std::string elements;
    for (size_t i = 0; i < size; ++i) elements += "02";
    EXPECT_EQ(Hex(out.Finish()), header + elements + "00");
  }
}

TEST(Serialize, PageHeadersReadBack) {
  PageHeader header;
  header.type = PageType::kDataPageV2;
  header.uncompressed_page_size = INT32_MAX;
  header.compressed_page_size = 17;
  header.crc = -5;
  header.data_page_v2 = DataPageHeaderV2{100, 40, 30, Encoding::kRleDictionary, 12, 3, false, {}};
  const std::string bytes = Serialize(header) + "body";
  size_t size = 0;
  auto read = ParsePageHeader({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, &size);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(size, bytes.size() - 4);
  EXPECT_EQ(read->type, header.type);
  EXPECT_EQ(read->uncompressed_page_size, INT32_MAX);
  EXPECT_EQ(read->compressed_page_size, 17);
  EXPECT_EQ(read->crc, -5);
  ASSERT_TRUE(read->data_page_v2);
  EXPECT_EQ(read->data_page_v2->num_values, 100);
  EXPECT_EQ(read->data_page_v2->num_nulls, 40);
  EXPECT_EQ(read->data_page_v2->num_rows, 30);
  EXPECT_EQ(read->data_page_v2->encoding, Encoding::kRleDictionary);
  EXPECT_EQ(read->data_page_v2->definition_levels_byte_length, 12);
  EXPECT_EQ(read->data_page_v2->repetition_levels_byte_length, 3);
  EXPECT_FALSE(read->data_page_v2->is_compressed);
}

FileMetadata FullMetadata() {
  FileMetadata file;
  file.version = 2;
  file.num_rows = int64_t{1} << 40;
  file.created_by = "calve";
  file.key_value_metadata = {{"a", "b"}, {"c", std::nullopt}};
  file.type_defined_order = {true, false};
  SchemaElement root;
  root.name = "schema";
  root.num_children = 2;
  SchemaElement leaf;
  leaf.name = "d";
  leaf.type = PhysicalType::kFixedLenByteArray;
  leaf.type_length = 9;
  leaf.repetition = Repetition::kOptional;
  leaf.converted_type = ConvertedType::kDecimal;
  leaf.scale = leaf.logical_type.scale = 3;
  leaf.precision = leaf.logical_type.precision = 20;
  leaf.logical_type.kind = LogicalType::Kind::kDecimal;
  leaf.field_id = 12;
  SchemaElement time;
  time.name = "t";
  time.type = PhysicalType::kInt64;
  time.repetition = Repetition::kRequired;
  time.logical_type.kind = LogicalType::Kind::kTimestamp;
  time.logical_type.is_adjusted_to_utc = true;
  time.logical_type.unit = TimeUnit::kNanos;
  file.schema = {root, leaf, time};
  RowGroup group;
  group.num_rows = 5;
  group.total_byte_size = 1000;
  group.total_compressed_size = 900;
  group.file_offset = 4;
  group.ordinal = 3;
  group.sorting_columns = {{1, true, false}};
  ColumnChunk chunk;
  ColumnMetadata& column = chunk.metadata.emplace();
  column.type = PhysicalType::kFixedLenByteArray;
  column.encodings = {Encoding::kRle, Encoding::kRleDictionary, Encoding::kPlain};
  column.path_in_schema = {"d"};
  column.codec = CompressionCodec::kZstd;
  column.num_values = 5;
  column.total_uncompressed_size = 500;
  column.total_compressed_size = 450;
  column.data_page_offset = 54;
  column.dictionary_page_offset = 4;
  Statistics& statistics = column.statistics.emplace();
  statistics.null_count = 1;
  statistics.distinct_count = 2;
  statistics.min_value = std::string("\0a", 2);
  statistics.max_value = "b";
  statistics.is_min_value_exact = true;
  statistics.is_max_value_exact = false;
  statistics.nan_count = 7;
  column.encoding_stats = {{PageType::kDictionaryPage, Encoding::kPlain, 1},
                           {PageType::kDataPage, Encoding::kRleDictionary, 2}};
  group.columns = {chunk};
  file.row_groups = {group};
  return file;
}

TEST(Serialize, FooterReadsBack) {
  const FileMetadata file = FullMetadata();
  const std::string bytes = Serialize(file);
  auto read = ParseFileMetadata({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  ASSERT_TRUE(read.ok()) << read.status();
  // Every member that was written is read, and written again the same.
  EXPECT_EQ(Serialize(*read), bytes);
  EXPECT_EQ(read->num_rows, file.num_rows);
  EXPECT_EQ(read->type_defined_order, file.type_defined_order);
  ASSERT_EQ(read->schema.size(), 3u);
  EXPECT_EQ(read->schema[1].field_id, 12);
  EXPECT_EQ(read->schema[1].logical_type.precision, 20);
  EXPECT_EQ(read->schema[2].logical_type.unit, TimeUnit::kNanos);
  EXPECT_TRUE(read->schema[2].logical_type.is_adjusted_to_utc);
  ASSERT_EQ(read->key_value_metadata.size(), 2u);
  EXPECT_EQ(read->key_value_metadata[1].value, std::nullopt);
  const ColumnMetadata& column = *read->row_groups.at(0).columns.at(0).metadata;
  EXPECT_EQ(column.dictionary_page_offset, 4);
  EXPECT_EQ(column.statistics->min_value, std::string("\0a", 2));
  EXPECT_EQ(column.statistics->is_max_value_exact, false);
  EXPECT_EQ(column.statistics->nan_count, 7);
  EXPECT_EQ(column.encoding_stats.at(1).count, 2);
  EXPECT_EQ(read->row_groups[0].ordinal, 3);
  EXPECT_TRUE(read->row_groups[0].sorting_columns.at(0).descending);
}

}  // namespace
}  // namespace calve::parquet
