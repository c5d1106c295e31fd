#include "calve/simd/spread.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace calve::simd {
namespace {

struct Pattern {
  std::vector<uint8_t> bits;
  std::vector<bool> valid;
  size_t values_count = 0;
};

Pattern RandomPattern(size_t bit_offset, size_t slots, int percent_valid, std::mt19937& random) {
  Pattern pattern;
  pattern.bits.assign((bit_offset + slots + 7) / 8, 0);
  for (size_t i = 0; i < slots; ++i) {
    const bool valid = static_cast<int>(random() % 100) < percent_valid;
    pattern.valid.push_back(valid);
    pattern.values_count += valid ? 1 : 0;
    const size_t bit = bit_offset + i;
    if (valid) pattern.bits[bit / 8] = static_cast<uint8_t>(pattern.bits[bit / 8] | 1 << (bit % 8));
  }
  return pattern;
}

TEST(Spread, EveryWidthAndDensity) {
  std::mt19937 random(3);
  for (size_t width : {0, 1, 2, 3, 4, 8, 12, 16, 20}) {
    for (int percent : {0, 10, 50, 90, 100}) {
      for (size_t slots : {0, 1, 9, 64, 131}) {
        const Pattern pattern = RandomPattern(5, slots, percent, random);
        std::vector<uint8_t> data(slots * width, 0xee), expected;
        for (size_t i = 0; i < pattern.values_count * width; ++i) data[i] = static_cast<uint8_t>(i * 7 + 1);
        size_t next = 0;
        for (bool valid : pattern.valid) {
          for (size_t b = 0; b < width; ++b)
            expected.push_back(valid ? static_cast<uint8_t>((next * width + b) * 7 + 1) : 0);
          next += valid ? 1 : 0;
        }
        Spread(data.data(), width, pattern.values_count, slots, pattern.bits.data(), 5);
        ASSERT_EQ(data, expected) << width << " " << percent << " " << slots;
      }
    }
  }
}

TEST(Spread, Offsets) {
  // Values end at 3, 7, 7; slots: null, value, null, null, value, value, null.
  std::vector<int32_t> ends = {3, 7, 7, 0, 0, 0, 0};
  const uint8_t validity[] = {0b0110010 << 1 & 0xff};
  SpreadOffsets(ends.data(), 3, 7, validity, 1, 1);
  EXPECT_EQ(ends, (std::vector<int32_t>{1, 3, 3, 3, 7, 7, 7}));
}

}  // namespace
}  // namespace calve::simd
