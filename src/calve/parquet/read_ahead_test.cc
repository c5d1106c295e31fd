#include "calve/parquet/read_ahead.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/util/cancel.h>
#include <arrow/util/thread_pool.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

namespace calve::parquet {
namespace {

/// What the streams of a test have seen.
struct Notes {
  std::atomic<int> running{0}, most_running{0}, calls{0}, helped{0};
  std::atomic<bool> gone{false};
  std::mutex mutex;
  std::set<std::thread::id> threads;

  void Enter() {
    EXPECT_FALSE(gone) << "a stream runs after its reader has gone";
    const int now = ++running;
    int most = most_running;
    while (now > most && !most_running.compare_exchange_weak(most, now)) {
    }
    ++calls;
    std::lock_guard<std::mutex> lock(mutex);
    threads.insert(std::this_thread::get_id());
  }
  void Leave() { --running; }
};

/// Yields arrays of one int64: first, first + 1 and so on, then perhaps an error.
class Numbers : public ArrayStream {
 public:
  Numbers(Notes* notes, int64_t first, int64_t count, Status end = {})
      : notes_(notes), next_(first), end_(first + count), failure_(std::move(end)) {}

  Result<std::shared_ptr<arrow::ArrayData>> Next() override {
    notes_->Enter();
    std::this_thread::yield();
    arrow::Int64Builder builder;
    EXPECT_TRUE(builder.Append(next_).ok());
    notes_->Leave();
    if (next_ == end_) return failure_;
    ++next_;
    return builder.Finish().ValueOrDie()->data();
  }
  bool at_end() const override { return next_ == end_ && failure_.ok(); }
  bool WorkAhead() override {
    notes_->Enter();
    notes_->Leave();
    return ++notes_->helped % 3 != 0;
  }
  bool wants_work() const override { return true; }

 private:
  Notes* notes_;
  int64_t next_, end_;
  Status failure_;
};

/// Yields arrays that hold a MiB each and cost nothing to make: all share their memory. Their values count up.
class Large : public Numbers {
 public:
  Large(Notes* notes, std::shared_ptr<arrow::Buffer> memory, int64_t count)
      : Numbers(notes, 0, count), notes_(notes), memory_(std::move(memory)), end_(count) {}

  Result<std::shared_ptr<arrow::ArrayData>> Next() override {
    notes_->Enter();
    notes_->Leave();
    return arrow::ArrayData::Make(arrow::int64(), 1, {nullptr, memory_}, 0, next_++);
  }
  bool at_end() const override { return next_ == end_; }

 private:
  Notes* notes_;
  std::shared_ptr<arrow::Buffer> memory_;
  int64_t next_ = 0, end_;
};

std::vector<std::unique_ptr<ArrayStream>> Streams(Notes* notes, int64_t group, int64_t count, int64_t arrays) {
  std::vector<std::unique_ptr<ArrayStream>> streams;
  for (int64_t i = 0; i < count; ++i) {
    streams.push_back(std::make_unique<Numbers>(notes, group * 10000 + i * 100, arrays));
  }
  return streams;
}

int64_t ValueOf(const std::shared_ptr<arrow::ArrayData>& array) { return array->GetValues<int64_t>(1)[0]; }

class ReadAheadTest : public ::testing::TestWithParam<int> {
 protected:
  ReadAheadTest() { context_.threads = GetParam(); }
  Context context_;
  Notes notes_;
  ReadCounters counters_;
};

TEST_P(ReadAheadTest, EveryStreamInOrder) {
  {
    ReadAhead ahead(context_, 1 << 20, &counters_);
    for (int64_t group = 0; group < 2; ++group) ahead.AddGroup(Streams(&notes_, group, 5, 20));
    for (int64_t group = 0; group < 6; ++group) {
      for (int64_t n = 0; n < 20; ++n) {
        for (int64_t i = 0; i < 5; ++i) {
          const auto array = ahead.Take(static_cast<size_t>(i));
          ASSERT_TRUE(array.ok()) << array.status();
          EXPECT_EQ(ValueOf(*array), group * 10000 + i * 100 + n);
        }
      }
      ahead.RemoveGroup();
      if (group + 2 < 6) ahead.AddGroup(Streams(&notes_, group + 2, 5, 20));
    }
    EXPECT_EQ(ahead.groups_count(), 0u);
  }
  EXPECT_LE(notes_.most_running, GetParam());
  if (GetParam() == 1) {
    EXPECT_THAT(notes_.threads, ::testing::ElementsAre(std::this_thread::get_id()));
    EXPECT_EQ(notes_.helped, 0);
  }
}

TEST_P(ReadAheadTest, LargeArraysThatCostNothingInOrder) {
  constexpr int64_t kValues = (1 << 20) / sizeof(int64_t), kArrays = 40, kGroups = 6;
  arrow::Int64Builder values;
  for (int64_t i = 0; i < kValues; ++i) ASSERT_TRUE(values.Append(i).ok());
  const auto memory = values.Finish().ValueOrDie()->data()->buffers[1];
  for (const size_t streams : {1, 3}) {
    ReadAhead ahead(context_, 64 << 20, &counters_);
    const auto add = [&] {
      std::vector<std::unique_ptr<ArrayStream>> group;
      for (size_t i = 0; i < streams; ++i) group.push_back(std::make_unique<Large>(&notes_, memory, kArrays));
      ahead.AddGroup(std::move(group));
    };
    add();
    for (int64_t group = 0; group < kGroups; ++group) {
      if (group + 1 < kGroups) add();
      for (int64_t n = 0; n < kArrays; ++n) {
        for (size_t i = 0; i < streams; ++i) {
          ASSERT_TRUE(ahead.HasMore(i));
          const auto array = ahead.Take(i);
          ASSERT_TRUE(array.ok()) << array.status();
          EXPECT_EQ(ValueOf(*array), n);
        }
      }
      for (size_t i = 0; i < streams; ++i) EXPECT_FALSE(ahead.HasMore(i));
      ahead.RemoveGroup();
    }
  }
  EXPECT_LE(notes_.most_running, GetParam());
}

TEST_P(ReadAheadTest, AnErrorComesBehindTheArraysBeforeIt) {
  ReadAhead ahead(context_, 1 << 20, &counters_);
  std::vector<std::unique_ptr<ArrayStream>> streams;
  streams.push_back(std::make_unique<Numbers>(&notes_, 0, 10));
  streams.push_back(std::make_unique<Numbers>(&notes_, 100, 3, Status::Invalid("broken")));
  ahead.AddGroup(std::move(streams));
  for (int64_t n = 0; n < 3; ++n) {
    EXPECT_EQ(ValueOf(ahead.Take(0).ValueOrDie()), n);
    EXPECT_EQ(ValueOf(ahead.Take(1).ValueOrDie()), 100 + n);
  }
  EXPECT_EQ(ahead.Take(1).status().message(), "broken");
  EXPECT_EQ(ahead.Take(1).status().message(), "broken");
  EXPECT_EQ(ValueOf(ahead.Take(0).ValueOrDie()), 3);
}

TEST_P(ReadAheadTest, DroppedHalfwayItWaitsForWhatRuns) {
  for (int64_t taken = 0; taken < 40; ++taken) {
    Notes notes;
    {
      ReadAhead ahead(context_, 1 << 20, &counters_);
      for (int64_t group = 0; group < 3; ++group) ahead.AddGroup(Streams(&notes, group, 4, 10));
      for (int64_t n = 0; n < taken; ++n) ASSERT_TRUE(ahead.Take(static_cast<size_t>(n % 4)).ok());
    }
    EXPECT_EQ(notes.running, 0);
    notes.gone = true;
  }
}

TEST_P(ReadAheadTest, StopsWhenAsked) {
  arrow::StopSource source;
  const arrow::StopToken token = source.token();
  context_.stop = &token;
  ReadAhead ahead(context_, 1 << 20, &counters_);
  ahead.AddGroup(Streams(&notes_, 0, 1, 1000));
  ASSERT_TRUE(ahead.Take(0).ok());
  source.RequestStop();
  Status status;
  int more = 0;
  while (status.ok() && more < 1000) {
    status = ahead.Take(0).status();
    ++more;
  }
  EXPECT_TRUE(status.IsCancelled()) << status;
  EXPECT_LE(more, 4) << "only what was there already still comes";
}

TEST_P(ReadAheadTest, ArraysAheadKeepWithinTheirBytes) {
  // An array holds 64 bytes at least: with room for less than two, one waits at a time.
  ReadAhead ahead(context_, 100, &counters_);
  ahead.AddGroup(Streams(&notes_, 0, 10, 10));
  for (int64_t n = 0; n < 10; ++n) {
    for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(ValueOf(ahead.Take(static_cast<size_t>(i)).ValueOrDie()), i * 100 + n);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ReadAheadTest, ::testing::Values(1, 2, 8));

TEST(ReadAhead, NoPoolThreadWaits) {
  // The only thread of the pool runs two readers, which have to do everything by themselves.
  auto pool = arrow::internal::ThreadPool::Make(1).ValueOrDie();
  Context context;
  context.executor = pool.get();
  context.threads = 4;
  auto read = pool->Submit([&context] {
    Notes notes;
    ReadCounters counters;
    ReadAhead left(context, 1 << 20, &counters), right(context, 1 << 20, &counters);
    left.AddGroup(Streams(&notes, 0, 3, 50));
    right.AddGroup(Streams(&notes, 0, 3, 50));
    for (int64_t n = 0; n < 150; ++n) {
      EXPECT_TRUE(left.Take(static_cast<size_t>(n % 3)).ok());
      EXPECT_TRUE(right.Take(static_cast<size_t>(n % 3)).ok());
    }
    return Status::OK();
  });
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->status().ok());
}

TEST(ReadAhead, AnExecutorThatTakesNoWorkOnlyCostsParallelism) {
  auto pool = arrow::internal::ThreadPool::Make(2).ValueOrDie();
  ASSERT_TRUE(pool->Shutdown().ok());
  Context context;
  context.executor = pool.get();
  context.threads = 2;
  Notes notes;
  ReadCounters counters;
  ReadAhead ahead(context, 1 << 20, &counters);
  ahead.AddGroup(Streams(&notes, 0, 2, 5));
  for (int64_t n = 0; n < 10; ++n) EXPECT_EQ(ValueOf(ahead.Take(n % 2).ValueOrDie()), n % 2 * 100 + n / 2);
}

TEST(ReadAhead, RunsTheGroupsBehindToTheirEnds) {
  // One stream a group leaves one thread without work in the first group, whoever takes its arrays.
  Notes notes;
  ReadCounters counters;
  Context context;
  context.threads = 2;
  ReadAhead ahead(context, 1 << 20, &counters);
  ahead.AddGroup(Streams(&notes, 0, 1, 50));
  ahead.AddGroup(Streams(&notes, 1, 1, 50));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (notes.calls < 2 + 50 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(notes.calls, 2 + 50) << "two arrays of the first group, all of the second";
  for (int64_t group : {0, 1}) {
    for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(ValueOf(ahead.Take(0).ValueOrDie()), group * 10000 + i);
    ahead.RemoveGroup();
  }
}

}  // namespace
}  // namespace calve::parquet
