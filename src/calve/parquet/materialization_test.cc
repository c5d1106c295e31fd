#include "calve/parquet/materialization.h"

#include <gtest/gtest.h>

namespace calve::parquet {
namespace {

TEST(Materialization, OfNoneAndOfAll) {
  EXPECT_EQ(ChooseMaterialization(1000, 0, 0), Materialization::kNothing);
  EXPECT_EQ(ChooseMaterialization(1000, 1000, 1), Materialization::kEveryRow);
}

TEST(Materialization, LongRunsAreReadByRows) {
  EXPECT_EQ(ChooseMaterialization(1000, 400, 2), Materialization::kByRows);
  EXPECT_EQ(ChooseMaterialization(1000, 400, 50), Materialization::kByRows);
}

TEST(Materialization, ShortRunsAndDenseOnesByMask) {
  EXPECT_EQ(ChooseMaterialization(1000, 400, 51), Materialization::kByMask);
  EXPECT_EQ(ChooseMaterialization(1000, 501, 1), Materialization::kByMask);
  EXPECT_EQ(ChooseMaterialization(1000, 100, 100), Materialization::kByMask);
}

TEST(Materialization, FewRowsByRowsHoweverShortTheRuns) {
  EXPECT_EQ(ChooseMaterialization(1000, 19, 19), Materialization::kByRows);
  EXPECT_EQ(ChooseMaterialization(1000, 20, 20), Materialization::kByMask);
}

}  // namespace
}  // namespace calve::parquet
