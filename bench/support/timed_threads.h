#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace calve::bench {

/// Milliseconds that `work(i)` takes for every i below `threads` together, each on a thread of its own, the first on
/// this one.
template <typename Work>
arrow::Result<double> TimeThreads(size_t threads, const Work& work) {
  std::vector<arrow::Status> results(threads);
  const auto run = [&](size_t i) { results[i] = work(i); };
  const auto started = std::chrono::steady_clock::now();
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads; ++i) others.emplace_back(run, i);
  run(0);
  for (auto& thread : others) thread.join();
  const auto took = std::chrono::steady_clock::now() - started;
  for (const auto& result : results) ARROW_RETURN_NOT_OK(result);
  return std::chrono::duration<double, std::milli>(took).count();
}

}  // namespace calve::bench
