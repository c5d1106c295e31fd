#pragma once

#include <arrow/result.h>

#include <string>
#include <utility>

namespace calve::cli {

/// The bytes of an AES key (16, 24 or 32) that `text` gives: hexadecimal digits, or "@FILE" for a file that holds such
/// digits, which keeps the key out of the list of processes. A usage error otherwise; it does not repeat the key.
arrow::Result<std::string> ParseKeyText(const std::string& text);

/// Splits "COLUMN=KEY" at its last '=', and reads the key. `flag` is named by the error.
arrow::Result<std::pair<std::string, std::string>> ParseColumnKey(const std::string& flag, const std::string& text);

}  // namespace calve::cli
