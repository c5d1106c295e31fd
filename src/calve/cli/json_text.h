#pragma once

#include <string>
#include <string_view>

namespace calve::cli {

/// Appends `text` as a JSON string in its quotes. Bytes that are not UTF-8 become U+FFFD, so the result always is.
void AppendJsonString(std::string_view text, std::string* out);

/// The length in bytes of the UTF-8 sequence that `text` (not empty) begins with; 0 when it begins with none.
size_t Utf8SequenceLength(std::string_view text);

/// `text` with every control character, and every byte that is not UTF-8, made visible (\n, \t, \u001b, U+FFFD), so
/// that it takes one line and cannot steer a terminal.
std::string OneLine(std::string_view text);

}  // namespace calve::cli
