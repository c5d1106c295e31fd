#include "support/write_arguments.h"

#include <charconv>
#include <string_view>

namespace calve::bench {
namespace {

template <typename T>
arrow::Status ParseNumber(std::string_view option, std::string_view text, T* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size() && *out >= 0) return arrow::Status::OK();
  return arrow::Status::Invalid(option, " wants a number, got '", text, "'");
}

arrow::Status ParseOption(std::string_view option, std::string_view value, WriteArguments* out) {
  if (option == "--rounds") return ParseNumber(option, value, &out->rounds);
  if (option == "--threads") return ParseNumber(option, value, &out->threads);
  if (option == "--copy-bytes") return ParseNumber(option, value, &out->copy_bytes);
  if (option == "--level") return ParseNumber(option, value, &out->compression_level);
  if (option == "--option") {
    out->option = value;
  } else if (option == "--writer") {
    out->writer = value;
  } else if (option == "--out") {
    out->out = value;
  } else {
    return arrow::Status::Invalid("unknown option ", option);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<WriteArguments> ParseWriteArguments(int argc, char** argv) {
  WriteArguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      if (!arguments.file.empty()) return arrow::Status::Invalid("one file at a time, got '", word, "' too");
      arguments.file = word;
    } else if (word == "--serve") {
      arguments.serve = true;
    } else if (++i == argc) {
      return arrow::Status::Invalid(word, " wants a value");
    } else {
      ARROW_RETURN_NOT_OK(ParseOption(word, argv[i], &arguments));
    }
  }
  if (arguments.file.empty()) return arrow::Status::Invalid("no file given");
  if (arguments.threads < 1) return arrow::Status::Invalid("--threads wants at least 1");
  return arguments;
}

}  // namespace calve::bench
