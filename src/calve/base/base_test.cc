#include "calve/base/byte_cursor.h"
#include "calve/base/checked.h"
#include "calve/base/context.h"
#include "calve/base/memory_budget.h"
#include "calve/base/operation_pool.h"
#include "calve/base/status.h"

#include <arrow/buffer.h>
#include <arrow/util/cancel.h>

#include <atomic>
#include <limits>

namespace calve {
namespace {

TEST(ByteCursor, ReadsLittleEndianValuesAndRanges) {
  const uint8_t bytes[] = {0x01, 0x02, 0x03, 0x04, 'a', 'b', 0xff};
  ByteCursor cursor{std::span<const uint8_t>(bytes)};
  EXPECT_EQ(cursor.Little<uint32_t>(), 0x04030201u);
  EXPECT_EQ(cursor.Text(2), "ab");
  EXPECT_EQ(cursor.offset(), 6u);
  EXPECT_EQ(cursor.Little<int8_t>(), -1);
  EXPECT_TRUE(cursor.ok());
  EXPECT_TRUE(cursor.at_end());
}

TEST(ByteCursor, FailureIsStickyAndKeepsTheOffset) {
  const uint8_t bytes[] = {1, 2, 3};
  ByteCursor cursor{std::span<const uint8_t>(bytes)};
  cursor.Skip(1);
  EXPECT_EQ(cursor.Little<uint32_t>(), 0u);
  EXPECT_FALSE(cursor.ok());
  EXPECT_EQ(cursor.offset(), 1u);
  EXPECT_EQ(cursor.Little<uint8_t>(), 0) << "reads after a failure give nothing, even where bytes are left";
  EXPECT_TRUE(cursor.Bytes(1).empty());
}

TEST(ByteCursor, RefusesASizeThatWouldOverflowTheOffset) {
  const uint8_t bytes[] = {1, 2, 3};
  ByteCursor cursor{std::span<const uint8_t>(bytes)};
  cursor.Skip(2);
  EXPECT_TRUE(cursor.Bytes(std::numeric_limits<size_t>::max()).empty());
  EXPECT_FALSE(cursor.ok());
}

TEST(ByteCursor, VarintsUpToSixtyFourBits) {
  const uint8_t largest[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
  ByteCursor whole{std::span<const uint8_t>(largest)};
  EXPECT_EQ(whole.Varint(), std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(whole.ok());
  for (size_t size = 0; size < sizeof(largest); ++size) {
    ByteCursor cut{std::span<const uint8_t>(largest, size)};
    cut.Varint();
    EXPECT_FALSE(cut.ok()) << size;
  }
}

TEST(ByteCursor, RefusesVarintsThatOverflow) {
  const uint8_t too_large[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
  const uint8_t too_long[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
  ByteCursor large{std::span<const uint8_t>(too_large)};
  large.Varint();
  EXPECT_FALSE(large.ok());
  ByteCursor longer{std::span<const uint8_t>(too_long)};
  longer.Varint();
  EXPECT_FALSE(longer.ok());
}

TEST(ByteCursor, ZigZagCoversBothEnds) {
  const uint8_t values[] = {0x00, 0x01, 0x02, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                            0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
  ByteCursor cursor{std::span<const uint8_t>(values)};
  EXPECT_EQ(cursor.ZigZag(), 0);
  EXPECT_EQ(cursor.ZigZag(), -1);
  EXPECT_EQ(cursor.ZigZag(), 1);
  EXPECT_EQ(cursor.ZigZag(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(cursor.ZigZag(), std::numeric_limits<int64_t>::min());
  EXPECT_TRUE(cursor.ok());
}

TEST(Checked, AddAndMultiplyTellOverflow) {
  EXPECT_EQ(CheckedAdd<int32_t>(1, 2), 3);
  EXPECT_EQ(CheckedAdd<int32_t>(std::numeric_limits<int32_t>::max(), 1), std::nullopt);
  EXPECT_EQ(CheckedMultiply<int64_t>(int64_t{1} << 31, 2), int64_t{1} << 32);
  EXPECT_EQ(CheckedMultiply<int64_t>(int64_t{1} << 62, 2), std::nullopt);
}

TEST(StatusContext, KeepsCodeAndDetail) {
  Status lost = WithContext(CommitError(CommitFailure::kConflict, "version 8 exists"), "table db.t");
  EXPECT_TRUE(lost.IsIOError());
  EXPECT_EQ(lost.message(), "table db.t: version 8 exists");
  EXPECT_EQ(CommitFailureOf(lost), CommitFailure::kConflict);
  EXPECT_EQ(CommitFailureOf(Invalid("no {}", "detail")), CommitFailure::kNone);
  EXPECT_TRUE(WithContext(Status::OK(), "nothing").ok());
}

TEST(ParallelFor, RunsEveryTaskOnce) {
  for (int threads : {1, 2, 4}) {
    Context context;
    context.threads = threads;
    std::vector<std::atomic<int>> runs(1000);
    ASSERT_TRUE(ParallelFor(context, 1000, [&](int64_t i) {
                  ++runs[i];
                  return Status::OK();
                }).ok());
    for (const auto& run : runs) EXPECT_EQ(run, 1);
  }
}

TEST(ParallelFor, ReportsAFailureAndStartsNoFurtherTask) {
  Context context;
  context.threads = 1;
  int started = 0;
  Status status = ParallelFor(context, 10, [&](int64_t i) {
    ++started;
    return i == 3 ? Invalid("task {}", i) : Status::OK();
  });
  EXPECT_EQ(status.message(), "task 3");
  EXPECT_EQ(started, 4);
  context.threads = 4;
  EXPECT_FALSE(ParallelFor(context, 100, [&](int64_t i) { return i >= 50 ? Invalid("late") : Status::OK(); }).ok());
}

TEST(ParallelFor, StopsWhenAsked) {
  arrow::StopSource source;
  const arrow::StopToken token = source.token();
  for (int threads : {1, 3}) {
    Context context;
    context.threads = threads;
    context.stop = &token;
    std::atomic<int> started{0};
    Status status = ParallelFor(context, 1000, [&](int64_t) {
      ++started;
      source.RequestStop();
      return Status::OK();
    });
    EXPECT_TRUE(status.IsCancelled()) << status;
    EXPECT_LT(started, 1000);
    source.Reset();
  }
}

TEST(MemoryBudget, RefusesWhatWouldExceedItAndCountsThePeak) {
  MemoryBudget budget(arrow::default_memory_pool(), 1000);
  {
    auto first = arrow::AllocateResizableBuffer(600, &budget);
    ASSERT_TRUE(first.ok());
    auto second = arrow::AllocateBuffer(600, &budget);
    EXPECT_TRUE(second.status().IsOutOfMemory());
    EXPECT_THAT(second.status().message(), ::testing::HasSubstr("memory budget"));
    EXPECT_TRUE((*first)->Resize(5000).IsOutOfMemory());
    EXPECT_TRUE((*first)->Resize(64, true).ok());
    EXPECT_TRUE(arrow::AllocateBuffer(600, &budget).ok());
  }
  EXPECT_EQ(budget.bytes_allocated(), 0);
  EXPECT_GE(budget.max_memory(), 600);
  EXPECT_LE(budget.max_memory(), 1000);
}

TEST(MemoryBudget, WithoutALimitOnlyCounts) {
  MemoryBudget budget(arrow::default_memory_pool(), 0);
  auto buffer = arrow::AllocateBuffer(1 << 20, &budget);
  ASSERT_TRUE(buffer.ok());
  EXPECT_GE(budget.bytes_allocated(), 1 << 20);
}

TEST(OperationPool, OutlivesItsHandleWhileABufferLives) {
  Context context;
  auto pool = OperationPool::Make(context);
  auto buffer = arrow::AllocateBuffer(1024, pool.get()).ValueOrDie();
  auto empty = arrow::AllocateResizableBuffer(0, pool.get()).ValueOrDie();
  EXPECT_EQ(pool->bytes_allocated(), 1024);
  pool.reset();
  buffer->mutable_data()[1023] = 1;
  buffer.reset();
  empty.reset();
}

TEST(OperationPool, RefusesOverItsBudget) {
  Context context;
  context.memory_budget_bytes = 100;
  auto pool = OperationPool::Make(context);
  EXPECT_TRUE(arrow::AllocateBuffer(1000, pool.get()).status().IsOutOfMemory());
  EXPECT_TRUE(arrow::AllocateBuffer(64, pool.get()).ok());
}

TEST(OperationPool, BudgetOfAContext) {
  Context context;
  EXPECT_EQ(BudgetBytesOf(context), 0);
  context.memory_budget_bytes = 100;
  EXPECT_EQ(BudgetBytesOf(context), 100);
  auto pool = OperationPool::Make(context);
  EXPECT_EQ(BudgetBytesOf(ContextWithPool(context, pool.get())), 100);
}

}  // namespace
}  // namespace calve
