#include "calve/parquet/column_tasks.h"

#include <arrow/util/cancel.h>
#include <arrow/util/thread_pool.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace calve::parquet {
namespace {

Context Threads(int count) {
  Context context;
  context.threads = count;
  return context;
}

TEST(RunColumns, EveryRoundOnceAndInOrder) {
  for (const int threads : {1, 2, 5}) {
    for (const int64_t columns : {0, 1, 3, 40}) {
      for (const int64_t rounds : {1, 7}) {
        std::vector<int64_t> weights(static_cast<size_t>(columns));
        for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<int64_t>(i * 7 % 5);
        std::vector<std::atomic<int64_t>> next(weights.size()), inside(weights.size());
        const auto status = RunColumns(Threads(threads), weights, rounds, [&](int64_t column, int64_t round) {
          const auto at = static_cast<size_t>(column);
          EXPECT_EQ(inside[at]++, 0);
          EXPECT_EQ(next[at]++, round);
          --inside[at];
          return Status::OK();
        });
        ASSERT_TRUE(status.ok()) << status;
        for (const auto& count : next) EXPECT_EQ(count, rounds);
      }
    }
  }
}

TEST(RunColumns, TheHeaviestBegins) {
  std::mutex mutex;
  std::condition_variable changed;
  bool heaviest_begun = false;
  std::vector<int64_t> begun;
  const std::vector<int64_t> weights = {1, 5, 3, 9, 3};
  ASSERT_TRUE(RunColumns(Threads(2), weights, 1, [&](int64_t column, int64_t) {
                std::unique_lock<std::mutex> lock(mutex);
                heaviest_begun |= column == 3;
                changed.notify_all();
                // The other thread has it, or had it: nothing else has to be dealt out first.
                EXPECT_TRUE(changed.wait_for(lock, std::chrono::minutes(1), [&] { return heaviest_begun; }));
                begun.push_back(column);
                return Status::OK();
              }).ok());
  ASSERT_EQ(begun.size(), weights.size());
  // Two threads, so those that are dealt out last and last but one may come in either order.
  EXPECT_TRUE(begun[3] == 0 || begun[4] == 0);
}

TEST(RunColumns, FailuresEndIt) {
  for (const int threads : {1, 3}) {
    std::atomic<int64_t> after{0};
    const std::vector<int64_t> weights(50, 1);
    const auto status = RunColumns(Threads(threads), weights, 100, [&](int64_t column, int64_t round) {
      if (column == 2 && round == 1) return Status::Invalid("two");
      if (column == 2 && round > 1) ++after;
      return Status::OK();
    });
    EXPECT_EQ(status.ToString(), "Invalid: two");
    EXPECT_EQ(after, 0);
  }
}

TEST(RunColumns, StopsWhenAsked) {
  for (const int threads : {1, 2}) {
    arrow::StopSource source;
    const arrow::StopToken token = source.token();
    Context context = Threads(threads);
    context.stop = &token;
    std::atomic<int64_t> rounds{0}, late{0};
    std::atomic<bool> stopped{false};
    const std::vector<int64_t> weights(4, 1);
    const auto status = RunColumns(context, weights, 1000, [&](int64_t, int64_t) {
      late += stopped ? 1 : 0;
      if (++rounds == 10) {
        source.RequestStop();
        stopped = true;
      }
      return Status::OK();
    });
    EXPECT_TRUE(status.IsCancelled()) << status;
    EXPECT_LE(late, threads);  // each may have asked just before
  }
}

}  // namespace
}  // namespace calve::parquet
