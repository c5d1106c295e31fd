#pragma once

#include "calve/parquet_reader.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace calve::parquet {

/// The metrics of a read while it runs; counted by page, not by value. Thread-safe.
struct ReadCounters {
  std::atomic<int64_t> row_groups_read{0}, row_groups_skipped{0};
  std::atomic<int64_t> pages_read{0}, pages_skipped{0};
  std::atomic<int64_t> bytes_read{0}, bytes_decompressed{0};
  std::atomic<int64_t> rows{0};
  std::atomic<int64_t> footer_cache_hits{0};
  std::atomic<int64_t> io_ns{0}, decompress_ns{0}, decode_ns{0}, wait_ns{0};

  ParquetReadMetrics Read() const;
};

/// Adds the time of its life to a counter; null: nothing is counted.
class StageTimer {
 public:
  explicit StageTimer(std::atomic<int64_t>* total_ns) : total_ns_(total_ns) {
    if (total_ns_ != nullptr) begin_ = std::chrono::steady_clock::now();
  }
  ~StageTimer() {
    if (total_ns_ != nullptr) total_ns_->fetch_add(elapsed_ns(), std::memory_order_relaxed);
  }
  StageTimer(const StageTimer&) = delete;

 private:
  int64_t elapsed_ns() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin_).count();
  }

  std::atomic<int64_t>* total_ns_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace calve::parquet
