#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <string_view>

namespace calve {

namespace expr {
class Node;
}

/// A row filter: comparisons of columns with literals, joined by AND, OR and NOT.
///
/// Grammar (keywords in any case; `--where` of the command line uses the same):
///
///   or      = and ("OR" and)*
///   and     = not ("AND" not)*
///   not     = "NOT" not | "(" or ")" | test | "TRUE" | "FALSE"
///   test    = column ("=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=") literal
///           | column "IS" ["NOT"] ("NULL" | "NAN")
///           | column ["NOT"] "IN" "(" literal ("," literal)* ")"
///           | column ["NOT"] "BETWEEN" literal "AND" literal
///           | column ["NOT"] "LIKE" 'prefix%'
///   column  = name ("." name)* ; a name that is not an identifier stands in double quotes
///   literal = number | 'text' | TRUE | FALSE | DATE 'YYYY-MM-DD' | TIMESTAMP '...' | X'hex'
///
/// A literal takes the type of its column when the filter is bound to a schema: dates, times, timestamps, decimals and
/// UUIDs may be plain text. Comparisons follow SQL: a null operand gives null, and rows whose filter is null are
/// dropped. Immutable, cheap to copy.
class Expression {
 public:
  /// TRUE: keeps every row.
  Expression();
  explicit Expression(std::shared_ptr<const expr::Node> root);

  /// Parses `text`. Invalid names the position of what could not be parsed.
  static arrow::Result<Expression> Parse(std::string_view text);

  bool always_true() const;
  const std::shared_ptr<const expr::Node>& root() const { return root_; }
  /// The filter in the grammar above.
  std::string ToString() const;

 private:
  std::shared_ptr<const expr::Node> root_;
};

}  // namespace calve
