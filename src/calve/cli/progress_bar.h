#pragma once

#include "calve/context.h"

#include <chrono>
#include <string>

namespace calve::cli {

/// One line on stderr, drawn over itself: how far the work is, rows, bytes, bytes a second and the time left.
///
///   [####........]  41 %  24,700,000 rows  1.2 of 2.9 GiB  310 MiB/s  5.6 s left
///
/// Nothing is drawn in the first moments, so short work leaves no flicker. Not thread-safe.
class ProgressBar {
 public:
  /// `width`: columns of the terminal.
  ProgressBar(bool enabled, int width);
  ~ProgressBar() { Clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  bool enabled() const { return enabled_; }
  void Update(const Progress& progress);
  /// Takes the line away; a later Update draws it again.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  int width_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now(), last_;
};

/// The text of the line after `seconds` of work, without cursor movements.
std::string ProgressText(const Progress& progress, double seconds);

}  // namespace calve::cli
