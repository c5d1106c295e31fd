#pragma once

#include "calve/ipc/skeleton.h"

#include <arrow/result.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace calve::ipc {

/// The schemas that a thread decoded lately, by the bytes of their messages: the same bytes again cost one comparison
/// and no parsing. What is used least recently goes first. Nothing of a block but its schema is kept, its dictionaries
/// least of all. Not thread-safe: ThreadSchemaCache gives each thread its own.
class SchemaCache {
 public:
  static constexpr size_t kCapacity = 8;

  struct Counts {
    int64_t hits = 0, misses = 0, evicted = 0;
  };

  /// The schema whose message's metadata is `bytes`; parsed, and kept, when it is not here. Invalid when it is none.
  arrow::Result<std::shared_ptr<SkeletonPool>> Find(std::span<const uint8_t> bytes);

  const Counts& counts() const { return counts_; }
  void Clear();

 private:
  struct Entry {
    std::string bytes;
    std::shared_ptr<SkeletonPool> pool;
  };
  /// Messages above this are parsed each time: what the cache takes is bounded.
  static constexpr size_t kLargestMessage = size_t{1} << 20;

  std::array<Entry, kCapacity> entries_;  ///< used most recently first
  size_t size_ = 0;
  Counts counts_;
};

/// The calling thread's.
SchemaCache& ThreadSchemaCache();

}  // namespace calve::ipc
