#include "calve/iceberg/commit_retry.h"

#include <algorithm>
#include <random>
#include <thread>

namespace calve::iceberg {

Result<RetryWait> RetryWait::Make(const TableMetadata& metadata, const std::string& prefix, int64_t retries,
                                  int64_t min_wait_ms) {
  RetryWait wait;
  ARROW_ASSIGN_OR_RAISE(wait.retries_left_, metadata.IntProperty(prefix + "num-retries", retries));
  ARROW_ASSIGN_OR_RAISE(wait.wait_ms_, metadata.IntProperty(prefix + "min-wait-ms", min_wait_ms));
  ARROW_ASSIGN_OR_RAISE(wait.max_wait_ms_, metadata.IntProperty(prefix + "max-wait-ms", 60'000));
  ARROW_ASSIGN_OR_RAISE(wait.total_timeout_ms_, metadata.IntProperty(prefix + "total-timeout-ms", 1'800'000));
  wait.wait_ms_ = std::max<int64_t>(wait.wait_ms_, 0);
  wait.max_wait_ms_ = std::clamp<int64_t>(wait.max_wait_ms_, 0, 24 * 3'600'000);
  return wait;
}

Result<RetryWait> RetryWait::ForCommits(const TableMetadata& metadata) {
  return Make(metadata, "commit.retry.", 4, 100);
}

Result<RetryWait> RetryWait::ForStatusChecks(const TableMetadata& metadata) {
  return Make(metadata, "commit.status-check.", 3, 1'000);
}

int64_t RetryWait::NextWaitMs() const {
  // Writers that lost the same race must not meet again: half of the wait is drawn. From the system, because forked
  // processes share the state of a generator.
  const int64_t wait_ms = std::min(wait_ms_, max_wait_ms_);
  std::random_device device;
  return wait_ms / 2 + std::uniform_int_distribution<int64_t>(0, wait_ms - wait_ms / 2)(device);
}

bool RetryWait::Next() {
  if (retries_left_ <= 0) return false;
  retries_left_ -= 1;
  const auto wait = std::chrono::milliseconds(NextWaitMs());
  if (std::chrono::steady_clock::now() - started_ + wait > std::chrono::milliseconds(total_timeout_ms_)) return false;
  std::this_thread::sleep_for(wait);
  wait_ms_ = std::min(std::max<int64_t>(wait_ms_, 1) * 2, std::max<int64_t>(max_wait_ms_, 1));
  return true;
}

}  // namespace calve::iceberg
