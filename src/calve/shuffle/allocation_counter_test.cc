#include "allocation_counter.h"
#include "replace_operator_new.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace calve::testing {
namespace {

TEST(AllocationCounter, CountsNewAndPool) {
  Allocations counted;
  CountingPool pool(&counted);
  uint8_t* memory = nullptr;
  {
    const CountNew count(&counted);
    auto kept = std::make_unique<std::string>(1000, 'x');
    ASSERT_TRUE(pool.Allocate(128, &memory).ok());
    EXPECT_EQ(counted.count, 3);
    EXPECT_GE(counted.live, 1128);
  }
  pool.Free(memory, 128);
  EXPECT_EQ(counted.live, 0);
  EXPECT_GE(counted.peak, 1128);
}

}  // namespace
}  // namespace calve::testing
