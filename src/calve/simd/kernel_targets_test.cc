#include "calve/simd/bit_unpack.h"
#include "calve/simd/byte_stream_split.h"
#include "calve/simd/checks.h"
#include "calve/simd/compact.h"
#include "calve/simd/delta.h"
#include "calve/simd/delta_encode.h"
#include "calve/simd/gather.h"
#include "calve/simd/level_bits.h"
#include "calve/simd/min_max.h"
#include "calve/simd/run_bits.h"
#include "calve/simd/spread.h"

#include "each_target.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace calve::simd {
namespace {

std::vector<uint8_t> RandomBytes(size_t count, std::mt19937_64& random) {
  std::vector<uint8_t> bytes(count);
  for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

uint64_t ReadBits(const std::vector<uint8_t>& bytes, size_t bit, int width) {
  uint64_t value = 0;
  for (int b = 0; b < width; ++b, ++bit) value |= uint64_t{bytes[bit / 8] >> (bit % 8) & 1u} << b;
  return value;
}

template <typename T>
void CheckUnpack(int max_width, std::mt19937_64& random) {
  for (int width = 0; width <= max_width; ++width) {
    for (size_t count : {1, 7, 8, 9, 16, 31, 32, 33, 64, 300}) {
      for (size_t more : {0, 1, 9, 15, 16, 40}) {
        const auto packed = RandomBytes(PackedBytes(count, width) + more, random);
        std::vector<T> out(count);
        Unpack(packed, width, count, out.data());
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], ReadBits(packed, i * width, width)) << width << " " << i;
      }
    }
  }
}

TEST(KernelTargets, Unpack) {
  ForEachTarget([] {
    std::mt19937_64 random(1);
    CheckUnpack<uint32_t>(32, random);
    CheckUnpack<uint64_t>(64, random);
    CheckUnpack<uint8_t>(8, random);
  });
}

TEST(KernelTargets, Spread) {
  ForEachTarget([] {
    std::mt19937_64 random(2);
    for (size_t width : {1, 2, 4, 8, 12, 16, 5}) {
      for (size_t slots : {1, 7, 8, 9, 64, 200}) {
        for (size_t offset : {0, 3}) {
          const auto validity = RandomBytes((slots + offset + 7) / 8, random);
          size_t values = 0;
          for (size_t i = 0; i < slots; ++i) values += ReadBits(validity, offset + i, 1);
          auto data = RandomBytes(slots * width, random);
          const std::vector<uint8_t> packed(data.begin(), data.begin() + static_cast<ptrdiff_t>(values * width));
          std::vector<uint8_t> expected(slots * width), out(slots * width);
          for (size_t i = 0, next = 0; i < slots; ++i) {
            if (ReadBits(validity, offset + i, 1) == 0) continue;
            std::copy_n(data.begin() + static_cast<ptrdiff_t>(next++ * width), width,
                        expected.begin() + static_cast<ptrdiff_t>(i * width));
          }
          Spread(data.data(), width, values, slots, validity.data(), offset);
          ASSERT_EQ(data, expected) << width << " " << slots << " " << offset;
          SpreadFrom(packed.data(), width, values, slots, validity.data(), offset, out.data());
          ASSERT_EQ(out, expected) << width << " " << slots << " " << offset;
        }
      }
    }
  });
}

TEST(KernelTargets, SpreadOffsets) {
  ForEachTarget([] {
    std::mt19937_64 random(3);
    for (size_t slots : {1, 8, 63, 200}) {
      const auto validity = RandomBytes((slots + 7) / 8, random);
      std::vector<int32_t> ends, expected;
      int32_t end = 11;
      for (size_t i = 0; i < slots; ++i) {
        if (ReadBits(validity, i, 1) == 1) ends.push_back(end += static_cast<int32_t>(random() % 9));
        expected.push_back(end);
      }
      const size_t values = ends.size();
      ends.resize(slots, -1);
      SpreadOffsets(ends.data(), values, slots, validity.data(), 0, 11);
      ASSERT_EQ(ends, expected) << slots;
    }
  });
}

TEST(KernelTargets, JoinByteStreams) {
  ForEachTarget([] {
    std::mt19937_64 random(4);
    for (size_t width : {1, 2, 3, 4, 8, 16}) {
      for (size_t count : {1, 15, 16, 17, 100}) {
        const auto streams = RandomBytes(width * count, random);
        std::vector<uint8_t> out(width * count);
        JoinByteStreams(streams.data(), count, width, count, out.data());
        for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], streams[i % width * count + i / width]);
        std::vector<uint8_t> split(width * count);
        SplitByteStreams(out.data(), width, count, count, split.data());
        ASSERT_EQ(split, streams) << width << " " << count;
      }
    }
  });
}

TEST(KernelTargets, GatherAndRepeat) {
  ForEachTarget([] {
    std::mt19937_64 random(5);
    for (size_t width : {1, 2, 4, 8, 12, 16, 32, 7}) {
      for (size_t entries : {50, 16, 9, 8, 2}) {
        const auto values = RandomBytes(width * entries + kGatherSlackBytes, random);
        std::vector<uint32_t> indices(333);
        for (auto& index : indices) index = static_cast<uint32_t>(random() % entries);
        std::vector<uint8_t> out(width * indices.size());
        Gather(values.data(), width, entries, indices.data(), indices.size(), out.data());
        for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], values[indices[i / width] * width + i % width]);
        EXPECT_EQ(Largest(indices.data(), indices.size()), *std::max_element(indices.begin(), indices.end()));
      }
      const auto values = RandomBytes(width * 2, random);
      std::vector<uint8_t> out(width * 333);
      Repeat(values.data() + width, width, 333, out.data());
      for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], values[width + i % width]);
    }
    const auto bytes = RandomBytes(100, random);
    EXPECT_EQ(Largest(bytes.data(), bytes.size()), *std::max_element(bytes.begin(), bytes.end()));
    EXPECT_EQ(Largest(bytes.data(), 0), 0);
  });
}

template <typename T>
void CheckAreOffsets(std::mt19937_64& random) {
  for (size_t count : {0, 1, 2, 7, 8, 9, 16, 17, 33, 64, 65, 200}) {
    std::vector<T> offsets(count);
    T last = 0;
    for (T& offset : offsets) offset = last += static_cast<T>(random() % 3);
    ASSERT_TRUE(AreOffsets(offsets.data(), count)) << count;
    // One that is less than the one before, or negative, is seen wherever it is.
    for (size_t i = 0; i < count; ++i) {
      auto broken = offsets;
      broken[i] = -1;
      ASSERT_FALSE(AreOffsets(broken.data(), count)) << count << " " << i;
      if (i == 0) continue;
      broken[i] = offsets[i];
      broken[i - 1] = std::numeric_limits<T>::max();
      ASSERT_FALSE(AreOffsets(broken.data(), count)) << count << " " << i;
    }
  }
}

template <typename T>
void CheckMaxOf(std::mt19937_64& random) {
  for (size_t count : {0, 1, 7, 15, 16, 17, 33, 64, 65, 200}) {
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(random());
    const uint32_t expected = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
    ASSERT_EQ(MaxOf(values.data(), count), expected) << count;
  }
}

TEST(KernelTargets, Checks) {
  ForEachTarget([] {
    std::mt19937_64 random(12);
    CheckAreOffsets<int32_t>(random);
    CheckAreOffsets<int64_t>(random);
    CheckMaxOf<uint8_t>(random);
    CheckMaxOf<uint16_t>(random);
    CheckMaxOf<uint32_t>(random);
    for (size_t count : {0, 1, 15, 16, 63, 64, 65, 127, 256, 257, 300}) {
      std::vector<uint8_t> text(count);
      for (uint8_t& byte : text) byte = static_cast<uint8_t>(random() % 128);
      ASSERT_TRUE(IsAscii(text.data(), count)) << count;
      for (size_t i = 0; i < count; ++i) {
        text[i] |= 0x80;
        ASSERT_FALSE(IsAscii(text.data(), count)) << count << " " << i;
        text[i] &= 0x7f;
      }
    }
  });
}

template <typename T>
void CheckAddDeltas(std::mt19937_64& random) {
  for (size_t count : {0, 1, 7, 8, 16, 33, 200}) {
    std::vector<T> values(count), expected;
    const T min_delta = static_cast<T>(random()), first = static_cast<T>(random());
    T last = first;
    for (auto& value : values) {
      value = static_cast<T>(random());
      last = static_cast<T>(last + value + min_delta);
      expected.push_back(last);
    }
    EXPECT_EQ(AddDeltas(values.data(), count, min_delta, first), last);
    EXPECT_EQ(values, expected);
  }
}

TEST(KernelTargets, AddDeltas) {
  ForEachTarget([] {
    std::mt19937_64 random(7);
    CheckAddDeltas<uint32_t>(random);
    CheckAddDeltas<uint64_t>(random);
  });
}

template <typename T>
void CheckSubtractNeighbours(std::mt19937_64& random) {
  using Signed = std::make_signed_t<T>;
  for (size_t count : {0, 1, 7, 31, 32, 33, 127, 128}) {
    for (int shift : {0, 8, static_cast<int>(sizeof(T)) * 8 - 3}) {
      std::vector<T> values(count + 1), out(kDeltaBlock), expected(kDeltaBlock), bits(kDeltaMiniblocks);
      for (auto& value : values) value = static_cast<T>(random()) >> shift;
      Signed least = count == 0 ? 0 : std::numeric_limits<Signed>::max();
      for (size_t i = 0; i < count; ++i) least = std::min(least, static_cast<Signed>(values[i + 1] - values[i]));
      for (size_t i = 0; i < count; ++i) {
        expected[i] = static_cast<T>(values[i + 1] - values[i] - static_cast<T>(least));
      }
      EXPECT_EQ(SubtractNeighbours(values.data(), count, out.data(), bits.data()), least);
      EXPECT_EQ(out, expected);
      for (size_t m = 0; m < kDeltaMiniblocks; ++m) {
        T any = 0;
        for (size_t i = 0; i < kDeltaMiniblock; ++i) any |= expected[m * kDeltaMiniblock + i];
        EXPECT_EQ(bits[m], any);
      }
    }
  }
}

TEST(KernelTargets, SubtractNeighbours) {
  ForEachTarget([] {
    std::mt19937_64 random(9);
    CheckSubtractNeighbours<uint32_t>(random);
    CheckSubtractNeighbours<uint64_t>(random);
  });
}

TEST(KernelTargets, JoinPrefixes) {
  ForEachTarget([] {
    std::mt19937_64 random(8);
    for (size_t longest : {5, 31, 32, 33, 64, 70}) {
      std::string last = "before", expected, suffix_bytes;
      std::vector<int32_t> prefixes, suffixes;
      const std::string first = last;
      std::vector<size_t> ends;
      for (int i = 0; i < 200; ++i) {
        const size_t prefix = random() % (last.size() + 1);
        std::string suffix;
        while (prefix + suffix.size() < longest && random() % 8 != 0) suffix += static_cast<char>('a' + random() % 26);
        last = last.substr(0, prefix) + suffix;
        prefixes.push_back(static_cast<int32_t>(prefix));
        suffixes.push_back(static_cast<int32_t>(suffix.size()));
        suffix_bytes += suffix;
        expected += last;
        ends.push_back(expected.size());
      }
      // Blocks of exact sizes, so that the sanitizer sees a byte too many.
      const std::vector<uint8_t> bytes(suffix_bytes.begin(), suffix_bytes.end());
      std::vector<uint8_t> out(expected.size() + 64);
      const PrefixedStrings strings{prefixes.data(), suffixes.data(), prefixes.size(), bytes.data(), 0, bytes.size()};
      const size_t count =
          JoinPrefixes(strings, reinterpret_cast<const uint8_t*>(first.data()), first.size(), out.data());
      ASSERT_LE(count, ends.size());
      const size_t size = count == 0 ? 0 : ends[count - 1];
      EXPECT_EQ(std::string(out.begin(), out.begin() + static_cast<ptrdiff_t>(size)), expected.substr(0, size));
    }
  });
}

TEST(KernelTargets, LevelBits) {
  ForEachTarget([] {
    std::mt19937_64 random(6);
    for (size_t count : {1, 63, 64, 65, 200, 1000}) {
      std::vector<uint8_t> levels(count);
      for (auto& level : levels) level = static_cast<uint8_t>(random() % 5);
      std::vector<uint64_t> low((count + 63) / 64), high(low.size()), packed(low.size());
      BitsAtLeast(levels.data(), count, 1, low.data());
      BitsAtLeast(levels.data(), count, 3, high.data());
      const size_t total = CompressBits(high.data(), low.data(), count, packed.data());
      size_t next = 0;
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(low[i / 64] >> (i % 64) & 1, levels[i] >= 1);
        ASSERT_EQ(high[i / 64] >> (i % 64) & 1, levels[i] >= 3);
        if (levels[i] < 1) continue;
        ASSERT_EQ(packed[next / 64] >> (next % 64) & 1, levels[i] >= 3);
        ++next;
      }
      EXPECT_EQ(next, total);
      if (count % 64 != 0) EXPECT_EQ(low.back() >> (count % 64), 0);
    }
  });
}

TEST(KernelTargets, CountBitsBefore) {
  ForEachTarget([] {
    std::mt19937_64 random(16);
    for (size_t words : {0, 1, 2, 17}) {
      std::vector<uint64_t> bits(words), mask(words);
      for (auto& word : bits) word = random();
      for (auto& word : mask) word = random() % 3 == 0 ? ~uint64_t{0} : random() & random();
      std::vector<int32_t> expected, out(64 * words);
      int32_t before = 0;
      for (size_t i = 0; i < 64 * words; ++i) {
        if ((mask[i / 64] >> (i % 64) & 1) != 0) expected.push_back(before);
        before += static_cast<int32_t>(bits[i / 64] >> (i % 64) & 1);
      }
      EXPECT_EQ(CountBitsBefore(bits.data(), mask.data(), words, out.data()), before);
      out.resize(expected.size());
      EXPECT_EQ(out, expected);
    }
  });
}

TEST(KernelTargets, ExpandBits) {
  ForEachTarget([] {
    std::mt19937_64 random(10);
    for (size_t count : {1, 63, 64, 65, 200, 1000}) {
      for (bool others : {false, true}) {
        std::vector<uint64_t> mask((count + 63) / 64), bits(mask.size() + 1), out(mask.size());
        for (auto& word : mask) word = random() & random();
        for (auto& word : bits) word = random();
        if (count % 64 != 0) mask.back() &= ~uint64_t{0} >> (64 - count % 64);
        ExpandBits(bits.data(), mask.data(), count, others, out.data());
        size_t next = 0;
        for (size_t i = 0; i < count; ++i) {
          const bool taken = (mask[i / 64] >> (i % 64) & 1) != 0;
          const bool expected = taken ? (bits[next / 64] >> (next % 64) & 1) != 0 : others;
          next += taken ? 1 : 0;
          ASSERT_EQ((out[i / 64] >> (i % 64) & 1) != 0, expected) << i;
        }
        if (count % 64 != 0) EXPECT_EQ(out.back() >> (count % 64), 0);
      }
    }
  });
}

TEST(KernelTargets, Compact) {
  ForEachTarget([] {
    std::mt19937_64 random(12);
    for (size_t width : {1, 2, 4, 8, 12, 16, 5}) {
      for (size_t count : {0, 1, 7, 64, 65, 300}) {
        for (int density : {0, 1, 50, 99, 100}) {
          const size_t offset = random() % 13;
          std::vector<uint8_t> bits((offset + count + 7) / 8);
          const auto values = RandomBytes(count * width, random);
          std::vector<uint8_t> expected;
          for (size_t i = 0; i < count; ++i) {
            if (static_cast<int>(random() % 100) >= density) continue;
            bits[(offset + i) / 8] |= static_cast<uint8_t>(1 << ((offset + i) % 8));
            expected.insert(expected.end(), values.begin() + static_cast<ptrdiff_t>(i * width),
                            values.begin() + static_cast<ptrdiff_t>((i + 1) * width));
          }
          std::vector<uint8_t> out(expected.size() + kCompactSlackBytes);
          ASSERT_EQ(Compact(values.data(), width, bits.data(), offset, count, out.data()) * width, expected.size());
          out.resize(expected.size());
          ASSERT_EQ(out, expected) << width << " " << count << " " << density;
        }
      }
    }
  });
}

template <typename T>
void CheckMinMax(std::mt19937_64& random) {
  for (size_t count : {0, 1, 3, 16, 17, 63, 200}) {
    std::vector<T> values(count);
    T min = 5, max = 5, expected_min = 5, expected_max = 5;
    size_t nans = 0;
    for (T& value : values) {
      if constexpr (std::is_floating_point_v<T>) {
        value =
            random() % 5 == 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(static_cast<int64_t>(random()));
      } else {
        value = static_cast<T>(random());
      }
      if (value != value) ++nans;
      if (value < expected_min) expected_min = value;
      if (value > expected_max) expected_max = value;
    }
    EXPECT_EQ(MinMax(values.data(), count, &min, &max), nans);
    EXPECT_EQ(min, expected_min);
    EXPECT_EQ(max, expected_max);
  }
}

TEST(KernelTargets, MinMax) {
  ForEachTarget([] {
    std::mt19937_64 random(13);
    for (int round = 0; round < 50; ++round) {
      CheckMinMax<int32_t>(random);
      CheckMinMax<int64_t>(random);
      CheckMinMax<uint32_t>(random);
      CheckMinMax<uint64_t>(random);
      CheckMinMax<float>(random);
      CheckMinMax<double>(random);
    }
  });
}

TEST(KernelTargets, UniformBytes) {
  ForEachTarget([] {
    std::mt19937_64 random(14);
    for (size_t count : {1, 63, 64, 65, 200}) {
      std::vector<uint8_t> bytes(count);
      for (uint8_t& byte : bytes)
        byte = random() % 3 == 0 ? 0 : random() % 2 == 0 ? 0xFF : static_cast<uint8_t>(random());
      std::vector<uint64_t> zeros((count + 63) / 64), ones(zeros.size());
      UniformBytes(bytes.data(), count, zeros.data(), ones.data());
      for (size_t i = 0; i < zeros.size() * 64; ++i) {
        EXPECT_EQ((zeros[i / 64] >> (i % 64) & 1) != 0, i < count && bytes[i] == 0x00) << i;
        EXPECT_EQ((ones[i / 64] >> (i % 64) & 1) != 0, i < count && bytes[i] == 0xFF) << i;
      }
    }
  });
}

TEST(KernelTargets, PackLevels) {
  ForEachTarget([] {
    std::mt19937_64 random(11);
    for (int width = 1; width <= 8; ++width) {
      for (size_t count : {1, 64, 65, 300}) {
        const size_t planes_count = (size_t{1} << width) - 1, words = (count + 63) / 64;
        std::vector<std::vector<uint64_t>> planes(planes_count, std::vector<uint64_t>(words));
        std::vector<const uint64_t*> pointers;
        std::vector<uint64_t> levels(words * 64);
        for (auto& plane : planes) {
          for (size_t w = 0; w < words; ++w) plane[w] = random();
          for (size_t i = 0; i < levels.size(); ++i) levels[i] += plane[i / 64] >> (i % 64) & 1;
          pointers.push_back(plane.data());
        }
        std::vector<uint8_t> out(words * 8 * static_cast<size_t>(width) + kPackLevelsSlackBytes);
        PackLevels(pointers.data(), planes_count, width, count, out.data());
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(ReadBits(out, i * width, width), levels[i]) << width << " " << i;
      }
    }
  });
}

TEST(KernelTargets, EqualToNext) {
  std::mt19937_64 random(8);
  ForEachTarget([&] {
    for (size_t count = 0; count < 300; ++count) {
      std::vector<uint32_t> values(count);
      for (auto& value : values) value = static_cast<uint32_t>(random() % 2) << 31;
      std::vector<uint64_t> bits((count + 63) / 64, ~uint64_t{0});
      EqualToNext(values.data(), count, bits.data());
      for (size_t i = 0; i < bits.size() * 64; ++i) {
        const bool same = i + 1 < count && values[i] == values[i + 1];
        ASSERT_EQ(bits[i / 64] >> (i % 64) & 1, same ? 1u : 0u) << i << " of " << count;
      }
    }
  });
}

}  // namespace
}  // namespace calve::simd
