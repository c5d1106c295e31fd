#include "calve/parquet/page_queue.h"

#include "calve/array/buffer_pool.h"
#include "calve/base/memory_budget.h"
#include "calve/base/status.h"
#include "calve/compress/codec.h"

#include <arrow/io/memory.h>
#include <arrow/memory_pool.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace calve::parquet {
namespace {

std::string_view TextOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string BodyOf(int page, int64_t size_bytes) {
  std::string body(static_cast<size_t>(size_bytes), static_cast<char>('a' + page % 26));
  return body.replace(0, 8, fmt::format("{:08}", page));
}

/// A chunk of zstd pages of one value each, page i with the body BodyOf(i, size_bytes).
struct Chunk {
  Chunk(int pages, int64_t size_bytes, int damaged = -1) {
    bytes = "PAR1";
    for (int i = 0; i < pages; ++i) {
      std::string body = CompressToString(Codec::kZstd, {}, BodyOf(i, size_bytes)).ValueOrDie();
      if (i == damaged) body[0] = '?';
      PageHeader header;
      header.uncompressed_page_size = static_cast<int32_t>(size_bytes);
      header.compressed_page_size = static_cast<int32_t>(body.size());
      header.data_page.emplace().num_values = 1;
      bytes += Serialize(header) + body;
      largest_held_bytes = std::max<int64_t>(largest_held_bytes, size_bytes + static_cast<int64_t>(body.size()));
    }
    plan.offset = 4;
    plan.size_bytes = static_cast<int64_t>(bytes.size()) - 4;
    plan.num_values = pages;
    plan.codec = CompressionCodec::kZstd;
    file = std::make_unique<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  }

  std::unique_ptr<PageQueue> Queue(std::shared_ptr<PageBudget> budget = nullptr,
                                   arrow::MemoryPool* pool = arrow::default_memory_pool()) {
    PageOptions options;
    buffers.push_back(BufferPool::Make(pool));
    options.pool = buffers.back().get();
    options.budget = std::move(budget);
    options.counters = &counters;
    ChunkBytes chunk(file.get(), plan.offset, plan.size_bytes, 1 << 16, options.pool, &counters);
    return std::make_unique<PageQueue>(PageSource(std::move(chunk), plan), options);
  }

  std::string bytes;
  ChunkPlan plan;
  int64_t largest_held_bytes = 0;
  ReadCounters counters;
  std::unique_ptr<arrow::io::BufferReader> file;
  std::vector<std::shared_ptr<BufferPool>> buffers;  // of the queues
};

/// Takes all pages, which are to be the first `pages` of a Chunk.
void ExpectPages(PageQueue* queue, int pages, int64_t size_bytes) {
  for (int i = 0; i < pages; ++i) {
    const auto page = queue->Next();
    ASSERT_TRUE(page.ok()) << page.status();
    ASSERT_NE(*page, nullptr) << i;
    EXPECT_EQ((*page)->index, i);
    EXPECT_EQ(TextOf((*page)->body), BodyOf(i, size_bytes));
  }
}

TEST(PageQueue, WithNobodyWorkingAheadNothingIsQueued) {
  Chunk chunk(40, 1000);
  auto budget = std::make_shared<PageBudget>(1);
  const auto queue = chunk.Queue(budget);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(TextOf(queue->Next().ValueOrDie()->body), BodyOf(i, 1000));
    EXPECT_LE(budget->held_bytes(), chunk.largest_held_bytes) << "only the current page is held";
  }
  EXPECT_EQ(queue->Next().ValueOrDie(), nullptr);
  EXPECT_EQ(queue->Next().ValueOrDie(), nullptr);
  EXPECT_EQ(budget->held_bytes(), 0);
  EXPECT_EQ(chunk.counters.pages_read, 40);
  EXPECT_EQ(chunk.counters.bytes_decompressed, 40 * 1000);
  EXPECT_EQ(chunk.counters.bytes_read, chunk.plan.size_bytes);
}

TEST(PageQueue, PagesReadAheadComeInOrder) {
  for (int ahead = 0; ahead < 60; ahead += 7) {
    Chunk chunk(50, 1000);
    const auto queue = chunk.Queue();
    for (int i = 0; i < ahead; ++i) queue->WorkAhead();
    ExpectPages(queue.get(), 50, 1000);
    EXPECT_EQ(queue->Next().ValueOrDie(), nullptr);
    EXPECT_FALSE(queue->WorkAhead());
    EXPECT_FALSE(queue->wants_work());
  }
}

TEST(PageQueue, ManyThreadsWorkAhead) {
  for (int round = 0; round < 20; ++round) {
    Chunk chunk(200, 5000);
    auto budget = std::make_shared<PageBudget>(40000);
    const auto queue = chunk.Queue(budget);
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        while (!done) {
          if (!queue->WorkAhead()) std::this_thread::yield();
        }
      });
    }
    ExpectPages(queue.get(), 200, 5000);
    EXPECT_EQ(queue->Next().ValueOrDie(), nullptr);
    done = true;
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(budget->held_bytes(), 0);
    EXPECT_EQ(chunk.counters.bytes_decompressed, 200 * 5000);
  }
}

TEST(PageQueue, AnErrorComesBehindThePagesBeforeIt) {
  Chunk chunk(10, 1000, /*damaged=*/3);
  for (int ahead : {0, 2, 20}) {
    const auto queue = chunk.Queue();
    for (int i = 0; i < ahead; ++i) queue->WorkAhead();
    ExpectPages(queue.get(), 3, 1000);
    for (int again = 0; again < 2; ++again) {
      const Status status = queue->Next().status();
      EXPECT_TRUE(status.IsInvalid());
      EXPECT_THAT(status.message(), ::testing::MatchesRegex("page 3 at byte [0-9]+: malformed zstd data.*"));
    }
  }
}

TEST(PageQueue, AnErrorOfTheSourceComesBehindThePagesBeforeIt) {
  Chunk chunk(10, 1000);
  chunk.plan.num_values = 11;
  for (int ahead : {0, 5, 20}) {
    const auto queue = chunk.Queue();
    for (int i = 0; i < ahead; ++i) queue->WorkAhead();
    ExpectPages(queue.get(), 10, 1000);
    for (int again = 0; again < 2; ++again) {
      EXPECT_THAT(queue->Next().status().message(),
                  ::testing::MatchesRegex("the pages end at byte [0-9]+ with 10 of 11 values"));
    }
  }
}

TEST(PageQueue, APageThatWouldBreakTheBudgetWaits) {
  Chunk chunk(12, 1000);
  auto budget = std::make_shared<PageBudget>(3 * chunk.largest_held_bytes);
  const auto queue = chunk.Queue(budget);
  int worked = 0;
  while (queue->WorkAhead()) ++worked;
  EXPECT_EQ(worked, 3);
  EXPECT_LE(budget->held_bytes(), 3 * chunk.largest_held_bytes);
  ExpectPages(queue.get(), 1, 1000);
  EXPECT_FALSE(queue->WorkAhead()) << "the page that was handed over is held still";
  EXPECT_EQ(queue->Next().ValueOrDie()->index, 1);
  EXPECT_TRUE(queue->WorkAhead());
  EXPECT_FALSE(queue->WorkAhead());
  for (int i = 2; i < 12; ++i) EXPECT_EQ(TextOf(queue->Next().ValueOrDie()->body), BodyOf(i, 1000));
}

TEST(PageQueue, APageLargerThanTheBudgetGoesAlone) {
  Chunk chunk(5, 1000);
  auto budget = std::make_shared<PageBudget>(10);
  const auto first = chunk.Queue(budget), second = chunk.Queue(budget);
  EXPECT_TRUE(first->WorkAhead());
  EXPECT_FALSE(first->WorkAhead());
  EXPECT_FALSE(second->WorkAhead()) << "the budget is of all columns";
  // Decoders that cannot go on otherwise take their pages all the same.
  ExpectPages(second.get(), 5, 1000);
  ExpectPages(first.get(), 5, 1000);
}

TEST(PageQueue, DroppedHalfwayItGivesBackWhatItHeld) {
  MemoryBudget pool(arrow::default_memory_pool(), 0);
  auto budget = std::make_shared<PageBudget>();
  Chunk chunk(30, 1000);
  {
    const auto queue = chunk.Queue(budget, &pool);
    for (int i = 0; i < 5; ++i) queue->WorkAhead();
    ExpectPages(queue.get(), 2, 1000);
    EXPECT_GT(budget->held_bytes(), 0);
  }
  EXPECT_EQ(budget->held_bytes(), 0);
  chunk.buffers.clear();
  EXPECT_EQ(pool.bytes_allocated(), 0);
}

TEST(PageQueue, BuffersAreUsedAgain) {
  MemoryBudget pool(arrow::default_memory_pool(), 0);
  Chunk chunk(500, 20000);
  const auto queue = chunk.Queue(nullptr, &pool);
  ExpectPages(queue.get(), 500, 20000);
  EXPECT_LE(pool.num_allocations(), 4);
  EXPECT_LE(pool.max_memory(), 200000);
}

}  // namespace
}  // namespace calve::parquet
