#include "calve/parquet/level_decoder.h"

#include <arrow/memory_pool.h>
#include <arrow/util/bit_util.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

namespace calve::parquet {
namespace {

using Bytes = std::vector<uint8_t>;

Result<Bytes> Levels(Result<LevelDecoder> decoder, int64_t count, int64_t step) {
  ARROW_RETURN_NOT_OK(decoder);
  Bytes out(static_cast<size_t>(count));
  for (int64_t done = 0; done < count; done += step) {
    ARROW_RETURN_NOT_OK(decoder->Decode(std::min(step, count - done), out.data() + done));
  }
  return out;
}

Result<std::vector<bool>> Validity(Result<LevelDecoder> decoder, int64_t count, int64_t step) {
  ARROW_RETURN_NOT_OK(decoder);
  ValidityBuilder builder(arrow::default_memory_pool());
  for (int64_t done = 0; done < count; done += step) {
    ARROW_RETURN_NOT_OK(decoder->DecodeValidity(std::min(step, count - done), &builder));
  }
  std::vector<bool> out;
  for (int64_t i = 0; i < count; ++i)
    out.push_back(builder.bits() == nullptr || arrow::bit_util::GetBit(builder.bits(), i));
  EXPECT_EQ(builder.size(), count);
  EXPECT_EQ(builder.null_count(), std::count(out.begin(), out.end(), false));
  return out;
}

/// 5 times 2, then 8 packed: 0 1 2 3 0 1 2 3 (two bits each), with their length in front.
const Bytes kV1 = {5, 0, 0, 0, 0x0A, 0x02, 0x03, 0xE4, 0xE4};

TEST(LevelDecoder, V1TakesItsBytesFromTheBody) {
  Bytes body = kV1;
  body.push_back(0x77);
  for (int64_t step : {1, 4, 13}) {
    ByteCursor cursor(body);
    EXPECT_EQ(Levels(LevelDecoder::FromV1(Encoding::kRle, 3, 13, &cursor), 13, step).ValueOrDie(),
              (Bytes{2, 2, 2, 2, 2, 0, 1, 2, 3, 0, 1, 2, 3}));
    EXPECT_EQ(cursor.offset(), kV1.size());
  }
}

TEST(LevelDecoder, V2) {
  const Bytes runs(kV1.begin() + 4, kV1.end());
  EXPECT_EQ(Levels(LevelDecoder::FromV2(3, runs), 13, 6).ValueOrDie(), (Bytes{2, 2, 2, 2, 2, 0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(LevelDecoder, NoLevelsWhenTheLargestIsZero) {
  ByteCursor cursor(kV1);
  EXPECT_EQ(Levels(LevelDecoder::FromV1(Encoding::kRle, 0, 4, &cursor), 4, 4).ValueOrDie(), Bytes(4, 0));
  EXPECT_EQ(cursor.offset(), 0u);
}

TEST(LevelDecoder, DeprecatedBitPackedIsMsbFirst) {
  // The specification's vector: 0 to 7 in three bits, from the most significant bit on.
  const Bytes bytes = {0b00000101, 0b00111001, 0b01110111, 0xff};
  ByteCursor cursor(bytes);
  EXPECT_EQ(Levels(LevelDecoder::FromV1(Encoding::kBitPacked, 7, 8, &cursor), 8, 3).ValueOrDie(),
            (Bytes{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(cursor.offset(), 3u);
  ByteCursor one_bit(bytes);
  EXPECT_EQ(Validity(LevelDecoder::FromV1(Encoding::kBitPacked, 1, 8, &one_bit), 8, 5).ValueOrDie(),
            (std::vector<bool>{false, false, false, false, false, true, false, true}));
}

TEST(LevelDecoder, ValidityKeepsRuns) {
  // 70 times 1; 8 packed 1 1 0 1 0 0 0 1; 3 times 0.
  const Bytes runs = {0x8C, 0x01, 0x01, 0x03, 0x8B, 0x06, 0x00};
  std::vector<bool> expected(70, true);
  for (bool bit : {true, true, false, true, false, false, false, true, false, false, false}) expected.push_back(bit);
  for (int64_t step : {1, 9, 64, 81})
    EXPECT_EQ(Validity(LevelDecoder::FromV2(1, runs), 81, step).ValueOrDie(), expected);
}

/// Runs of both kinds and the levels, up to `largest`, that they stand for.
struct RandomRuns {
  Bytes bytes, levels;

  RandomRuns(uint64_t seed, int largest_level) : random(seed), largest(static_cast<uint64_t>(largest_level)) {
    const uint64_t longest = random() % 2 == 0 ? 10 : 300;
    while (levels.size() < 3000) random() % 2 == 0 ? AddRepeated(1 + random() % longest) : AddPacked();
  }

  std::vector<bool> validity() const { return {levels.begin(), levels.end()}; }

 private:
  void AddHeader(uint64_t header) {
    for (; header >= 0x80; header >>= 7) bytes.push_back(static_cast<uint8_t>(header | 0x80));
    bytes.push_back(static_cast<uint8_t>(header));
  }
  void AddRepeated(uint64_t count) {
    AddHeader(count << 1);
    bytes.push_back(static_cast<uint8_t>(random() % (largest + 1)));
    levels.insert(levels.end(), count, bytes.back());
  }
  void AddPacked() {
    const uint64_t groups = 1 + random() % (random() % 4 == 0 ? 70 : 4);
    const int width = std::bit_width(largest);
    AddHeader(groups << 1 | 1);
    for (uint64_t group = 0; group < groups; ++group) {
      uint64_t packed = 0;
      for (int i = 0; i < 8; ++i) {
        levels.push_back(static_cast<uint8_t>(random() % (largest + 1)));
        packed |= uint64_t{levels.back()} << (i * width);
      }
      for (int i = 0; i < width; ++i) bytes.push_back(static_cast<uint8_t>(packed >> (8 * i)));
    }
  }

  std::mt19937_64 random;
  uint64_t largest;
};

TEST(LevelDecoder, LevelsOfRandomRuns) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const int largest = 1 + static_cast<int>(seed % 20);
    const RandomRuns runs(seed, largest);
    const auto count = static_cast<int64_t>(runs.levels.size());
    for (const int64_t step : {int64_t{1}, int64_t{63}, int64_t{500}, count}) {
      EXPECT_EQ(Levels(LevelDecoder::FromV2(largest, runs.bytes), count, step).ValueOrDie(), runs.levels) << seed;
    }
    EXPECT_TRUE(Levels(LevelDecoder::FromV2(largest, runs.bytes), count + 1, count + 1).status().IsInvalid());
  }
}

TEST(LevelDecoder, ShortRunsOfLevelsCutAtEveryByte) {
  const RandomRuns runs(0, 5);
  const auto count = static_cast<int64_t>(runs.levels.size());
  for (size_t size = 0; size < runs.bytes.size(); ++size) {
    const Bytes exact(runs.bytes.begin(), runs.bytes.begin() + static_cast<int64_t>(size));
    EXPECT_TRUE(Levels(LevelDecoder::FromV2(5, exact), count, count).status().IsInvalid()) << size;
  }
}

TEST(LevelDecoder, RefusesALevelTooLargeAmongShortRunsOfLevels) {
  Bytes runs;
  for (int i = 0; i < 40; ++i) runs.insert(runs.end(), {0x06, 0x02, 0x03, 0x24, 0x49});
  const auto status = [&] { return Levels(LevelDecoder::FromV2(2, runs), 440, 440).status(); };
  EXPECT_TRUE(status().ok());
  for (const uint8_t repeated : {3, 15, 16, 255}) {
    runs[51] = repeated;
    EXPECT_EQ(status().message(), fmt::format("level {} out of range (the largest is 2)", repeated));
  }
  runs[51] = 2;
  runs[54] = 0x4d;
  EXPECT_EQ(status().message(), "level 3 out of range (the largest is 2)");
  runs[54] = 0x49;
  runs[50] = 0;  // a run of no values
  EXPECT_TRUE(status().IsInvalid());
}

TEST(LevelDecoder, ValidityOfRandomRuns) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const RandomRuns runs(seed, 1);
    const auto count = static_cast<int64_t>(runs.levels.size());
    for (const int64_t step : {int64_t{1}, int64_t{57}, int64_t{500}, count}) {
      EXPECT_EQ(Validity(LevelDecoder::FromV2(1, runs.bytes), count, step).ValueOrDie(), runs.validity()) << seed;
    }
    EXPECT_TRUE(Validity(LevelDecoder::FromV2(1, runs.bytes), count + 1, count + 1).status().IsInvalid());
  }
}

TEST(LevelDecoder, ShortRunsCutAtEveryByte) {
  const RandomRuns runs(0, 1);
  const auto count = static_cast<int64_t>(runs.levels.size());
  for (size_t size = 0; size < runs.bytes.size(); ++size) {
    const Bytes exact(runs.bytes.begin(), runs.bytes.begin() + static_cast<int64_t>(size));
    EXPECT_TRUE(Validity(LevelDecoder::FromV2(1, exact), count, count).status().IsInvalid()) << size;
  }
}

TEST(LevelDecoder, RefusesALevelTooLargeAmongShortRuns) {
  Bytes runs;
  for (int i = 0; i < 20; ++i) runs.insert(runs.end(), {0x06, 0x00, 0x03, 0x55});
  EXPECT_TRUE(Validity(LevelDecoder::FromV2(1, runs), 220, 220).ok());
  runs[41] = 2;
  EXPECT_EQ(Validity(LevelDecoder::FromV2(1, runs), 220, 220).status().message(),
            "level 2 out of range (the largest is 1)");
  runs[41] = 0;
  runs[40] = 0;  // a run of no values
  EXPECT_TRUE(Validity(LevelDecoder::FromV2(1, runs), 220, 220).status().IsInvalid());
}

TEST(LevelDecoder, RefusesLevelsTooLarge) {
  EXPECT_EQ(Levels(LevelDecoder::FromV2(2, Bytes{0x03, 0xE4, 0xE4}), 8, 8).status().message(),
            "level 3 out of range (the largest is 2)");
  EXPECT_EQ(Levels(LevelDecoder::FromV2(2, Bytes{0x06, 0x07}), 3, 3).status().message(),
            "level 7 out of range (the largest is 2)");
  EXPECT_EQ(Validity(LevelDecoder::FromV2(1, Bytes{0x06, 0x02}), 3, 3).status().message(),
            "level 2 out of range (the largest is 1)");
}

TEST(LevelDecoder, TruncatedAtEveryByte) {
  for (size_t size = 0; size < kV1.size(); ++size) {
    const Bytes cut(kV1.begin(), kV1.begin() + size);
    ByteCursor cursor(cut);
    EXPECT_TRUE(Levels(LevelDecoder::FromV1(Encoding::kRle, 3, 13, &cursor), 13, 13).status().IsInvalid()) << size;
  }
}

TEST(LevelDecoder, RefusesALengthBeyondThePage) {
  const Bytes bytes = {0xff, 0xff, 0xff, 0x7f, 0x0A, 0x02};
  ByteCursor cursor(bytes);
  EXPECT_EQ(LevelDecoder::FromV1(Encoding::kRle, 3, 5, &cursor).status().message(),
            "2147483647 bytes of levels, the page has 2");
}

}  // namespace
}  // namespace calve::parquet
