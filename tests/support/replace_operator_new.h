#pragma once

// Replaces operator new for a program whose tests count with CountNew. Include it in one of its source files.

#include "allocation_counter.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

// NOLINTBEGIN(misc-definitions-in-headers)
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
// NOLINTEND(misc-definitions-in-headers)
