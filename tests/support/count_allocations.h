#pragma once

// Replaces the global operator new by one that counts. Include it in one source file of a program only.

#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CALVE_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define CALVE_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef CALVE_COUNTS_ALLOCATIONS
#define CALVE_COUNTS_ALLOCATIONS 1
#endif

namespace calve::testing {

/// Sanitizers have an operator new of their own, which stays: nothing is counted then.
inline constexpr bool kCountsAllocations = CALVE_COUNTS_ALLOCATIONS;
/// Calls of operator new by this thread.
inline thread_local int64_t allocations = 0;

}  // namespace calve::testing

#if CALVE_COUNTS_ALLOCATIONS
// NOLINTBEGIN(misc-definitions-in-headers)
void* operator new(std::size_t size) {
  ++calve::testing::allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(misc-definitions-in-headers)
#endif
