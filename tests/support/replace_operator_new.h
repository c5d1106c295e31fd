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

// The thread sanitizer's runtime has operators of its own, which cannot be replaced: nothing is counted under it.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CALVE_OPERATOR_NEW_IS_TAKEN
#endif
#endif
#ifndef CALVE_OPERATOR_NEW_IS_TAKEN

namespace {

void* Allocated(size_t size) { return std::malloc(size == 0 ? 1 : size); }
void* Allocated(size_t size, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  return std::aligned_alloc(align, (size + align - 1) / align * align);
}

void* CountedOrNull(void* memory) {
  auto* counter = calve::testing::new_allocations;
  if (memory != nullptr && counter != nullptr) counter->Add(static_cast<int64_t>(malloc_usable_size(memory)));
  return memory;
}
void* Counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return CountedOrNull(memory);
}

void Uncounted(void* memory) {
  if (auto* counter = calve::testing::new_allocations; counter != nullptr && memory != nullptr) {
    counter->live -= static_cast<int64_t>(malloc_usable_size(memory));
  }
  std::free(memory);
}

}  // namespace

// All forms: memory of one that stayed must not come to a delete of these.
void* operator new(size_t size) { return Counted(Allocated(size)); }
void* operator new[](size_t size) { return Counted(Allocated(size)); }
void* operator new(size_t size, std::align_val_t alignment) { return Counted(Allocated(size, alignment)); }
void* operator new[](size_t size, std::align_val_t alignment) { return Counted(Allocated(size, alignment)); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return CountedOrNull(Allocated(size)); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return CountedOrNull(Allocated(size)); }
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return CountedOrNull(Allocated(size, alignment));
}
void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return CountedOrNull(Allocated(size, alignment));
}
void operator delete(void* memory) noexcept { Uncounted(memory); }
void operator delete[](void* memory) noexcept { Uncounted(memory); }
void operator delete(void* memory, size_t) noexcept { Uncounted(memory); }
void operator delete[](void* memory, size_t) noexcept { Uncounted(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { Uncounted(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { Uncounted(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Uncounted(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { Uncounted(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { Uncounted(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { Uncounted(memory); }
#endif
// NOLINTEND(misc-definitions-in-headers)
