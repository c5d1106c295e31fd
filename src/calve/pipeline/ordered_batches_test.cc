#include "calve/pipeline/ordered_batches.h"

#include "calve/base/status.h"
#include "json_arrays.h"

#include <arrow/buffer.h>
#include <arrow/util/cancel.h>
#include <arrow/util/thread_pool.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace calve::pipeline {
namespace {

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

const auto kSchema = arrow::schema({arrow::field("n", arrow::int64())});

/// Yields `count` batches of one row: unit * 1000 + i.
class Numbers : public BatchSource {
 public:
  Numbers(int64_t unit, int64_t count, Status end = {}) : unit_(unit), count_(count), end_(std::move(end)) {}
  Result<BatchPtr> Next() override {
    if (next_ == count_) {
      ARROW_RETURN_NOT_OK(end_);
      return nullptr;
    }
    return testing::Batch(kSchema, "[[" + std::to_string(unit_ * 1000 + next_++) + "]]");
  }

 private:
  int64_t unit_, count_, next_ = 0;
  Status end_;
};

std::vector<BatchUnit> Units(int64_t count, int64_t batches, std::atomic<int>* open = nullptr) {
  std::vector<BatchUnit> units;
  for (int64_t u = 0; u < count; ++u) {
    units.push_back({[=]() -> Result<std::unique_ptr<BatchSource>> {
                       if (open != nullptr) ++*open;
                       return std::make_unique<Numbers>(u, batches);
                     },
                     100});
  }
  return units;
}

int64_t ValueOf(const arrow::RecordBatch& batch) {
  return static_cast<const arrow::Int64Array&>(*batch.column(0)).Value(0);
}

class OrderedBatchesTest : public ::testing::TestWithParam<int> {
 protected:
  Context MakeContext() const {
    Context context;
    context.threads = GetParam();
    return context;
  }
};

TEST_P(OrderedBatchesTest, YieldsEverythingInOrder) {
  OrderedBatches batches(MakeContext(), nullptr, Units(50, 7));
  for (int64_t u = 0; u < 50; ++u) {
    for (int64_t i = 0; i < 7; ++i) {
      auto batch = batches.Next();
      ASSERT_TRUE(batch.ok());
      ASSERT_NE(*batch, nullptr);
      EXPECT_EQ(ValueOf(**batch), u * 1000 + i);
    }
  }
  EXPECT_EQ(batches.Next().ValueOrDie(), nullptr);
  EXPECT_EQ(batches.Next().ValueOrDie(), nullptr);
}

TEST_P(OrderedBatchesTest, AnErrorComesInItsPlaceAndStays) {
  auto units = Units(3, 2);
  units[1].open = []() -> Result<std::unique_ptr<BatchSource>> {
    return std::make_unique<Numbers>(1, 1, Status::Invalid("broken"));
  };
  OrderedBatches batches(MakeContext(), nullptr, std::move(units));
  for (int64_t expected : {0, 1, 1000}) EXPECT_EQ(ValueOf(*batches.Next().ValueOrDie()), expected);
  EXPECT_EQ(batches.Next().status().message(), "broken");
  EXPECT_EQ(batches.Next().status().message(), "broken");
}

TEST_P(OrderedBatchesTest, CanBeDroppedHalfway) {
  for (int i = 0; i < 20; ++i) {
    OrderedBatches batches(MakeContext(), nullptr, Units(20, 5));
    for (int n = 0; n < i; ++n) ASSERT_TRUE(batches.Next().ok());
  }
}

TEST_P(OrderedBatchesTest, StopsWhenAsked) {
  arrow::StopSource source;
  arrow::StopToken token = source.token();
  Context context = MakeContext();
  context.stop = &token;
  OrderedBatches batches(context, nullptr, Units(5, 5));
  ASSERT_TRUE(batches.Next().ok());
  source.RequestStop();
  EXPECT_TRUE(batches.Next().status().IsCancelled());
}

TEST_P(OrderedBatchesTest, ABudgetBoundsWhatIsOpened) {
  Context context = MakeContext();
  context.memory_budget_bytes = 400;  // units weigh 100: two at a time
  std::atomic<int> opened{0};
  OrderedBatches batches(context, OperationPool::Make(context), Units(10, 3, &opened));
  ASSERT_TRUE(batches.Next().ok());
  EXPECT_LE(opened, 2);
  int count = 1;
  while (batches.Next().ValueOrDie() != nullptr) ++count;
  EXPECT_EQ(count, 30);
}

INSTANTIATE_TEST_SUITE_P(Threads, OrderedBatchesTest, ::testing::Values(1, 2, 8));

TEST(OrderedBatches, TwoStreamsShareOneThread) {
  auto pool = arrow::internal::ThreadPool::Make(1).ValueOrDie();
  Context context;
  context.executor = pool.get();
  context.threads = 4;
  OrderedBatches left(context, nullptr, Units(10, 10)), right(context, nullptr, Units(10, 10));
  int rows = 0;
  while (left.Next().ValueOrDie() != nullptr) {
    EXPECT_NE(right.Next().ValueOrDie(), nullptr);
    ++rows;
  }
  EXPECT_EQ(rows, 100);
}

}  // namespace
}  // namespace calve::pipeline
