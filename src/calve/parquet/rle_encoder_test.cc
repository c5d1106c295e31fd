#include "calve/parquet/rle_encoder.h"

#include "calve/parquet/level_encoder.h"
#include "calve/parquet/packed_rle.h"

#include <arrow/util/bit_util.h>
#include <gtest/gtest.h>

#include <random>

namespace calve::parquet {
namespace {

/// The hybrid, read by the letter of the specification. Counts runs; padding must be zeros.
std::vector<uint32_t> Decode(const ByteBuffer& bytes, int bit_width, size_t count, int* runs = nullptr) {
  std::vector<uint32_t> values;
  int64_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      value |= static_cast<uint64_t>(bytes[at] & 0x7F) << shift;
      if ((bytes[at++] & 0x80) == 0) return value;
    }
  };
  while (at < bytes.size()) {
    EXPECT_LT(values.size(), count);
    const uint64_t header = varint();
    if ((header & 1) == 0) {
      if (runs != nullptr) ++*runs;
      uint32_t value = 0;
      for (int b = 0; b < bit_width; b += 8) value |= static_cast<uint32_t>(bytes[at++]) << b;
      values.insert(values.end(), header >> 1, value);
      continue;
    }
    const auto packed = static_cast<int64_t>((header >> 1) * 8);
    for (int64_t i = 0; i < packed; ++i) {
      uint32_t value = 0;
      for (int b = 0; b < bit_width; ++b) {
        value |= static_cast<uint32_t>(arrow::bit_util::GetBit(bytes.data() + at, i * bit_width + b)) << b;
      }
      if (values.size() < count) {
        values.push_back(value);
      } else {
        EXPECT_EQ(value, 0u) << "padding";
      }
    }
    at += packed / 8 * bit_width;
  }
  EXPECT_EQ(at, bytes.size());
  return values;
}

std::vector<uint8_t> Bytes(const ByteBuffer& buffer) { return {buffer.data(), buffer.data() + buffer.size()}; }

// Encodings.md: 0 to 7 with width 3 are 10001000 11000110 11111010; a packed run of one group goes before.
TEST(RleEncoder, SpecificationVector) {
  ByteBuffer out(arrow::default_memory_pool());
  const uint32_t values[] = {0, 1, 2, 3, 4, 5, 6, 7};
  ASSERT_TRUE(EncodeRle<uint32_t>(values, 3, &out).ok());
  EXPECT_EQ(Bytes(out), (std::vector<uint8_t>{0x03, 0x88, 0xC6, 0xFA}));
}

TEST(RleEncoder, RunOfOneValue) {
  ByteBuffer out(arrow::default_memory_pool());
  const std::vector<uint32_t> values(200, 300);
  ASSERT_TRUE(EncodeRle<uint32_t>(values, 9, &out).ok());
  EXPECT_EQ(Bytes(out), (std::vector<uint8_t>{0x90, 0x03, 0x2C, 0x01}));
}

TEST(RleEncoder, NothingIsNoByte) {
  ByteBuffer out(arrow::default_memory_pool());
  ASSERT_TRUE(EncodeRle<uint32_t>({}, 9, &out).ok());
  ASSERT_TRUE(EncodePackedRle(nullptr, 0, 1, &out).ok());
  EXPECT_TRUE(out.empty());
}

TEST(RleEncoder, RandomRunsOfEveryWidth) {
  std::mt19937 random(5);
  for (int width = 0; width <= 32; ++width) {
    for (int round = 0; round < 40; ++round) {
      std::vector<uint32_t> values;
      const auto mask = static_cast<uint32_t>((uint64_t{1} << width) - 1);
      while (values.size() < 300) values.insert(values.end(), random() % (round % 2 == 0 ? 30 : 3), random() & mask);
      values.resize(random() % 300);
      ByteBuffer out(arrow::default_memory_pool());
      ASSERT_TRUE(EncodeRle<uint32_t>(values, width, &out).ok());
      ASSERT_EQ(Decode(out, width, values.size()), values) << "width " << width;
    }
  }
}

TEST(RleEncoder, BitsOfEveryLengthAndDensity) {
  std::mt19937 random(6);
  for (int round = 0; round < 3000; ++round) {
    const int64_t count = static_cast<int64_t>(random() % 500);
    // Bits after the last one are dirty.
    std::vector<uint8_t> bits(static_cast<size_t>(count / 8 + 1), static_cast<uint8_t>(random()));
    std::vector<uint32_t> expected;
    bool value = false;
    for (int64_t i = 0; i < count; ++i) {
      const int kind = round % 4;
      value = kind == 0            ? (random() & 1) != 0
              : kind == 1          ? random() % 100 == 0
              : kind == 2          ? random() % 100 != 0
              : random() % 60 == 0 ? !value
                                   : value;
      arrow::bit_util::SetBitTo(bits.data(), i, value);
      expected.push_back(value ? 1 : 0);
    }
    ByteBuffer out(arrow::default_memory_pool());
    ASSERT_TRUE(EncodePackedRle(bits.data(), count, 1, &out).ok());
    ASSERT_EQ(Decode(out, 1, expected.size()), expected) << "round " << round << " count " << count;
  }
}

/// Runs of eight equal values, packed groups otherwise: what the usual encoders do.
size_t UsualBytes(const std::vector<uint8_t>& values, int bit_width) {
  size_t bytes = 0, groups = 0;
  const auto end_packed = [&] {
    for (; groups > 0; groups -= std::min<size_t>(groups, 63)) bytes += 1 + std::min<size_t>(groups, 63) * bit_width;
  };
  for (size_t i = 0; i < values.size();) {
    size_t end = i + 1;
    while (end < values.size() && values[end] == values[i]) ++end;
    if (end - i >= 8) {
      end_packed();
      bytes += (end - i < 64 ? 1 : end - i < 8192 ? 2 : 3) + 1;
      i = end;
    } else {
      ++groups;
      i += 8;
    }
  }
  end_packed();
  return bytes;
}

TEST(RleEncoder, PackedValuesOfEveryWidthAndDensity) {
  std::mt19937 random(16);
  int64_t bytes = 0, usual_bytes = 0;
  for (int round = 0; round < 4000; ++round) {
    const int width = 1 + round % 8;
    const int64_t count = static_cast<int64_t>(random() % 700);
    const unsigned change[] = {1, 2, 3, 10, 25, 100, 300};
    std::vector<uint8_t> values;
    uint8_t value = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (random() % change[round / 8 % 7] == 0) value = static_cast<uint8_t>(random() & ((1u << width) - 1));
      values.push_back(value);
    }
    // Exactly as long as the values; bits after the last one are dirty.
    std::vector<uint8_t> packed(static_cast<size_t>((count * width + 7) / 8), 0xFF);
    for (int64_t bit = 0; bit < count * width; ++bit) {
      arrow::bit_util::SetBitTo(packed.data(), bit, (values[static_cast<size_t>(bit / width)] >> bit % width & 1) != 0);
    }
    ByteBuffer out(arrow::default_memory_pool());
    ASSERT_TRUE(EncodePackedRle(packed.data(), count, width, &out).ok());
    const std::vector<uint32_t> expected(values.begin(), values.end());
    ASSERT_EQ(Decode(out, width, expected.size()), expected) << "round " << round << " count " << count;
    bytes += out.size();
    usual_bytes += static_cast<int64_t>(UsualBytes(values, width));
  }
  // A single stream may be lucky with where its runs begin.
  EXPECT_LE(bytes, usual_bytes);
}

TEST(RleEncoder, LongStreamsOfBitsAreNoLargerThanUsual) {
  std::mt19937 random(17);
  for (unsigned null_permille : {0, 10, 100, 250, 500, 900, 990, 999, 1000}) {
    constexpr int64_t kCount = 1 << 17;
    std::vector<uint8_t> values, bits(kCount / 8);
    for (int64_t i = 0; i < kCount; ++i) {
      values.push_back(random() % 1000 >= null_permille ? 1 : 0);
      arrow::bit_util::SetBitTo(bits.data(), i, values.back() != 0);
    }
    ByteBuffer out(arrow::default_memory_pool());
    ASSERT_TRUE(EncodePackedRle(bits.data(), kCount, 1, &out).ok());
    EXPECT_LE(out.size(), static_cast<int64_t>(UsualBytes(values, 1))) << null_permille;
  }
}

TEST(RleEncoder, BitsThatAreAllTheSameAreOneRun) {
  for (int64_t count : {1, 7, 8, 9, 31, 32, 33, 1000, 20000}) {
    for (uint8_t byte : {0x00, 0xFF}) {
      std::vector<uint8_t> bits(static_cast<size_t>(count / 8 + 1), byte);
      ByteBuffer out(arrow::default_memory_pool());
      ASSERT_TRUE(EncodePackedRle(bits.data(), count, 1, &out).ok());
      int runs = 0;
      EXPECT_EQ(Decode(out, 1, static_cast<size_t>(count), &runs).size(), static_cast<size_t>(count));
      EXPECT_EQ(runs, 1);
      EXPECT_LE(out.size(), 4);
    }
  }
}

TEST(LevelEncoder, BitsAtAnyOffsetRunsAndLevelsMix) {
  std::mt19937 random(7);
  for (int max_level : {1, 2, 5}) {
    for (int round = 0; round < 200; ++round) {
      LevelEncoder encoder(max_level, arrow::default_memory_pool());
      std::vector<uint32_t> expected;
      for (int part = 0; part < 6; ++part) {
        const int64_t count = static_cast<int64_t>(random() % 170);
        const int kind = static_cast<int>(random() % 3);
        if (kind == 0 && max_level == 1) {
          const int64_t offset = static_cast<int64_t>(random() % 66);
          std::vector<uint8_t> bits(40);
          for (uint8_t& byte : bits) byte = static_cast<uint8_t>(random());
          ASSERT_TRUE(encoder.AppendBits(bits.data(), offset, count).ok());
          for (int64_t i = 0; i < count; ++i) expected.push_back(arrow::bit_util::GetBit(bits.data(), offset + i));
        } else if (kind == 1) {
          const auto level = static_cast<int16_t>(random() % static_cast<unsigned>(max_level + 1));
          ASSERT_TRUE(encoder.AppendRun(level, count).ok());
          expected.insert(expected.end(), static_cast<size_t>(count), static_cast<uint32_t>(level));
        } else {
          std::vector<BitPlane> planes;
          for (int k = 0; k < max_level; ++k) planes.emplace_back(arrow::default_memory_pool());
          for (int64_t i = 0; i < count; ++i) {
            const int level = static_cast<int>(random() % static_cast<unsigned>(max_level + 1));
            for (int k = 0; k < max_level; ++k)
              ASSERT_TRUE(planes[static_cast<size_t>(k)].AppendRun(level > k, 1).ok());
            expected.push_back(static_cast<uint32_t>(level));
          }
          ASSERT_TRUE(encoder.Append(planes).ok());
        }
      }
      EXPECT_EQ(encoder.count(), static_cast<int64_t>(expected.size()));
      ByteBuffer out(arrow::default_memory_pool());
      ASSERT_TRUE(encoder.Flush(&out).ok());
      ASSERT_EQ(Decode(out, max_level == 1 ? 1 : max_level == 2 ? 2 : 3, expected.size()), expected);
      EXPECT_EQ(encoder.count(), 0);
    }
  }
}

TEST(LevelEncoder, NoLevelsWhenTheLargestIsZero) {
  LevelEncoder encoder(0, arrow::default_memory_pool());
  ASSERT_TRUE(encoder.AppendRun(0, 100).ok());
  EXPECT_EQ(encoder.estimated_bytes(), 0);
  ByteBuffer out(arrow::default_memory_pool());
  ASSERT_TRUE(encoder.Flush(&out).ok());
  EXPECT_TRUE(out.empty());
}

}  // namespace
}  // namespace calve::parquet
