#pragma once

#include <arrow/result.h>

#include <string>
#include <string_view>
#include <vector>

namespace calve::expr {

/// A word of a filter.
struct Token {
  enum class Kind { kEnd, kName, kQuotedName, kNumber, kText, kHex, kSymbol } kind = Kind::kEnd;
  std::string text;   ///< quotes taken off
  size_t offset = 0;  ///< bytes from the start of the filter

  /// True for a name without quotes that spells `keyword` (upper case) in any case.
  bool Is(std::string_view keyword) const;
  bool IsSymbol(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
};

/// Splits a filter into its words; the last one is kEnd. Invalid names the position of what is no word.
arrow::Result<std::vector<Token>> Tokenize(std::string_view text);

/// The position that a person counts: characters from 1 on.
size_t PositionOf(std::string_view text, size_t offset);

/// True for a name that needs no double quotes: letters, digits, `_`, `$`, no digit first, and no keyword.
bool IsPlainName(std::string_view name);

/// True for a keyword that cannot be the name of a column unless it stands in double quotes.
bool IsReserved(std::string_view name);

}  // namespace calve::expr
