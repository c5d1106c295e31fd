#include "calve/pipeline/rewrite_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace calve::pipeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

BinPackSizes Sizes(int64_t target, const RewriteOptions& options = {}) {
  return BinPackSizes::Make(options, target).ValueOrDie();
}

TEST(BinPackSizes, DefaultsAreSharesOfTheTarget) {
  const auto sizes = Sizes(1000);
  EXPECT_EQ(sizes.min_bytes, 750);
  EXPECT_EQ(sizes.max_bytes, 1800);
  EXPECT_EQ(sizes.WriteMaxBytes(), 1400);
}

TEST(BinPackSizes, TheLargestTargetThereCanBe) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t target : {kMost, kMost - 1, kMost / 2}) {
    auto made = BinPackSizes::Make({}, target);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    EXPECT_GT(made->min_bytes, 0);
    EXPECT_LT(made->min_bytes, target);
    EXPECT_GE(made->max_bytes, target);
    EXPECT_EQ(made->ExpectedOutputFiles(1000), 1);
    EXPECT_EQ(made->ExpectedOutputFiles(kMost - 2), target == kMost / 2 ? 2 : 1);
    EXPECT_EQ(made->RollBytes(kMost - 2), std::clamp(made->RollBytes(kMost - 2), target, made->WriteMaxBytes()));
    EXPECT_EQ(made->RollBytes(1000), target);
  }
}

TEST(BinPack, SumsThatLeave64BitsAreTheLargestThereIs) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  RewriteOptions options;
  options.rewrite_all = true;
  options.max_file_group_size_bytes = kMost;
  EXPECT_THAT(BinPack(std::vector<int64_t>{kMost, 5, 6}, Sizes(1000, options)),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
}

TEST(BinPackSizes, RefusesSizesThatDoNotGoTogether) {
  RewriteOptions options;
  options.min_file_size_bytes = 1000;
  EXPECT_THAT(BinPackSizes::Make(options, 1000).status().message(), HasSubstr("min-file-size-bytes"));
  options = {};
  options.max_file_size_bytes = 1000;
  EXPECT_THAT(BinPackSizes::Make(options, 1000).status().message(), HasSubstr("max-file-size-bytes"));
  options = {};
  options.min_input_files = 0;
  EXPECT_THAT(BinPackSizes::Make(options, 1000).status().message(), HasSubstr("min-input-files"));
  options = {};
  options.max_file_group_size_bytes = 0;
  EXPECT_THAT(BinPackSizes::Make(options, 1000).status().message(), HasSubstr("max-file-group-size-bytes"));
  options = {};
  options.target_file_size_bytes = -1;
  EXPECT_THAT(BinPackSizes::Make(options, 1000).status().message(), HasSubstr("target-file-size-bytes"));
}

TEST(BinPackSizes, ExpectedOutputFilesSpreadsASmallRest) {
  const auto sizes = Sizes(1000);
  EXPECT_EQ(sizes.ExpectedOutputFiles(10), 1);
  EXPECT_EQ(sizes.ExpectedOutputFiles(1000), 1);
  EXPECT_EQ(sizes.ExpectedOutputFiles(1099), 1);    // one file of 1.099 targets
  EXPECT_EQ(sizes.ExpectedOutputFiles(1100), 2);    // no longer under 1.1 targets
  EXPECT_EQ(sizes.ExpectedOutputFiles(1800), 2);    // the rest is over the minimum
  EXPECT_EQ(sizes.ExpectedOutputFiles(10500), 10);  // 1,050 each
  EXPECT_EQ(sizes.ExpectedOutputFiles(10751), 11);
}

TEST(BinPackSizes, RollBytesLiesBetweenTargetAndWriteMaximum) {
  const auto sizes = Sizes(int64_t{10} << 20);
  EXPECT_EQ(sizes.RollBytes(100), sizes.target_bytes);
  EXPECT_EQ(sizes.RollBytes(sizes.target_bytes * 105 / 100), sizes.target_bytes * 105 / 100 + 5120);
  EXPECT_LE(sizes.RollBytes(sizes.target_bytes * 3), sizes.WriteMaxBytes());
}

TEST(BinPack, LeavesFilesOfAGoodSizeAlone) {
  EXPECT_THAT(BinPack(std::vector<int64_t>{750, 1000, 1800, 900, 1200, 800}, Sizes(1000)), IsEmpty());
}

TEST(BinPack, NeedsEnoughFilesOrEnoughContent) {
  EXPECT_THAT(BinPack(std::vector<int64_t>{10, 10, 10, 10}, Sizes(1000)), IsEmpty());
  EXPECT_THAT(BinPack(std::vector<int64_t>{10, 10, 10, 10, 10}, Sizes(1000)), ElementsAre(ElementsAre(0, 1, 2, 3, 4)));
  EXPECT_THAT(BinPack(std::vector<int64_t>{700, 400}, Sizes(1000)), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(BinPack(std::vector<int64_t>{10}, Sizes(1000)), IsEmpty());
}

TEST(BinPack, OneFileOverTheMaximumIsAGroup) {
  EXPECT_THAT(BinPack(std::vector<int64_t>{1801, 1000}, Sizes(1000)), ElementsAre(ElementsAre(0)));
}

TEST(BinPack, MinInputFilesOfOneStillNeedsTwo) {
  RewriteOptions options;
  options.min_input_files = 1;
  EXPECT_THAT(BinPack(std::vector<int64_t>{10}, Sizes(1000, options)), IsEmpty());
  EXPECT_THAT(BinPack(std::vector<int64_t>{10, 20}, Sizes(1000, options)), ElementsAre(ElementsAre(0, 1)));
}

TEST(BinPack, GroupsAreBounded) {
  RewriteOptions options;
  options.max_file_group_size_bytes = 100;
  options.min_input_files = 2;
  EXPECT_THAT(BinPack(std::vector<int64_t>{60, 40, 50, 50, 1, 2000, 3}, Sizes(1000, options)),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(5)));
}

TEST(BinPack, RewriteAllTakesEverything) {
  RewriteOptions options;
  options.rewrite_all = true;
  EXPECT_THAT(BinPack(std::vector<int64_t>{1000}, Sizes(1000, options)), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(BinPack(std::vector<int64_t>{}, Sizes(1000, options)), IsEmpty());
}

}  // namespace
}  // namespace calve::pipeline
