#pragma once

#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

namespace calve {

/// An allocator of single small objects whose memory is used again by the next of their type: for objects that every
/// batch makes a few of. Process-wide, thread-safe; at most kMostIdle lie idle.
template <typename T>
class RecycledAllocator {
 public:
  using value_type = T;

  RecycledAllocator() = default;
  template <typename U>
  RecycledAllocator(const RecycledAllocator<U>&) {}  // NOLINT(google-explicit-constructor): an allocator's rebinding

  T* allocate(size_t count) {
    if (count == 1) {
      Idle& idle = IdleObjects();
      std::lock_guard<std::mutex> lock(idle.mutex);
      if (!idle.objects.empty()) {
        void* object = idle.objects.back();
        idle.objects.pop_back();
        return static_cast<T*>(object);
      }
    }
    return static_cast<T*>(operator new(count * sizeof(T)));
  }

  void deallocate(T* object, size_t count) {
    if (count == 1) {
      Idle& idle = IdleObjects();
      std::lock_guard<std::mutex> lock(idle.mutex);
      if (idle.objects.size() < kMostIdle) return idle.objects.push_back(object);
    }
    operator delete(object);
  }

  friend bool operator==(const RecycledAllocator&, const RecycledAllocator&) { return true; }

 private:
  static_assert(alignof(T) <= alignof(std::max_align_t));
  static constexpr size_t kMostIdle = 4096;

  struct Idle {
    Idle() { objects.reserve(kMostIdle); }
    std::mutex mutex;
    std::vector<void*> objects;
  };
  /// Never destroyed: arrays may live till the very end.
  static Idle& IdleObjects() {
    static auto* const idle = new Idle();
    return *idle;
  }
};

}  // namespace calve
