#include "calve/hash/hash.h"
#include "calve/hash/spark_murmur3.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

namespace calve {
namespace {

std::span<const uint8_t> Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

int32_t HashOfLong(int64_t value) {
  uint8_t bytes[8];
  std::memcpy(bytes, &value, 8);
  return static_cast<int32_t>(Murmur3(bytes, 0));
}

int32_t HashOf(std::vector<uint8_t> bytes) { return static_cast<int32_t>(Murmur3(bytes, 0)); }

// The values of the Iceberg specification, Appendix B.
TEST(Murmur3, IcebergAppendixB) {
  EXPECT_EQ(HashOfLong(34), 2017239379);
  EXPECT_EQ(HashOfLong(17486), -653330422);              // date 2017-11-16
  EXPECT_EQ(HashOfLong(81068000000), -662762989);        // time 22:31:08
  EXPECT_EQ(HashOfLong(1510871468000000), -2047944441);  // timestamp 2017-11-16T22:31:08
  EXPECT_EQ(HashOfLong(1510871468000001), -1207196810);  // one microsecond later
  EXPECT_EQ(HashOf({0x05, 0x8c}), -500754589);           // decimal 14.20
  EXPECT_EQ(static_cast<int32_t>(Murmur3(Bytes("iceberg"), 0)), 1210000089);
  EXPECT_EQ(HashOf({0xf7, 0x9c, 0x3e, 0x09, 0x67, 0x7c, 0x4b, 0xbd, 0xa4, 0x79, 0x3f, 0x34, 0x9c, 0xb7, 0x85, 0xe7}),
            1488055340);  // uuid
  EXPECT_EQ(HashOf({0, 1, 2, 3}), -188683207);
}

// The reference implementation's well known values.
TEST(Murmur3, EveryTailLengthAndSeed) {
  EXPECT_EQ(Murmur3({}, 0), 0u);
  EXPECT_EQ(Murmur3({}, 1), 0x514e28b7u);
  EXPECT_EQ(Murmur3({}, 0xffffffff), 0x81f16f39u);
  EXPECT_EQ(HashOf({0xff, 0xff, 0xff, 0xff}), static_cast<int32_t>(0x76293b50));
  EXPECT_EQ(HashOf({0x21, 0x43, 0x65, 0x87}), static_cast<int32_t>(0xf55b516b));
  EXPECT_EQ(HashOf({0x21, 0x43, 0x65}), static_cast<int32_t>(0x7e4a8634));
  EXPECT_EQ(HashOf({0x21, 0x43}), static_cast<int32_t>(0xa0f7b07a));
  EXPECT_EQ(HashOf({0x21}), static_cast<int32_t>(0x72661cf4));
}

TEST(Crc32, CheckValue) {
  EXPECT_EQ(Crc32({}), 0u);
  EXPECT_EQ(Crc32(Bytes("123456789")), 0xcbf43926u);
  EXPECT_EQ(Crc32(Bytes("The quick brown fox jumps over the lazy dog")), 0x414fa339u);
  EXPECT_EQ(Crc32(Bytes("jumps over the lazy dog"), Crc32({}, Crc32(Bytes("The quick brown fox ")))), 0x414fa339u);
}

// RFC 3720, appendix B.4, and the catalogue's check value.
TEST(Crc32c, PublishedValues) {
  std::vector<uint8_t> ascending(32);
  for (size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<uint8_t>(i);
  for (const auto crc : {&Crc32c, &Crc32cByTables}) {
    EXPECT_EQ(crc({}, 0), 0u);
    EXPECT_EQ(crc(Bytes("123456789"), 0), 0xe3069283u);
    EXPECT_EQ(crc(std::vector<uint8_t>(32, 0x00), 0), 0x8a9136aau);
    EXPECT_EQ(crc(std::vector<uint8_t>(32, 0xff), 0), 0x62a8ab43u);
    EXPECT_EQ(crc(ascending, 0), 0x46dd794eu);
  }
}

TEST(Crc32c, InPartsAsInOne) {
  const auto bytes = Bytes("The quick brown fox jumps over the lazy dog");
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(Crc32c(bytes.subspan(cut), Crc32c(bytes.first(cut))), Crc32c(bytes));
    EXPECT_EQ(Crc32cByTables(bytes.subspan(cut)), Crc32c(bytes.subspan(cut)));
  }
}

// Values of Spark's hash().
TEST(SparkMurmur3, SparksValues) {
  EXPECT_EQ(spark::HashInt(1, spark::kSeed), 0xdea578e3u);
  EXPECT_EQ(spark::HashLong(1, spark::kSeed), 0x99f0149du);
  EXPECT_EQ(spark::HashBytes(Bytes("hello"), spark::kSeed), 3286402344u);
  EXPECT_EQ(spark::HashBytes({}, spark::kSeed), 142593372u);
  EXPECT_EQ(spark::HashBytes(Bytes("abc"), spark::kSeed), 1322437556u);
}

TEST(SparkMurmur3, PartitionsOfLongs) {
  const int64_t values[] = {1, 0, -1, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  std::vector<uint32_t> partitions;
  for (const int64_t value : values) partitions.push_back(spark::PartitionOf(spark::HashLong(value, 42), 200));
  EXPECT_EQ(partitions, (std::vector<uint32_t>{69, 5, 193, 171, 115}));
}

TEST(SparkMurmur3, ZerosAndNaNs) {
  EXPECT_EQ(spark::HashFloat(-0.0f, 42), spark::HashInt(0, 42));
  EXPECT_EQ(spark::HashDouble(-0.0, 42), spark::HashLong(0, 42));
  EXPECT_EQ(spark::HashFloat(std::bit_cast<float>(0xffc12345), 42), spark::HashInt(0x7fc00000, 42));
  EXPECT_EQ(spark::HashDouble(std::bit_cast<double>(0xfff8000000000001), 42), spark::HashLong(0x7ff8000000000000, 42));
}

// Values that the reference implementation and its bindings publish.
TEST(Xxh64, PublishedValues) {
  EXPECT_EQ(Xxh64({}, 0), 0xef46db3751d8e999u);
  EXPECT_EQ(Xxh64(Bytes("a"), 0), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(Xxh64(Bytes("abc"), 0), 0x44bc2cf5ad770999u);
  EXPECT_EQ(Xxh64(Bytes("Nobody inspects the spammish repetition"), 0), 0xfbcea83c8a378bf1u);
  EXPECT_EQ(Xxh64(Bytes("Nobody inspects the spammish repetition"), 20141025), 0xce06936136852706u);
}

// Folded values of the reference implementation for every size up to 100: all ways through stripes and remainders.
TEST(Xxh64, EverySize) {
  std::vector<uint8_t> bytes(100);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 + 11);
  uint64_t folded = 0;
  for (size_t size = 0; size <= bytes.size(); ++size) folded = folded * 31 + Xxh64({bytes.data(), size}, 0);
  EXPECT_EQ(folded, 0xc855358325fd13f0u);
}

}  // namespace
}  // namespace calve
