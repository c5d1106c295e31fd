#include "calve/simd/byte_stream_split.h"

#include <gtest/gtest.h>

#include <vector>

namespace calve::simd {
namespace {

TEST(JoinByteStreams, SpecificationVector) {
  // Three values AA BB CC DD, 00 11 22 33, A3 B4 C5 D6, of the specification.
  const uint8_t streams[] = {0xAA, 0x00, 0xA3, 0xBB, 0x11, 0xB4, 0xCC, 0x22, 0xC5, 0xDD, 0x33, 0xD6};
  std::vector<uint8_t> out(12);
  JoinByteStreams(streams, 3, 4, 3, out.data());
  EXPECT_EQ(out, (std::vector<uint8_t>{0xAA, 0xBB, 0xCC, 0xDD, 0x00, 0x11, 0x22, 0x33, 0xA3, 0xB4, 0xC5, 0xD6}));
}

TEST(JoinByteStreams, EveryWidth) {
  for (size_t width = 1; width <= 17; ++width) {
    const size_t count = 1300;
    std::vector<uint8_t> streams(width * count), out(width * count), expected(width * count);
    for (size_t i = 0; i < count; ++i) {
      for (size_t b = 0; b < width; ++b) {
        streams[b * count + i] = expected[i * width + b] = static_cast<uint8_t>(i * 31 + b * 17);
      }
    }
    JoinByteStreams(streams.data(), count, width, count, out.data());
    ASSERT_EQ(out, expected) << width;
  }
}

}  // namespace
}  // namespace calve::simd
