#pragma once

#include "calve/iceberg/table_metadata.h"

#include <chrono>

namespace calve::iceberg {

/// Waits between the attempts of a commit: exponential, with jitter, bounded in number and time.
class RetryWait {
 public:
  /// `commit.retry.num-retries` (4), `.min-wait-ms` (100), `.max-wait-ms` (60 000), `.total-timeout-ms` (1 800 000).
  static Result<RetryWait> ForCommits(const TableMetadata& metadata);
  /// `commit.status-check.num-retries` (3), `.min-wait-ms` (1 000), `.max-wait-ms` (60 000), `.total-timeout-ms` (1 800
  /// 000).
  static Result<RetryWait> ForStatusChecks(const TableMetadata& metadata);

  /// Waits before the next try; false, at once, when there shall be none.
  bool Next();

 private:
  static Result<RetryWait> Make(const TableMetadata& metadata, const std::string& prefix, int64_t retries,
                                int64_t min_wait_ms);
  int64_t NextWaitMs() const;

  int64_t retries_left_ = 0;
  int64_t wait_ms_ = 0, max_wait_ms_ = 0, total_timeout_ms_ = 0;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace calve::iceberg
