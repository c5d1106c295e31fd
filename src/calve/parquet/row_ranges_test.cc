#include "calve/parquet/row_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace calve::parquet {
namespace {

using Rows = std::set<int64_t>;

Rows RowsOf(const RowRanges& ranges) {
  Rows rows;
  for (const RowRange& range : ranges.ranges()) {
    for (int64_t row = range.begin; row < range.end; ++row) rows.insert(row);
  }
  return rows;
}

/// Ranges are sorted, not empty and do not touch; the count is theirs.
void ExpectSound(const RowRanges& ranges) {
  int64_t last = -1;
  for (const RowRange& range : ranges.ranges()) {
    EXPECT_GT(range.begin, last);
    EXPECT_LT(range.begin, range.end);
    last = range.end;
  }
  EXPECT_EQ(ranges.count(), static_cast<int64_t>(RowsOf(ranges).size()));
}

RowRanges Random(std::mt19937& random, int64_t num_rows) {
  RowRanges ranges;
  for (int64_t row = random() % 4; row < num_rows;) {
    const int64_t end = std::min<int64_t>(num_rows, row + random() % 6);
    ranges.Append({row, end});
    row = end + random() % 6;
  }
  return ranges;
}

TEST(RowRanges, SetOperationsAgainstSets) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const RowRanges a = Random(random, 40), b = Random(random, 40);
    const Rows in_a = RowsOf(a), in_b = RowsOf(b);
    Rows both, either = in_a;
    either.insert(in_b.begin(), in_b.end());
    std::set_intersection(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(), std::inserter(both, both.end()));
    ExpectSound(Intersect(a, b));
    ExpectSound(Union(a, b));
    ASSERT_EQ(RowsOf(Intersect(a, b)), both);
    ASSERT_EQ(RowsOf(Union(a, b)), either);
    const int64_t begin = random() % 40, end = begin + random() % 8;
    ASSERT_EQ(a.Overlaps(begin, end), !Intersect(a, RowRanges::Of(begin, end)).empty());
  }
}

TEST(RowRanges, SlicesByPosition) {
  std::mt19937 random(8);
  for (int i = 0; i < 2000; ++i) {
    const RowRanges a = Random(random, 40);
    const Rows rows = RowsOf(a);
    const int64_t offset = random() % 12, count = random() % 12;
    Rows expected;
    int64_t position = 0;
    for (int64_t row : rows) {
      if (position >= offset && position < offset + count) expected.insert(row);
      ++position;
    }
    ExpectSound(a.Slice(offset, count));
    ASSERT_EQ(RowsOf(a.Slice(offset, count)), expected);
  }
}

TEST(RowRanges, MasksAtAnyBitOffset) {
  std::mt19937 random(9);
  for (int i = 0; i < 2000; ++i) {
    const RowRanges a = Random(random, 60);
    uint8_t bits[16];
    for (uint8_t& byte : bits) byte = static_cast<uint8_t>(random());
    const int64_t bit_offset = random() % 9;
    Rows expected;
    int64_t bit = bit_offset;
    for (int64_t row : RowsOf(a)) {
      if ((bits[bit / 8] >> (bit % 8) & 1) != 0) expected.insert(row);
      ++bit;
    }
    const RowRanges masked = a.Masked(bits, bit_offset);
    ExpectSound(masked);
    ASSERT_EQ(RowsOf(masked), expected);
  }
}

TEST(RowRanges, JoinsWhatTouchesAndDropsWhatIsEmpty) {
  const RowRanges ranges = *RowRanges::Make({{0, 0}, {1, 3}, {3, 5}, {7, 7}, {8, 9}});
  EXPECT_EQ(ranges.ranges(), (std::vector<RowRange>{{1, 5}, {8, 9}}));
  EXPECT_EQ(ranges.count(), 5);
}

TEST(RowRanges, RefusesRangesOutOfOrder) {
  EXPECT_FALSE(RowRanges::Make({{3, 5}, {4, 6}}).ok());
  EXPECT_FALSE(RowRanges::Make({{3, 2}}).ok());
  EXPECT_FALSE(RowRanges::Make({{-1, 2}}).ok());
  EXPECT_TRUE(RowRanges::Make({}).ok());
}

TEST(RowRanges, OfPages) {
  const std::vector<int64_t> first_rows = {0, 2, 4};
  EXPECT_EQ(RowRanges::OfPages(first_rows, 5, {true, true, false}), RowRanges::Of(0, 4));
  EXPECT_EQ(RowRanges::OfPages(first_rows, 5, {false, false, true}), RowRanges::Of(4, 5));
  EXPECT_EQ(RowRanges::OfPages(first_rows, 5, {true, false, true}), *RowRanges::Make({{0, 2}, {4, 5}}));
}

TEST(RowRanges, MisalignedPagesShareRows) {
  // Pages of the predicate [0,1][2,3][4], of the payload [0-2][3,4]: row 2 needs the second and the first.
  const RowRanges wanted = RowRanges::OfPages(std::vector<int64_t>{0, 2, 4}, 5, {false, true, false});
  EXPECT_TRUE(wanted.Overlaps(0, 3));
  EXPECT_TRUE(wanted.Overlaps(3, 5));
  EXPECT_EQ(Intersect(wanted, RowRanges::Of(0, 3)), RowRanges::Of(2, 3));
}

}  // namespace
}  // namespace calve::parquet
