#include "calve/simd/bit_unpack.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace calve::simd {
namespace {

/// Packs bit by bit: the definition, and nothing else.
std::vector<uint8_t> Pack(const std::vector<uint64_t>& values, int width) {
  std::vector<uint8_t> out(PackedBytes(values.size(), width));
  for (size_t i = 0; i < values.size(); ++i) {
    for (int b = 0; b < width; ++b) {
      const size_t bit = i * width + b;
      out[bit / 8] |= static_cast<uint8_t>((values[i] >> b & 1) << (bit % 8));
    }
  }
  return out;
}

template <typename T>
void CheckAllWidths(int max_width) {
  std::mt19937_64 random(7);
  for (int width = 0; width <= max_width; ++width) {
    for (size_t count : {0, 1, 7, 8, 31, 32, 33, 64, 100, 257}) {
      std::vector<uint64_t> values(count);
      for (auto& value : values) value = width == 64 ? random() : random() & ((uint64_t{1} << width) - 1);
      // A heap block of the exact size, so that the sanitizer sees a byte too many.
      const std::vector<uint8_t> packed = Pack(values, width);
      std::vector<T> out(count);
      Unpack(packed, width, count, out.data());
      ASSERT_TRUE(std::equal(values.begin(), values.end(), out.begin(), out.end())) << width << " " << count;
    }
  }
}

TEST(BitUnpack, SpecificationVector) {
  // 0 to 7 in three bits, as the specification packs them: 10001000 11000110 11111010.
  const uint8_t packed[] = {0b10001000, 0b11000110, 0b11111010};
  uint32_t out[8];
  Unpack(packed, 3, 8, out);
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(out[i], i);
}

TEST(BitUnpack, EveryWidth32) { CheckAllWidths<uint32_t>(32); }
TEST(BitUnpack, EveryWidth64) { CheckAllWidths<uint64_t>(64); }
TEST(BitUnpack, EveryWidth8) { CheckAllWidths<uint8_t>(8); }

}  // namespace
}  // namespace calve::simd
