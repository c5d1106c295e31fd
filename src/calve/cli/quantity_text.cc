#include "calve/cli/quantity_text.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace calve::cli {

namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr double kKi = 1024;
constexpr std::array<Unit, 14> kUnits = {{{"", 1},
                                          {"b", 1},
                                          {"k", kKi},
                                          {"kib", kKi},
                                          {"kb", 1e3},
                                          {"m", kKi* kKi},
                                          {"mib", kKi* kKi},
                                          {"mb", 1e6},
                                          {"g", kKi* kKi* kKi},
                                          {"gib", kKi* kKi* kKi},
                                          {"gb", 1e9},
                                          {"t", kKi* kKi* kKi* kKi},
                                          {"tib", kKi* kKi* kKi* kKi},
                                          {"tb", 1e12}}};

}  // namespace

arrow::Result<int64_t> ParseSize(std::string_view text) {
  const auto error = [&] {
    return arrow::Status::Invalid(fmt::format("not a size: '{}' (a number of bytes, or such as 64MiB or 1.5G)", text));
  };
  int64_t whole = 0;
  const char* const end = text.data() + text.size();
  if (const auto result = std::from_chars(text.data(), end, whole); result.ec == std::errc() && result.ptr == end) {
    if (whole < 0) return error();
    return whole;
  }
  double number = 0;
  const auto result = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (result.ec != std::errc() || !(number >= 0)) return error();
  std::string unit;
  for (const char* p = result.ptr; p != end; ++p) {
    if (*p != ' ' || !unit.empty()) unit.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(*p))));
  }
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    const double bytes = std::floor(number * known.bytes);
    if (bytes >= 9.2e18) return error();
    return static_cast<int64_t>(bytes);
  }
  return error();
}

std::string SizeText(int64_t bytes) {
  constexpr std::array<const char*, 5> kNames = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 99.95 ? 1 : 0, kNames[unit]);
}

std::string CountText(int64_t count) {
  std::string text = fmt::format("{}", count);
  const size_t first = count < 0 ? 1 : 0;
  for (size_t i = text.size(); i > first + 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

std::string SecondsText(double seconds) {
  if (seconds < 1) return fmt::format("{:.3f} s", seconds);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string Counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", CountText(count), noun, count == 1 ? "" : "s");
}

}  // namespace calve::cli
