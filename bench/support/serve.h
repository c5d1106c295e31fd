#pragma once

#include "support/arguments.h"

#include <arrow/result.h>
#include <fmt/format.h>

#include <iostream>
#include <string>
#include <vector>

namespace calve::bench {

/// Prints `facts` and answers every line on stdin with the milliseconds of one round; without `serve` does `rounds` of
/// them and prints `facts` with their median on one line. `round` returns milliseconds.
template <typename Round>
arrow::Status TimeRounds(const std::string& facts, bool serve, int rounds, Round round) {
  if (serve) {
    std::cout << facts << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      ARROW_ASSIGN_OR_RAISE(const double milliseconds, round());
      std::cout << fmt::format("ms={:.4f}", milliseconds) << std::endl;
    }
    return arrow::Status::OK();
  }
  std::vector<double> times(static_cast<size_t>(rounds));
  for (double& time : times) {
    ARROW_ASSIGN_OR_RAISE(time, round());
  }
  std::cout << fmt::format("{} median_ms={:.3f}", facts, Median(times)) << std::endl;
  return arrow::Status::OK();
}

}  // namespace calve::bench
