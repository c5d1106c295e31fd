#include "support/arguments.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace calve::bench {
namespace {

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <typename T>
arrow::Status ParsePositive(std::string_view option, std::string_view text, T* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size() && *out >= 0) return arrow::Status::OK();
  return arrow::Status::Invalid(option, " wants a number, got '", text, "'");
}

arrow::Status ParseOption(std::string_view option, std::string_view value, Arguments* out) {
  if (option == "--rounds") return ParsePositive(option, value, &out->rounds);
  if (option == "--threads") return ParsePositive(option, value, &out->threads);
  if (option == "--batch-rows") return ParsePositive(option, value, &out->batch_rows);
  if (option == "--copy-bytes") return ParsePositive(option, value, &out->copy_bytes);
  if (option == "--columns") {
    out->columns = Split(value);
  } else if (option == "--strings") {
    out->strings = value;
  } else if (option == "--filter") {
    out->filter = value;
  } else if (option == "--reader") {
    out->reader = value;
  } else {
    return arrow::Status::Invalid("unknown option ", option);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<Arguments> ParseArguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      arguments.files.emplace_back(word);
    } else if (word == "--keep") {
      arguments.keep = true;
    } else if (word == "--footer-cache") {
      arguments.footer_cache = true;
    } else if (word == "--serve") {
      arguments.serve = true;
    } else if (++i == argc) {
      return arrow::Status::Invalid(word, " wants a value");
    } else {
      ARROW_RETURN_NOT_OK(ParseOption(word, argv[i], &arguments));
    }
  }
  if (arguments.files.empty()) return arrow::Status::Invalid("no file given");
  return arguments;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace calve::bench
