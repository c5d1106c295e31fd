#include "calve/cli/key_text.h"

#include "calve/cli/json_text.h"
#include "calve/cli/session.h"
#include "calve/cli/target.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <string_view>

namespace calve::cli {

namespace {

using arrow::Result;

/// More than the digits of the longest key, and blanks around them.
constexpr size_t kMostKeyFileBytes = 1024;

Result<std::string> ReadKeyFile(const std::string& path) {
  ARROW_RETURN_NOT_OK(CheckRegularFile(path));
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostKeyFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.fail() && !file.eof())) {
    return arrow::Status::IOError(fmt::format("key file {} cannot be read", OneLine(path)));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks), end = text.find_last_not_of(kBlanks);
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// No bytes when `hex` is anything but pairs of hexadecimal digits.
std::string BytesOfHex(const std::string& hex) {
  std::string bytes;
  if (hex.size() % 2 != 0) return bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    if (error != std::errc() || end != hex.data() + i + 2) return "";
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

}  // namespace

Result<std::string> ParseKeyText(const std::string& text) {
  std::string hex = text;
  if (text.starts_with("@")) {
    ARROW_ASSIGN_OR_RAISE(hex, ReadKeyFile(text.substr(1)));
  }
  std::string key = BytesOfHex(hex);
  if (key.empty()) {
    const std::string where = text.starts_with("@") ? fmt::format(" (in {})", OneLine(text.substr(1))) : "";
    return UsageError("a key is given in hexadecimal digits, two a byte, or as @FILE with such digits in it" + where);
  }
  if (key.size() != 16 && key.size() != 24 && key.size() != 32) {
    return UsageError(fmt::format("a key has 16, 24 or 32 bytes, not {}", key.size()));
  }
  return key;
}

Result<std::pair<std::string, std::string>> ParseColumnKey(const std::string& flag, const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return UsageError(flag + " wants COLUMN=KEY");
  ARROW_ASSIGN_OR_RAISE(std::string key, ParseKeyText(text.substr(equals + 1)));
  return std::pair(text.substr(0, equals), std::move(key));
}

}  // namespace calve::cli
