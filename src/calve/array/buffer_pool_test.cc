#include "calve/array/buffer_pool.h"

#include <arrow/buffer.h>
#include <gtest/gtest.h>

#include <vector>

namespace calve {
namespace {

TEST(BufferPool, RoundsUpToAQuarterOfAPowerOfTwo) {
  EXPECT_EQ(BufferPool::RoundUp(1), 64 + 64);
  EXPECT_EQ(BufferPool::RoundUp(128), 64 + 64);
  EXPECT_EQ(BufferPool::RoundUp(129), 80 + 64);
  EXPECT_EQ(BufferPool::RoundUp(144), 80 + 64);
  EXPECT_EQ(BufferPool::RoundUp(1024 + 64), 1024 + 64);
  EXPECT_EQ(BufferPool::RoundUp(1024 + 65), 1280 + 64);
  EXPECT_EQ(BufferPool::RoundUp((int64_t{1} << 40) + 65), (int64_t{1} << 40) + (int64_t{1} << 38) + 64);
  for (int64_t size = 1; size < 5000; ++size) {
    EXPECT_GE(BufferPool::RoundUp(size), size);
    EXPECT_EQ(BufferPool::RoundUp(BufferPool::RoundUp(size)), BufferPool::RoundUp(size));
    EXPECT_LE(BufferPool::RoundUp(size), std::max<int64_t>(128, size + size / 4 + 65));
  }
}

TEST(BufferPool, HandsOutAgainWhatCameBack) {
  arrow::ProxyMemoryPool parent(arrow::default_memory_pool());
  auto pool = BufferPool::Make(&parent);
  uint8_t* first = nullptr;
  ASSERT_TRUE(pool->Allocate(100000, &first).ok());
  pool->Free(first, 100000);
  EXPECT_EQ(pool->idle_bytes(), BufferPool::RoundUp(100000));
  uint8_t* second = nullptr;
  ASSERT_TRUE(pool->Allocate(100001, &second).ok());
  EXPECT_EQ(second, first);
  EXPECT_EQ(pool->idle_bytes(), 0);
  pool->Free(second, 100001);
  pool.reset();
  EXPECT_EQ(parent.bytes_allocated(), 0);
}

TEST(BufferPool, KeepsNoMoreThanItsLimit) {
  arrow::ProxyMemoryPool parent(arrow::default_memory_pool());
  auto pool = BufferPool::Make(&parent, 1088);
  uint8_t *a = nullptr, *b = nullptr;
  ASSERT_TRUE(pool->Allocate(1088, &a).ok());
  ASSERT_TRUE(pool->Allocate(1088, &b).ok());
  pool->Free(a, 1088);
  pool->Free(b, 1088);
  EXPECT_EQ(pool->idle_bytes(), 1088);
  EXPECT_EQ(parent.bytes_allocated(), 1088);
  pool->ReleaseUnused();
  EXPECT_EQ(parent.bytes_allocated(), 0);
}

TEST(BufferPool, KeepsWhatWasInUseAtOnceUpToAnotherLimit) {
  arrow::ProxyMemoryPool parent(arrow::default_memory_pool());
  auto pool = BufferPool::Make(&parent, 1088, 3 * 1088);
  const auto use_at_once = [&](size_t count) {
    std::vector<uint8_t*> blocks(count);
    for (uint8_t*& block : blocks) ASSERT_TRUE(pool->Allocate(1088, &block).ok());
    for (uint8_t* block : blocks) pool->Free(block, 1088);
  };
  for (int i = 0; i < 5; ++i) use_at_once(1);
  EXPECT_EQ(pool->idle_bytes(), 1088);
  use_at_once(2);
  EXPECT_EQ(pool->idle_bytes(), 2 * 1088);
  use_at_once(5);
  EXPECT_EQ(pool->idle_bytes(), 3 * 1088);
  pool->ReleaseUnused();
  EXPECT_EQ(parent.bytes_allocated(), 0);
  use_at_once(1);
  EXPECT_EQ(pool->idle_bytes(), 1088);
  pool.reset();
  EXPECT_EQ(parent.bytes_allocated(), 0);
}

TEST(BufferPool, SizesThatNobodyAsksForAnyMoreMakeRoom) {
  constexpr int64_t kOld = 1088, kNew = 4160, kLimit = 16 * kOld;
  arrow::ProxyMemoryPool parent(arrow::default_memory_pool());
  auto pool = BufferPool::Make(&parent, kLimit);
  const auto use_at_once = [&](size_t count, int64_t size) {
    std::vector<uint8_t*> blocks(count);
    for (uint8_t*& block : blocks) ASSERT_TRUE(pool->Allocate(size, &block).ok());
    for (uint8_t* block : blocks) pool->Free(block, size);
  };
  use_at_once(16, kOld);
  EXPECT_EQ(pool->idle_bytes(), kLimit);
  for (int i = 0; i < 4; ++i) use_at_once(3, kNew);
  EXPECT_LE(pool->idle_bytes(), kLimit);
  EXPECT_GE(pool->idle_bytes(), 3 * kNew);
  const int64_t allocations = parent.num_allocations();
  use_at_once(3, kNew);
  EXPECT_EQ(parent.num_allocations(), allocations);  // all three were kept
  pool.reset();
  EXPECT_EQ(parent.bytes_allocated(), 0);
}

TEST(BufferPool, ASizeInUseIsNotGivenUpForOneThatIsNot) {
  constexpr int64_t kOften = 1088, kOnce = 4160;
  auto pool = BufferPool::Make(arrow::default_memory_pool(), 4 * kOften);
  uint8_t *once = nullptr, *often[4] = {};
  ASSERT_TRUE(pool->Allocate(kOnce, &once).ok());
  for (uint8_t*& block : often) ASSERT_TRUE(pool->Allocate(kOften, &block).ok());
  for (uint8_t* block : often) pool->Free(block, kOften);
  pool->Free(once, kOnce);
  EXPECT_EQ(pool->idle_bytes(), 4 * kOften);
}

TEST(BufferPool, BuffersOutliveTheirPoolsHandle) {
  arrow::ProxyMemoryPool parent(arrow::default_memory_pool());
  auto pool = BufferPool::Make(&parent);
  auto buffer = arrow::AllocateResizableBuffer(5000, pool.get()).ValueOrDie();
  ASSERT_TRUE(buffer->Resize(9000).ok());
  buffer->mutable_data()[8999] = 7;
  pool.reset();
  EXPECT_EQ(buffer->data()[8999], 7);
  buffer.reset();
  EXPECT_EQ(parent.bytes_allocated(), 0);
}

TEST(BufferPool, GivesUpWhatIsIdleWhenTheParentRefuses) {
  arrow::CappedMemoryPool parent(arrow::default_memory_pool(), 10000);
  auto pool = BufferPool::Make(&parent);
  uint8_t* first = nullptr;
  ASSERT_TRUE(pool->Allocate(8192, &first).ok());
  pool->Free(first, 8192);
  uint8_t* second = nullptr;
  ASSERT_TRUE(pool->Allocate(4096, &second).ok());
  EXPECT_EQ(pool->idle_bytes(), 0);
  uint8_t* third = nullptr;
  EXPECT_TRUE(pool->Allocate(8192, &third).IsOutOfMemory());
  pool->Free(second, 4096);
}

TEST(BufferPool, MovesWhatGrowsOutOfItsSize) {
  auto pool = BufferPool::Make(arrow::default_memory_pool());
  uint8_t* block = nullptr;
  ASSERT_TRUE(pool->Allocate(100, &block).ok());
  for (int i = 0; i < 100; ++i) block[i] = static_cast<uint8_t>(i);
  ASSERT_TRUE(pool->Reallocate(100, 100000, &block).ok());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(block[i], i);
  ASSERT_TRUE(pool->Reallocate(100000, 0, &block).ok());
  ASSERT_TRUE(pool->Reallocate(0, 64, &block).ok());
  pool->Free(block, 64);
}

TEST(BufferPool, LargeBlocksAreTheParents) {
  arrow::ProxyMemoryPool parent(arrow::default_memory_pool());
  auto pool = BufferPool::Make(&parent);
  uint8_t* block = nullptr;
  ASSERT_TRUE(pool->Allocate(int64_t{9} << 20, &block).ok());
  block[0] = 7;
  ASSERT_TRUE(pool->Reallocate(int64_t{9} << 20, int64_t{20} << 20, &block).ok());
  ASSERT_TRUE(pool->Reallocate(int64_t{20} << 20, 100, &block).ok());
  EXPECT_EQ(block[0], 7);
  EXPECT_EQ(pool->idle_bytes(), 0);
  pool->Free(block, 100);
  pool.reset();
  EXPECT_EQ(parent.bytes_allocated(), 0);
}

TEST(BufferPool, ReadersShareTheOneOverTheDefaultPool) {
  EXPECT_EQ(BufferPool::Over(arrow::default_memory_pool()), BufferPool::Over(arrow::default_memory_pool()));
  arrow::ProxyMemoryPool other(arrow::default_memory_pool());
  EXPECT_NE(BufferPool::Over(&other), BufferPool::Over(&other));
}

TEST(BufferPool, OverAPoolOfItsKindIsThatPool) {
  auto pool = BufferPool::Make(arrow::default_memory_pool());
  EXPECT_EQ(BufferPool::Over(pool.get()).get(), pool.get());
}

}  // namespace
}  // namespace calve
