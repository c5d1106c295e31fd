#include "calve/parquet/rle_decoder.h"

#include <arrow/result.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace calve::parquet {
namespace {

using Bytes = std::vector<uint8_t>;

/// Decodes `count` values in parts of at most `step`.
arrow::Result<std::vector<uint32_t>> Decode(const Bytes& bytes, int bit_width, int64_t count, int64_t step) {
  const Bytes exact(bytes);  // a heap block of its own, for the sanitizer
  RunReader runs(exact, bit_width);
  std::vector<uint32_t> out(static_cast<size_t>(count));
  for (int64_t done = 0; done < count;) {
    Run run;
    ARROW_RETURN_NOT_OK(runs.Next(std::min(step, count - done), &run));
    if (run.packed == nullptr) {
      std::fill_n(out.begin() + done, run.count, run.value);
    } else {
      UnpackRun(run, bit_width, out.data() + done);
    }
    done += run.count;
  }
  return out;
}

TEST(RleDecoder, SpecificationBitPackedVector) {
  // 0 to 7 in three bits.
  const Bytes bytes = {0x03, 0x88, 0xC6, 0xFA};
  for (int64_t step : {1, 3, 5, 8}) {
    EXPECT_EQ(Decode(bytes, 3, 8, step).ValueOrDie(), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7})) << step;
  }
}

TEST(RleDecoder, RepeatedValueOfSeveralBytes) {
  // 100 times 0x12345 in 17 bits: three bytes.
  EXPECT_EQ(Decode({0xC8, 0x01, 0x45, 0x23, 0x01}, 17, 100, 7).ValueOrDie(), std::vector<uint32_t>(100, 0x12345));
}

TEST(RleDecoder, RunsOfBothKinds) {
  // 3 times 1; 8 packed values 1 0 1 0 1 0 1 0; 2 times 0.
  const Bytes bytes = {0x06, 0x01, 0x03, 0x55, 0x04, 0x00};
  const std::vector<uint32_t> expected = {1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0};
  for (int64_t step = 1; step <= 13; ++step) EXPECT_EQ(Decode(bytes, 1, 13, step).ValueOrDie(), expected) << step;
}

TEST(RleDecoder, BitWidthZero) {
  EXPECT_EQ(Decode({0x14}, 0, 10, 4).ValueOrDie(), std::vector<uint32_t>(10, 0));
  EXPECT_EQ(Decode({0x05}, 0, 16, 4).ValueOrDie(), std::vector<uint32_t>(16, 0));
}

TEST(RleDecoder, LastGroupMayBeCutShort) {
  // One group of 3 bits, of which the values 0, 1 are there.
  EXPECT_EQ(Decode({0x03, 0x88}, 3, 2, 2).ValueOrDie(), (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(Decode({0x03, 0x88}, 3, 3, 3).status().IsInvalid());
}

TEST(RleDecoder, TruncatedAtEveryByte) {
  const Bytes bytes = {0xC8, 0x01, 0x45, 0x23, 0x01, 0x03, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
  ASSERT_TRUE(Decode(bytes, 17, 108, 50).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto got = Decode(Bytes(bytes.begin(), bytes.begin() + size), 17, 108, 50);
    EXPECT_TRUE(got.status().IsInvalid()) << size;
  }
}

TEST(RleDecoder, RefusesAnAbsurdRun) {
  const Bytes bytes = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00};
  EXPECT_THAT(Decode(bytes, 1, 5, 5).status().message(), ::testing::HasSubstr("a run of"));
}

TEST(RleDecoder, RefusesARunOfNoValues) {
  // 0 times the value 7, 0 groups, then 5 times the value 1.
  EXPECT_EQ(Decode({0x00, 0x07, 0x0A, 0x01}, 3, 5, 5).status().message(), "a run of 0 values at byte 1");
  EXPECT_EQ(Decode({0x01, 0x0A, 0x01}, 3, 5, 5).status().message(), "a run of 0 values at byte 1");
  // Behind the values that are needed it may stand.
  EXPECT_TRUE(Decode({0x0A, 0x01, 0x00, 0x00}, 3, 5, 5).ok());
}

}  // namespace
}  // namespace calve::parquet
