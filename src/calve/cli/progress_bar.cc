#include "calve/cli/progress_bar.h"

#include "calve/cli/output.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace calve::cli {

namespace {

constexpr auto kQuietTime = std::chrono::milliseconds(300);
constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr int kBarWidth = 12;

double Seconds(std::chrono::steady_clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

// "1.2 of 2.9 GiB": the unit once where both have the same.
std::string PartText(int64_t part, int64_t whole) {
  std::string left = SizeText(part);
  const std::string right = SizeText(whole);
  const size_t unit = left.find(' ');
  if (right.ends_with(left.substr(unit))) left.resize(unit);
  return fmt::format("{} of {}", left, right);
}

}  // namespace

std::string ProgressText(const Progress& progress, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(progress.bytes) / seconds : 0;
  const std::string rows = fmt::format("{} rows", CountText(progress.rows));
  const std::string speed = fmt::format("{}/s", SizeText(static_cast<int64_t>(rate)));
  if (progress.total_bytes <= 0) return fmt::format("{}  {}  {}", rows, SizeText(progress.bytes), speed);
  const double done =
      std::clamp(static_cast<double>(progress.bytes) / static_cast<double>(progress.total_bytes), 0.0, 1.0);
  const auto filled = static_cast<int>(done * kBarWidth);
  std::string text = fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  {}  {}  {}", "", filled, "", kBarWidth - filled,
                                 std::floor(done * 100), rows, PartText(progress.bytes, progress.total_bytes), speed);
  if (rate > 0 && done < 1) {
    text += fmt::format("  {} left", SecondsText(static_cast<double>(progress.total_bytes - progress.bytes) / rate));
  }
  return text;
}

ProgressBar::ProgressBar(bool enabled, int width) : enabled_(enabled), width_(width) {}

void ProgressBar::Update(const Progress& progress) {
  if (!enabled_) return;
  const auto now = Clock::now();
  if (now - start_ < kQuietTime || (drawn_ && now - last_ < kInterval)) return;
  last_ = now;
  drawn_ = true;
  const std::string text = ProgressText(progress, Seconds(now - start_));
  PrintToStderr(fmt::format("\r{}\x1b[K", width_ > 1 ? CutToWidth(text, width_ - 1) : text));
}

void ProgressBar::Clear() {
  if (!drawn_) return;
  drawn_ = false;
  PrintToStderr("\r\x1b[K");
}

}  // namespace calve::cli
