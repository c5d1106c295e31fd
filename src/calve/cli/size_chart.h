#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace calve::cli {

/// An SVG picture of file sizes, to stand inside an HTML page: how many files there are of each size, on a logarithmic
/// scale, `before` and `after` one above the other over the same axis. Colours come from the page's style (classes
/// before, after, axis).
std::string SizeChart(const std::vector<int64_t>& before, const std::vector<int64_t>& after);

/// An SVG bar of parts that add up to a whole, each with its name and seconds.
struct Timing {
  std::string name;
  double seconds = 0;
};
std::string TimingChart(const std::vector<Timing>& timings);

/// `text` with &, <, >, " and ' as entities.
std::string EscapeHtml(const std::string& text);

}  // namespace calve::cli
