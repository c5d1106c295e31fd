#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace calve::parquet {

/// The bytes of pages that all columns of a reader may hold together. Thread-safe.
class PageBudget {
 public:
  explicit PageBudget(int64_t limit_bytes = std::numeric_limits<int64_t>::max()) : limit_bytes_(limit_bytes) {}

  /// Takes `bytes` when they fit, or when nothing is held: one page may always go alone.
  bool TryTake(int64_t bytes) {
    int64_t held = held_bytes_;
    do {
      if (held > 0 && bytes > limit_bytes_ - held) return false;
    } while (!held_bytes_.compare_exchange_weak(held, held + bytes));
    return true;
  }
  /// Takes `bytes` for a page that a decoder cannot go on without.
  void Take(int64_t bytes) { held_bytes_ += bytes; }
  void Give(int64_t bytes) { held_bytes_ -= bytes; }

  int64_t held_bytes() const { return held_bytes_; }

 private:
  const int64_t limit_bytes_;
  std::atomic<int64_t> held_bytes_{0};
};

}  // namespace calve::parquet
