// Replaces operator new for this program, so that tests can count.
#include "allocation_counter.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <memory>
#include <new>

namespace calve::testing {
thread_local Allocations* new_allocations = nullptr;
}

namespace {

void* Counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  if (auto* counter = calve::testing::new_allocations) counter->Add(static_cast<int64_t>(malloc_usable_size(memory)));
  return memory;
}

void Uncounted(void* memory) {
  if (auto* counter = calve::testing::new_allocations; counter != nullptr && memory != nullptr) {
    counter->live -= static_cast<int64_t>(malloc_usable_size(memory));
  }
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return Counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new[](size_t size) { return Counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new(size_t size, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  return Counted(std::aligned_alloc(align, (size + align - 1) / align * align));
}
void operator delete(void* memory) noexcept { Uncounted(memory); }
void operator delete[](void* memory) noexcept { Uncounted(memory); }
void operator delete(void* memory, size_t) noexcept { Uncounted(memory); }
void operator delete[](void* memory, size_t) noexcept { Uncounted(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Uncounted(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { Uncounted(memory); }

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
