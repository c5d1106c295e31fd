#include "calve/hash/hash.h"

#include <gtest/gtest.h>

#include <cstring>
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
}

}  // namespace
}  // namespace calve
