#include "calve/cli/size_chart.h"

#include "calve/cli/json_text.h"
#include "calve/cli/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

// Sizes are counted by powers of two: bin b holds the files of 2^b to 2^(b+1) - 1 bytes, and bin 0 those of none or one
// too.

namespace calve::cli {

namespace {

constexpr int kWidth = 720, kLeft = 44, kRight = 12;
constexpr int kPlotHeight = 110, kTitleHeight = 30, kAxisHeight = 40;
constexpr int kBarWidth = 20;

int BinOf(int64_t bytes) { return bytes < 1 ? 0 : std::bit_width(static_cast<uint64_t>(bytes)) - 1; }

// A power of two: "64 KiB", never "64.0 KiB".
std::string BinEdge(int exponent) {
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return fmt::format("{} {}", 1 << exponent % 10, kUnits[static_cast<size_t>(std::min(exponent / 10, 6))]);
}

struct Bins {
  int first = 0;
  std::vector<int64_t> before, after;  // files a bin
};

Bins Count(const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  int low = 64, high = 0;
  for (const auto* sizes : {&before, &after}) {
    for (const int64_t bytes : *sizes) {
      low = std::min(low, BinOf(bytes));
      high = std::max(high, BinOf(bytes));
    }
  }
  if (low > high) low = high = 20;
  Bins bins;
  bins.first = std::max(0, low - 1);  // an empty bin on either side gives the bars air
  bins.before.resize(static_cast<size_t>(high + 2 - bins.first));
  bins.after = bins.before;
  for (const int64_t bytes : before) ++bins.before[static_cast<size_t>(BinOf(bytes) - bins.first)];
  for (const int64_t bytes : after) ++bins.after[static_cast<size_t>(BinOf(bytes) - bins.first)];
  return bins;
}

class Chart {
 public:
  explicit Chart(const Bins& bins) : bins_(bins) {
    slot_ = static_cast<double>(kWidth - kLeft - kRight) / static_cast<double>(bins.before.size());
  }

  std::string Draw() {
    constexpr int kPanel = kTitleHeight + kPlotHeight + kAxisHeight;
    svg_ = fmt::format(
        "<svg id=\"sizes-chart\" role=\"img\" aria-label=\"Number of files by size, before and after\" "
        "viewBox=\"0 0 {} {}\">\n",
        kWidth, 2 * kPanel);
    DrawPanel("before", "Before", bins_.before, 0);
    DrawPanel("after", "After", bins_.after, kPanel);
    return svg_ + "</svg>\n";
  }

 private:
  double Middle(size_t bin) const { return kLeft + (static_cast<double>(bin) + 0.5) * slot_; }

  void DrawPanel(std::string_view id, std::string_view title, const std::vector<int64_t>& counts, int top) {
    int64_t files = 0, most = 1;
    for (const int64_t count : counts) {
      files += count;
      most = std::max(most, count);
    }
    const int base = top + kTitleHeight + kPlotHeight;
    svg_ += fmt::format("<g id=\"sizes-{}\" data-files=\"{}\">\n", id, files);
    svg_ += fmt::format("<text class=\"title\" x=\"{}\" y=\"{}\">{}: {}</text>\n", kLeft, top + 16, title,
                        Counted(files, "file"));
    svg_ += fmt::format("<line class=\"axis\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", kLeft, base,
                        kWidth - kRight, base);
    for (size_t bin = 0; bin < counts.size(); ++bin) {
      if (counts[bin] > 0) DrawBar(id, bin, counts[bin], most, base);
    }
    DrawTicks(base);
    svg_ += "</g>\n";
  }

  void DrawBar(std::string_view id, size_t bin, int64_t count, int64_t most, int base) {
    // Room for the number above the highest bar; one file among thousands still shows.
    const double height = std::max(2.0, (kPlotHeight - 16) * static_cast<double>(count) / static_cast<double>(most));
    const double width = std::min(slot_ * 0.8, kBarWidth * 2.0);
    const int exponent = bins_.first + static_cast<int>(bin);
    svg_ += fmt::format(
        "<rect class=\"bar {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\">"
        "<title>{} of {} to {}</title></rect>\n",
        id, Middle(bin) - width / 2, base - height, width, height, Counted(count, "file"), BinEdge(exponent),
        BinEdge(exponent + 1));
    svg_ += fmt::format("<text class=\"count\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", Middle(bin), base - height - 4,
                        CountText(count));
  }

  void DrawTicks(int base) {
    const size_t step = std::max<size_t>(1, static_cast<size_t>(60 / slot_) + 1);
    for (size_t bin = 0; bin < bins_.before.size(); bin += step) {
      const double x = kLeft + static_cast<double>(bin) * slot_;
      svg_ += fmt::format("<line class=\"axis\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>\n", x, base,
                          base + 4);
      svg_ += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", x, base + 18,
                          BinEdge(bins_.first + static_cast<int>(bin)));
    }
  }

  const Bins& bins_;
  double slot_;
  std::string svg_;
};

}  // namespace

std::string SizeChart(const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  const Bins bins = Count(before, after);
  return Chart(bins).Draw();
}

std::string TimingChart(const std::vector<Timing>& timings) {
  constexpr int kLine = 28, kLabel = 90, kValue = 90;
  double longest = 0;
  for (const Timing& timing : timings) longest = std::max(longest, timing.seconds);
  std::string svg =
      fmt::format("<svg id=\"timings-chart\" role=\"img\" aria-label=\"Seconds by phase\" viewBox=\"0 0 {} {}\">\n",
                  kWidth, kLine * static_cast<int>(timings.size()));
  int top = 0;
  for (const Timing& timing : timings) {
    const double share = longest > 0 ? timing.seconds / longest : 0;
    const double width = std::max(2.0, share * (kWidth - kLabel - kValue));
    svg += fmt::format("<text class=\"label\" x=\"0\" y=\"{}\">{}</text>\n", top + 18, EscapeHtml(timing.name));
    svg += fmt::format("<rect class=\"bar after\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"16\" rx=\"2\"/>\n",
                       kLabel, top + 5, width);
    svg += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", kLabel + width + 8, top + 18,
                       SecondsText(timing.seconds));
    top += kLine;
  }
  return svg + "</svg>\n";
}

std::string EscapeHtml(const std::string& text) {
  std::string escaped;
  for (const char c : OneLine(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace calve::cli
