#include "calve/io/coalesce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace calve {

void PrintTo(const ByteRange& range, std::ostream* out) { *out << range.offset << "+" << range.size_bytes; }

namespace {

using Ranges = std::vector<ByteRange>;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Ranges Merged(Ranges ranges, int64_t gap, int64_t largest = kMax) {
  auto merged = Coalesce(std::move(ranges), gap, largest);
  EXPECT_TRUE(merged.ok()) << merged.status();
  return merged.ValueOr(Ranges{});
}

TEST(GapBytes, IsLatencyTimesBandwidth) {
  EXPECT_EQ(GapBytes({30'000, 100'000'000}), 3'000'000);  // an object store: 30 ms at 100 MB/s
  EXPECT_EQ(GapBytes({20, 2'000'000'000}), 40'000);       // a local disk: 20 us at 2 GB/s
  EXPECT_EQ(GapBytes({1, 1'500'000}), 1);                 // 1.5 bytes, rounded down
  EXPECT_EQ(GapBytes({3, 1'500'000}), 4);
  EXPECT_EQ(GapBytes({0, 1'000'000}), 0);
  EXPECT_EQ(GapBytes({-5, -5}), 0);
  EXPECT_EQ(GapBytes({kMax, kMax}), kMax);
  EXPECT_EQ(GapBytes({kMax, 1'000'000}), kMax);
}

TEST(Coalesce, MergesUpToTheGap) {
  const Ranges ranges = {{0, 10}, {15, 10}, {31, 10}};
  EXPECT_EQ(Merged(ranges, 4), ranges);
  EXPECT_EQ(Merged(ranges, 5), (Ranges{{0, 25}, {31, 10}}));
  EXPECT_EQ(Merged(ranges, 6), (Ranges{{0, 41}}));
}

TEST(Coalesce, RangesThatTouchAreMergedWithoutAGap) {
  EXPECT_EQ(Merged({{0, 4}, {4, 4}, {9, 1}}, 0), (Ranges{{0, 8}, {9, 1}}));
}

TEST(Coalesce, SortsAndDropsEmptyRanges) {
  EXPECT_EQ(Merged({{100, 5}, {50, 0}, {0, 5}, {7, 3}}, 2), (Ranges{{0, 10}, {100, 5}}));
  EXPECT_EQ(Merged({}, 10), Ranges{});
  EXPECT_EQ(Merged({{5, 0}}, 10), Ranges{});
}

TEST(Coalesce, OverlappingAndContainedRanges) {
  EXPECT_EQ(Merged({{0, 100}, {10, 5}, {90, 20}}, 0), (Ranges{{0, 110}}));
  EXPECT_EQ(Merged({{0, 100}, {0, 100}, {0, 50}}, 0), (Ranges{{0, 100}}));
}

TEST(Coalesce, ReadsStopAtTheLargestSize) {
  const Ranges ranges = {{0, 10}, {10, 10}, {20, 10}};
  EXPECT_EQ(Merged(ranges, 0, 20), (Ranges{{0, 20}, {20, 10}}));
  EXPECT_EQ(Merged(ranges, 0, 19), ranges);
  // One that is too large by itself is read as it is, and takes in what lies inside it.
  EXPECT_EQ(Merged({{0, 50}, {10, 5}, {50, 5}}, 0, 20), (Ranges{{0, 50}, {50, 5}}));
  // Overlapping ranges that may not be merged stay whole.
  EXPECT_EQ(Merged({{0, 15}, {10, 15}}, 0, 20), (Ranges{{0, 15}, {10, 15}}));
}

TEST(Coalesce, AtTheEndOfInt64) {
  EXPECT_EQ(Merged({{0, 1}, {kMax - 1, 1}}, kMax, kMax), (Ranges{{0, kMax}}));
  EXPECT_EQ(Merged({{0, 1}, {kMax - 1, 1}}, kMax, kMax - 1), (Ranges{{0, 1}, {kMax - 1, 1}}));
  EXPECT_EQ(Merged({{0, kMax}}, 0, 10), (Ranges{{0, kMax}}));
}

TEST(Coalesce, RefusesWhatIsNoRange) {
  for (const ByteRange& range : {ByteRange{-1, 5}, ByteRange{5, -1}, ByteRange{kMax, 1}, ByteRange{1, kMax}}) {
    const auto merged = Coalesce({{0, 1}, range}, 10, 100);
    EXPECT_TRUE(merged.status().IsInvalid());
    EXPECT_THAT(merged.status().message(), ::testing::StartsWith("no range of a file: "));
  }
}

}  // namespace
}  // namespace calve
