#include "calve/parquet/metadata_reader.h"

#include "calve/parquet/thrift_reader.h"
#include "test_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace calve::parquet {
namespace {

std::span<const uint8_t> Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// The footer of a file.
std::string FooterOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string file((std::istreambuf_iterator<char>(in)), {});
  if (file.size() < 12) return {};
  uint32_t size = 0;
  std::memcpy(&size, file.data() + file.size() - 8, 4);
  return file.substr(file.size() - 8 - size, size);
}

TEST(ThriftReader, ReadsMembersOfEveryKind) {
  // 1: bool true, 2: i32 -3 (zigzag 5), 5: binary "ab", 6: list<i32> of 2, 20 (long form): double.
  const std::string text(
      "\x11\x15\x05\x38\x02"
      "ab\x19\x25\x02\x04\x07\x28"
      "12345678\x00",
      22);
  ThriftReader in(Bytes(text));
  bool flag = false;
  int32_t number = 0;
  std::string name;
  std::vector<int32_t> list;
  auto seen = in.Struct("Thing", [&](ThriftReader::Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "flag", &flag);
      case 2:
        return in.Read(field, "number", &number);
      case 5:
        return in.Read(field, "name", &name);
      case 6:
        return in.ReadList(field, "list",
                           [&](ThriftReader::Field e) { return in.Read(e, "list", &list.emplace_back()); });
      default:
        return false;
    }
  });
  EXPECT_TRUE(in.status().ok()) << in.status();
  EXPECT_TRUE(flag);
  EXPECT_EQ(number, -3);
  EXPECT_EQ(name, "ab");
  EXPECT_EQ(list, (std::vector<int32_t>{1, 2}));
  EXPECT_TRUE(seen.Has(6));
  EXPECT_FALSE(seen.Has(20));
  EXPECT_EQ(in.offset(), text.size());
}

TEST(ThriftReader, NamesStructureMemberAndOffset) {
  ThriftReader in(
      Bytes(std::string_view("\x18\x05"
                             "ab",
                             4)));
  std::string name;
  in.Struct("Thing", [&](ThriftReader::Field field) { return in.Read(field, "name", &name); });
  EXPECT_TRUE(in.cut_short());
  EXPECT_EQ(in.status().message(), "Thing.name at byte 2: the data is cut short");
}

TEST(ThriftReader, PassesOverAMemberOfAnotherType) {
  // 1: i32 1, where a binary is expected.
  ThriftReader in(Bytes(std::string_view("\x15\x02\x00", 3)));
  std::string name;
  auto seen = in.Struct("Thing", [&](ThriftReader::Field field) { return in.Read(field, "name", &name); });
  EXPECT_TRUE(in.ok());
  in.Require(seen, 1, "Thing", "name");
  EXPECT_EQ(in.status().message(), "Thing that ends at byte 3 has no name");
}

TEST(ThriftReader, RefusesAListLongerThanTheInput) {
  const std::string text("\x19\xf5\xff\xff\xff\xff\x0f\x00", 8);
  ThriftReader in(Bytes(text));
  in.Struct("Thing", [](ThriftReader::Field) { return false; });
  EXPECT_THAT(in.status().message(), ::testing::HasSubstr("a list of 4294967295 elements in 1 bytes"));
}

TEST(ThriftReader, LimitsNesting) {
  for (const char* piece : {"\x1c", "\x19"}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += piece[0] == '\x19' ? "\x19" : piece;
    ThriftReader in(Bytes(text));
    in.Struct("Thing", [](ThriftReader::Field) { return false; });
    EXPECT_FALSE(in.status().ok());
  }
}

TEST(ThriftReader, RefusesIntegersOutOfRange) {
  const std::string text("\x16\xfe\xff\xff\xff\xff\x0f\x00", 8);
  ThriftReader in(Bytes(text));
  int32_t number = 0;
  in.Struct("Thing", [&](ThriftReader::Field field) { return in.Read(field, "number", &number); });
  EXPECT_THAT(in.status().message(), ::testing::HasSubstr("Thing.number"));
  EXPECT_THAT(in.status().message(), ::testing::HasSubstr("out of range"));
}

TEST(PageHeader, ReadsADataPageAndItsSize) {
  // type 0, uncompressed 20, compressed 18, crc -1, data page: 10 values, PLAIN_DICTIONARY, RLE, BIT_PACKED.
  const std::string text("\x15\x00\x15\x28\x15\x24\x15\x01\x1c\x15\x14\x15\x04\x15\x06\x15\x08\x00\x00more", 23);
  size_t size = 0;
  auto result = ParsePageHeader(Bytes(text), &size);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(size, 19u);
  EXPECT_EQ(result->uncompressed_page_size, 20);
  EXPECT_EQ(result->compressed_page_size, 18);
  EXPECT_EQ(result->crc, -1);
  ASSERT_TRUE(result->data_page);
  EXPECT_EQ(result->data_page->num_values, 10);
  EXPECT_EQ(result->data_page->encoding, Encoding::kPlainDictionary);
  EXPECT_EQ(result->data_page->repetition_level_encoding, Encoding::kBitPacked);
}

TEST(PageHeader, TruncatedAtEveryByte) {
  const std::string text("\x15\x00\x15\x28\x15\x24\x15\x01\x1c\x15\x14\x15\x04\x15\x06\x15\x08\x00\x00", 19);
  for (size_t size = 0; size < text.size(); ++size) {
    size_t header_size = 0;
    bool cut_short = false;
    auto result = ParsePageHeader(Bytes(text).subspan(0, size), &header_size, &cut_short);
    EXPECT_FALSE(result.ok()) << size;
    EXPECT_TRUE(cut_short) << size;
  }
}

TEST(FileMetadata, ReadsAFooter) {
  CALVE_SHARED_DATA(data);
  const std::string footer = FooterOf(data + "/parquet-testing/data/data_index_bloom_encoding_stats.parquet");
  auto result = ParseFileMetadata(Bytes(footer));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->num_rows, 14);
  ASSERT_EQ(result->schema.size(), 2u);
  EXPECT_EQ(result->schema[1].name, "String");
  EXPECT_EQ(result->schema[1].logical_type.kind, LogicalType::Kind::kString);
  ASSERT_EQ(result->row_groups.size(), 1u);
  const ColumnMetadata& column = *result->row_groups[0].columns[0].metadata;
  EXPECT_EQ(column.codec, CompressionCodec::kGzip);
  EXPECT_EQ(column.statistics->min_value, "Hello");
  EXPECT_EQ(column.statistics->max_value, "today");
  ASSERT_EQ(column.encoding_stats.size(), 1u);
  EXPECT_TRUE(column.bloom_filter_offset.has_value());
}

/// A list of `count` empty structures.
std::string EmptyStructures(size_t count) {
  std::string list(1, '\xfc');
  for (size_t rest = count; true; rest >>= 7) {
    list += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    if (rest <= 0x7f) break;
  }
  return list + std::string(count, '\0');
}

TEST(FileMetadata, RefusesMoreColumnChunksThanSchemaElements) {
  // 1: version 1, 2: schema of one element "r", 3: no rows, 4: one row group; its 1: columns.
  const std::string head("\x15\x02\x19\x1c\x48\x01r\x00\x16\x00\x19\x1c\x19", 13);
  const std::string footer = head + EmptyStructures(1000000);
  auto result = ParseFileMetadata(Bytes(footer));
  ASSERT_TRUE(result.status().IsInvalid());
  EXPECT_THAT(result.status().message(),
              ::testing::HasSubstr("a row group with more column chunks than the 1 elements of the schema"));
}

TEST(FileMetadata, RefusesMoreStructuresThanItsBytesJustify) {
  // 1: version 1, 4: one row group, before any schema; its 1: columns.
  const std::string head("\x15\x02\x39\x1c\x19", 5);
  const std::string footer = head + EmptyStructures(4000000);
  auto result = ParseFileMetadata(Bytes(footer));
  ASSERT_TRUE(result.status().IsInvalid());
  EXPECT_THAT(result.status().message(), ::testing::HasSubstr("more structures than the bytes of the footer"));
}

TEST(FileMetadata, RefusesAConvertedTypeThatIsNone) {
  FileMetadata metadata;
  metadata.version = 1;
  metadata.schema.resize(1);
  metadata.schema[0].name = "root";
  metadata.schema[0].converted_type = static_cast<ConvertedType>(21);
  EXPECT_TRUE(ParseFileMetadata(Bytes(Serialize(metadata))).ok());
  metadata.schema[0].converted_type = static_cast<ConvertedType>(22);
  const auto result = ParseFileMetadata(Bytes(Serialize(metadata)));
  EXPECT_TRUE(result.status().IsInvalid());
  EXPECT_THAT(result.status().message(), ::testing::HasSubstr("22 is no member of the enumeration"));
}

TEST(FileMetadata, TruncatedAtEveryByte) {
  CALVE_SHARED_DATA(data);
  const std::string footer = FooterOf(data + "/parquet-testing/data/nested_maps.snappy.parquet");
  ASSERT_TRUE(ParseFileMetadata(Bytes(footer)).ok());
  for (size_t size = 0; size < footer.size(); ++size) {
    auto result = ParseFileMetadata(Bytes(footer).subspan(0, size));
    ASSERT_FALSE(result.ok()) << size;
    EXPECT_TRUE(result.status().IsInvalid());
  }
}

TEST(FileMetadata, SurvivesEveryFlippedByte) {
  CALVE_SHARED_DATA(data);
  std::string footer = FooterOf(data + "/parquet-testing/data/nested_maps.snappy.parquet");
  int refused = 0;
  for (char& byte : footer) {
    const char original = byte;
    for (int mask : {0x01, 0x80, 0xff}) {
      byte = static_cast<char>(original ^ mask);
      refused += ParseFileMetadata(Bytes(footer)).ok() ? 0 : 1;
    }
    byte = original;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace calve::parquet
