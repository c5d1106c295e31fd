#include "calve/parquet/bloom_filter.h"

#include "calve/parquet/footer.h"
#include "calve/parquet/schema.h"

#include "indexed_parquet.h"
#include "test_data.h"

#include <arrow/io/file.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gtest/gtest.h>
#include <parquet/bloom_filter.h>

#include <cmath>
#include <random>

namespace calve::parquet {
namespace {

using testing::WriteIndexed;

std::span<const uint8_t> Span(std::string_view bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

/// A filter as libparquet writes it, header and bits.
std::string Written(const ::parquet::BlockSplitBloomFilter& filter) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  filter.WriteTo(sink.get());
  return sink->Finish().ValueOrDie()->ToString();
}

TEST(BloomFilter, ProbesAsLibparquetDoes) {
  std::mt19937_64 random(3);
  for (const uint32_t bytes : {32u, 64u, 1024u, 65536u}) {
    ::parquet::BlockSplitBloomFilter filter;
    filter.Init(bytes);
    for (uint32_t i = 0; i < bytes; ++i) filter.InsertHash(random());
    const std::string written = Written(filter);
    size_t header_size = 0;
    const auto header = ParseBloomFilterHeader(Span(written), &header_size).ValueOrDie();
    EXPECT_TRUE(header.is_supported);
    ASSERT_EQ(header.num_bytes, static_cast<int32_t>(bytes));
    ASSERT_EQ(header_size + bytes, written.size());
    const auto* bits = reinterpret_cast<const uint8_t*>(written.data()) + header_size;
    const int64_t blocks = bytes / kBloomBlockBytes;
    int found = 0;
    for (int i = 0; i < 20000; ++i) {
      const uint64_t hash = random();
      const bool got = BloomBlockMightHold(bits + BloomBlockOf(hash, blocks) * kBloomBlockBytes, hash);
      ASSERT_EQ(got, filter.FindHash(hash));
      found += got;
    }
    EXPECT_GT(found, 0);
  }
}

TEST(BloomFilter, HeaderTruncatedAtEveryByte) {
  ::parquet::BlockSplitBloomFilter filter;
  filter.Init(32);
  const std::string written = Written(filter);
  for (size_t size = 0; size < written.size() - 32; ++size) {
    size_t header_size = 0;
    EXPECT_FALSE(ParseBloomFilterHeader(Span(written).first(size), &header_size).ok()) << size;
  }
}

TEST(BloomFilter, UnknownAlgorithmsAreNotSupported) {
  // numBytes 32, then unions: algorithm, hash and compression, each with its member 1, an empty structure.
  std::string header("\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", 15);
  size_t size = 0;
  EXPECT_TRUE(ParseBloomFilterHeader(Span(header), &size).ValueOrDie().is_supported);
  for (const size_t member : {3u, 7u, 11u}) {
    std::string other = header;
    other[member] = '\x2c';
    EXPECT_FALSE(ParseBloomFilterHeader(Span(other), &size).ValueOrDie().is_supported);
  }
}

/// A file of one column, and its bloom filter.
struct OneFilter {
  OneFilter(const std::shared_ptr<arrow::DataType>& type, const std::string& json)
      : OneFilter(WriteIndexed(*arrow::Table::Make(arrow::schema({arrow::field("c", type)}),
                                                   {*arrow::json::ArrayFromJSONString(type, json)}),
                               {.bloom_filters = {"c"}})) {}
  explicit OneFilter(const std::shared_ptr<arrow::Buffer>& bytes)
      : file(std::make_shared<arrow::io::BufferReader>(bytes)), footer(Footer::Read(file.get()).ValueOrDie()) {
    schema = footer->schema();
    filter = BloomFilter::Open(file.get(), column(), footer->begin()).ValueOrDie();
  }
  const ColumnMetadata& column() { return *footer->metadata().row_groups[0].columns[0].metadata; }
  std::optional<bool> MightHold(const Value& value) {
    const auto hashes = BloomHashesOf(value, schema.leaves[0].element, *schema.arrow_schema->field(0)->type());
    if (!hashes || !filter) return std::nullopt;
    return filter->MightHoldAny(*hashes).ValueOrDie();
  }

  std::shared_ptr<arrow::io::RandomAccessFile> file;
  std::shared_ptr<const Footer> footer;
  FileSchema schema;
  std::optional<BloomFilter> filter;
};

TEST(BloomHashes, OfEveryTypeAsLibparquetHashesIt) {
  const auto expect = [](const std::shared_ptr<arrow::DataType>& type, const std::string& json,
                         const std::vector<Value>& in, const Value& out) {
    OneFilter one(type, json);
    for (const Value& value : in) EXPECT_EQ(one.MightHold(value), true) << type->ToString();
    EXPECT_EQ(one.MightHold(out), false) << type->ToString();
  };
  expect(arrow::int8(), "[-3, 5]", {int32_t{-3}, int32_t{5}}, int32_t{4});
  expect(arrow::uint8(), "[250, 5]", {int32_t{250}}, int32_t{4});
  expect(arrow::uint16(), "[65000]", {int32_t{65000}}, int32_t{4});
  expect(arrow::int32(), "[-30000000, 5]", {int32_t{-30000000}}, int32_t{4});
  expect(arrow::uint32(), "[4000000000]", {int64_t{4000000000}}, int64_t{4});
  expect(arrow::int64(), "[-3000000000000]", {int64_t{-3000000000000}}, int64_t{4});
  expect(arrow::uint64(), "[18446744073709551615]", {arrow::Decimal128(0, ~uint64_t{0})}, arrow::Decimal128(4));
  expect(arrow::float32(), "[1.5]", {1.5F}, 4.0F);
  expect(arrow::float64(), "[1.5]", {1.5}, 4.0);
  expect(arrow::float16(), "[1.5]", {1.5F}, 4.0F);
  expect(arrow::utf8(), R"(["", "abc", "a long text of more than thirty-two bytes"])",
         {std::string(), std::string("abc"), std::string("a long text of more than thirty-two bytes")},
         std::string("abd"));
  expect(arrow::fixed_size_binary(3), R"(["abc"])", {std::string("abc")}, std::string("abd"));
  expect(arrow::date32(), "[19000]", {int32_t{19000}}, int32_t{4});
  expect(arrow::timestamp(arrow::TimeUnit::MICRO), "[-5]", {int64_t{-5}}, int64_t{4});
  expect(arrow::decimal128(20, 2), R"(["-1.23", "9.99"])", {arrow::Decimal128(-123), arrow::Decimal128(999)},
         arrow::Decimal128(4));
}

TEST(BloomHashes, BothZerosAreLookedFor) {
  for (const std::string json : {"[0.0]", "[-0.0]"}) {
    OneFilter one(arrow::float64(), json);
    EXPECT_EQ(one.MightHold(0.0), true);
    EXPECT_EQ(one.MightHold(-0.0), true);
  }
  EXPECT_FALSE(BloomHashesOf(std::nan(""), {.type = PhysicalType::kDouble}, *arrow::float64()));
}

TEST(BloomHashes, WhatCannotBeToldIsNotHashed) {
  SchemaElement element;
  element.type = PhysicalType::kInt96;
  EXPECT_FALSE(BloomHashesOf(int64_t{1}, element, *arrow::timestamp(arrow::TimeUnit::MICRO)));
  element.type = PhysicalType::kBoolean;
  EXPECT_FALSE(BloomHashesOf(true, element, *arrow::boolean()));
  element.type = PhysicalType::kByteArray;
  EXPECT_FALSE(BloomHashesOf(arrow::Decimal128(1), element, *arrow::decimal128(9, 2)));
  element.type = PhysicalType::kInt64;
  EXPECT_FALSE(BloomHashesOf(std::string("1"), element, *arrow::utf8()));
}

TEST(BloomFilter, OfAnotherWriter) {
  CALVE_SHARED_DATA(folder);
  for (const char* name :
       {"data_index_bloom_encoding_stats.parquet", "data_index_bloom_encoding_with_length.parquet"}) {
    auto file = arrow::io::ReadableFile::Open(folder + "/parquet-testing/data/" + name).ValueOrDie();
    OneFilter one(file->ReadAt(0, file->GetSize().ValueOrDie()).ValueOrDie());
    ASSERT_TRUE(one.filter) << name;
    EXPECT_EQ(one.MightHold(std::string("Hello")), true);
    EXPECT_EQ(one.MightHold(std::string("the quick")), true);
    EXPECT_EQ(one.MightHold(std::string("Hello_Not_Exists")), false);
  }
}

TEST(BloomFilter, DamagedOnesAreNotUsed) {
  OneFilter one(arrow::int32(), "[1, 2]");
  ASSERT_TRUE(one.filter);
  const ColumnMetadata sound = one.column();
  const auto opens = [&](std::optional<int64_t> offset, std::optional<int32_t> length) {
    ColumnMetadata column = sound;
    column.bloom_filter_offset = offset;
    column.bloom_filter_length = length;
    return BloomFilter::Open(one.file.get(), column, one.footer->begin()).ValueOrDie().has_value();
  };
  EXPECT_TRUE(opens(sound.bloom_filter_offset, std::nullopt));
  EXPECT_FALSE(opens(std::nullopt, std::nullopt));
  EXPECT_FALSE(opens(-1, std::nullopt));
  EXPECT_FALSE(opens(one.footer->begin(), std::nullopt));
  EXPECT_FALSE(opens(int64_t{1} << 60, std::nullopt));
  EXPECT_FALSE(opens(sound.bloom_filter_offset, -1));
  EXPECT_FALSE(opens(sound.bloom_filter_offset, 20));
  EXPECT_FALSE(opens(*sound.bloom_filter_offset + 1, std::nullopt));
}

TEST(BloomFilter, OfALargeOneOnlyTheBlocksAskedForAreRead) {
  ::parquet::BlockSplitBloomFilter filter;
  filter.Init(1 << 20);
  for (uint64_t i = 1; i < 1000; ++i) filter.InsertHash(i * 0x9e3779b97f4a7c15u);
  const std::string bytes = "PAR1" + Written(filter) + "footer";
  arrow::io::BufferReader file(arrow::Buffer::FromString(bytes));
  ColumnMetadata column;
  column.bloom_filter_offset = 4;
  auto opened = BloomFilter::Open(&file, column, static_cast<int64_t>(bytes.size()) - 6).ValueOrDie();
  ASSERT_TRUE(opened);
  const int64_t before = opened->bytes_read();
  const std::vector<uint64_t> absent = {7, 0x1234567812345678u};
  EXPECT_FALSE(opened->MightHoldAny(absent).ValueOrDie());
  EXPECT_EQ(opened->bytes_read() - before, 2 * kBloomBlockBytes);
  EXPECT_TRUE(opened->MightHoldAny(std::vector<uint64_t>{7, 0x9e3779b97f4a7c15u * 500}).ValueOrDie());
}

}  // namespace
}  // namespace calve::parquet
