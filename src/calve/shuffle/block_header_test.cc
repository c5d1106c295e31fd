#include "calve/shuffle_block.h"

#include <gtest/gtest.h>

#include <vector>

namespace calve {
namespace {

// The head of a block of Comet's, by hand from the specification.
const std::vector<uint8_t> kHead = {0x40, 0x03, 0, 0, 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0, 0, 'L', 'Z', '4', '_'};

TEST(ShuffleBlockHeader, Fields) {
  const auto header = ParseShuffleBlockHeader(kHead);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->length, 0x340);
  EXPECT_EQ(header->block_size(), 0x348);
  EXPECT_EQ(header->payload_size(), 0x334);
  EXPECT_EQ(header->field_count, 17);
  EXPECT_EQ(header->codec, ShuffleCodec::kLz4);
}

TEST(ShuffleBlockHeader, WrittenAsRead) {
  std::vector<uint8_t> out(ShuffleBlockHeader::kSize);
  PutShuffleBlockHeader(*ParseShuffleBlockHeader(kHead), out.data());
  EXPECT_EQ(out, kHead);
}

TEST(ShuffleBlockHeader, TheFifthTagIsZstdWithItsHighBitSet) {
  auto head = kHead;
  head[16] = 0xDA, head[17] = 'S', head[18] = 'T', head[19] = 'D';
  EXPECT_EQ(ParseShuffleBlockHeader(head)->codec, ShuffleCodec::kZstdOffsetsAsLengths);
  head[16] = 'Z';
  EXPECT_EQ(ParseShuffleBlockHeader(head)->codec, ShuffleCodec::kZstd);
}

TEST(ShuffleBlockHeader, TruncatedAtEveryByte) {
  for (size_t size = 0; size < kHead.size(); ++size) {
    const auto status = ParseShuffleBlockHeader(std::span(kHead).first(size), 100).status();
    ASSERT_TRUE(status.IsInvalid()) << size;
    EXPECT_NE(status.message().find("at byte 100"), std::string::npos) << status;
  }
}

TEST(ShuffleBlockHeader, RefusesLengthsAndTagsByName) {
  auto head = kHead;
  head[3] = 0x80;  // INT32_MAX is 7fffffff
  EXPECT_NE(ParseShuffleBlockHeader(head).status().message().find("length 2147484480"), std::string::npos);
  head = kHead;
  head[0] = 11, head[1] = 0;
  EXPECT_TRUE(ParseShuffleBlockHeader(head).status().IsInvalid());
  head[0] = 12;
  EXPECT_TRUE(ParseShuffleBlockHeader(head).ok());
  head[19] = '5';
  EXPECT_EQ(ParseShuffleBlockHeader(head, 7).status().message(), "shuffle block at byte 23: unknown tag 4c5a3435");
}

}  // namespace
}  // namespace calve
