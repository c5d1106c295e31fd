// The grammar stands in calve/expression.h; one function a rule.

#include "calve/base/status.h"
#include "calve/expr/calendar.h"
#include "calve/expr/literal.h"
#include "calve/expr/token.h"
#include "calve/expression.h"

namespace calve {
namespace expr {
namespace {

class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens) : text_(text), tokens_(std::move(tokens)) {}

  Result<NodePtr> Whole() {
    ARROW_ASSIGN_OR_RAISE(NodePtr node, Or());
    if (Now().kind != Token::Kind::kEnd) return Unexpected("AND, OR or the end");
    return node;
  }

 private:
  /// Brackets and NOTs inside each other; keeps the recursion, here and in all that walks the tree, from the stack's
  /// end.
  static constexpr int kMostDepth = 200;

  const Token& Now() const { return tokens_[next_]; }
  const Token& After() const { return tokens_[std::min(next_ + 1, tokens_.size() - 1)]; }
  const Token& Take() { return tokens_[Now().kind == Token::Kind::kEnd ? next_ : next_++]; }

  bool TakeWord(std::string_view keyword) {
    if (!Now().Is(keyword)) return false;
    Take();
    return true;
  }

  bool TakeSymbol(std::string_view symbol) {
    if (!Now().IsSymbol(symbol)) return false;
    Take();
    return true;
  }

  Status WrongAt(const Token& token, std::string_view what) const {
    return Invalid("filter: {} at position {}", what, PositionOf(text_, token.offset));
  }

  Status Unexpected(std::string_view expected) const {
    constexpr size_t kShown = 40;
    const std::string got = Now().kind == Token::Kind::kEnd ? "the end" : "'" + Now().text.substr(0, kShown) + "'";
    return WrongAt(Now(), fmt::format("expected {}, got {}", expected, got));
  }

  Result<NodePtr> Or() {
    ARROW_ASSIGN_OR_RAISE(NodePtr first, And());
    std::vector<NodePtr> nodes{std::move(first)};
    while (TakeWord("OR")) {
      ARROW_ASSIGN_OR_RAISE(NodePtr node, And());
      nodes.push_back(std::move(node));
    }
    return expr::Or(std::move(nodes));
  }

  Result<NodePtr> And() {
    ARROW_ASSIGN_OR_RAISE(NodePtr first, Not());
    std::vector<NodePtr> nodes{std::move(first)};
    while (TakeWord("AND")) {
      ARROW_ASSIGN_OR_RAISE(NodePtr node, Not());
      nodes.push_back(std::move(node));
    }
    return expr::And(std::move(nodes));
  }

  Result<NodePtr> Not() {
    if (depth_ == kMostDepth) return WrongAt(Now(), fmt::format("nested more than {} deep", kMostDepth));
    ++depth_;
    auto node = NotInside();
    --depth_;
    return node;
  }

  Result<NodePtr> NotInside() {
    if (TakeWord("NOT")) {
      ARROW_ASSIGN_OR_RAISE(NodePtr node, Not());
      return expr::Not(std::move(node));
    }
    if (TakeSymbol("(")) {
      ARROW_ASSIGN_OR_RAISE(NodePtr node, Or());
      if (!TakeSymbol(")")) return Unexpected("')'");
      return node;
    }
    if (TakeWord("TRUE")) return True();
    if (TakeWord("FALSE")) return False();
    return Test();
  }

  Result<NodePtr> Test() {
    ColumnRef column;
    ARROW_ASSIGN_OR_RAISE(column.name, ColumnName());
    if (TakeWord("IS")) return IsTest(std::move(column));
    const bool negated = TakeWord("NOT");
    if (TakeWord("IN")) return InTest(std::move(column), negated);
    if (TakeWord("BETWEEN")) return BetweenTest(std::move(column), negated);
    if (TakeWord("LIKE")) return LikeTest(std::move(column), negated);
    if (negated) return Unexpected("IN, BETWEEN or LIKE");
    return Comparison(std::move(column));
  }

  Result<std::string> ColumnName() {
    std::string name;
    do {
      const bool is_name = Now().kind == Token::Kind::kName || Now().kind == Token::Kind::kQuotedName;
      if (!is_name) return Unexpected("the name of a column");
      if (name.empty() && Now().kind == Token::Kind::kName && IsReserved(Now().text)) {
        return Unexpected("the name of a column (in double quotes if it is a keyword)");
      }
      name += (name.empty() ? "" : ".") + QuoteNamePart(Take().text);
    } while (TakeSymbol("."));
    return name;
  }

  Result<NodePtr> IsTest(ColumnRef column) {
    const bool negated = TakeWord("NOT");
    if (TakeWord("NULL")) return Made(negated ? Op::kNotNull : Op::kIsNull, std::move(column), {});
    if (TakeWord("NAN")) return Made(negated ? Op::kNotNaN : Op::kIsNaN, std::move(column), {});
    return Unexpected(negated ? "NULL or NAN" : "NULL, NAN or NOT");
  }

  Result<NodePtr> InTest(ColumnRef column, bool negated) {
    if (!TakeSymbol("(")) return Unexpected("'('");
    std::vector<Literal> literals;
    do {
      ARROW_ASSIGN_OR_RAISE(Literal literal, AnyLiteral());
      literals.push_back(std::move(literal));
    } while (TakeSymbol(","));
    if (!TakeSymbol(")")) return Unexpected("',' or ')'");
    return Made(negated ? Op::kNotIn : Op::kIn, std::move(column), std::move(literals));
  }

  Result<NodePtr> BetweenTest(ColumnRef column, bool negated) {
    ARROW_ASSIGN_OR_RAISE(Literal low, AnyLiteral());
    if (!TakeWord("AND")) return Unexpected("AND");
    ARROW_ASSIGN_OR_RAISE(Literal high, AnyLiteral());
    NodePtr node = expr::And(Made(Op::kGreaterEqual, column, {low}), Made(Op::kLessEqual, column, {high}));
    return negated ? expr::Not(std::move(node)) : node;
  }

  static bool IsWildcard(char c) { return c == '%' || c == '_'; }

  Result<NodePtr> LikeTest(ColumnRef column, bool negated) {
    if (Now().kind != Token::Kind::kText) return Unexpected("a pattern in single quotes");
    const Token& pattern = Take();
    std::string prefix;
    size_t i = 0;
    for (; i < pattern.text.size() && !IsWildcard(pattern.text[i]); ++i) {
      if (pattern.text[i] == '\\') {
        ++i;
        if (i == pattern.text.size() || !(IsWildcard(pattern.text[i]) || pattern.text[i] == '\\')) {
          return WrongAt(pattern, "expected '%', '_' or '\\' after a backslash in the LIKE pattern");
        }
      }
      prefix += pattern.text[i];
    }
    const bool has_wildcard = i < pattern.text.size();
    if (pattern.text.find_first_not_of('%', i) != std::string::npos) {
      return NotImplemented(
          "filter: LIKE '{}' at position {}: only a prefix before one '%', or no wildcard, is supported", pattern.text,
          PositionOf(text_, pattern.offset));
    }
    const Op equal = negated ? Op::kNotEqual : Op::kEqual;
    const Op starts = negated ? Op::kNotStartsWith : Op::kStartsWith;
    return Made(has_wildcard ? starts : equal, std::move(column), {{Literal::Kind::kText, prefix}});
  }

  Result<NodePtr> Comparison(ColumnRef column) {
    constexpr std::pair<std::string_view, Op> kOps[] = {
        {"=", Op::kEqual}, {"==", Op::kEqual},     {"!=", Op::kNotEqual}, {"<>", Op::kNotEqual},
        {"<", Op::kLess},  {"<=", Op::kLessEqual}, {">", Op::kGreater},   {">=", Op::kGreaterEqual},
    };
    for (const auto& [symbol, op] : kOps) {
      if (!TakeSymbol(symbol)) continue;
      ARROW_ASSIGN_OR_RAISE(Literal literal, AnyLiteral());
      return Made(op, std::move(column), {std::move(literal)});
    }
    return Unexpected("a comparison, IS, IN, BETWEEN or LIKE");
  }

  Result<Literal> AnyLiteral() {
    const bool dated = After().kind == Token::Kind::kText;
    if (Now().Is("TRUE") || Now().Is("FALSE"))
      return Literal{Literal::Kind::kBool, Take().Is("TRUE") ? "TRUE" : "FALSE"};
    if (Now().Is("DATE") && dated) return MomentLiteral(Literal::Kind::kDate);
    if (Now().Is("TIMESTAMP") && dated) return MomentLiteral(Literal::Kind::kTimestamp);
    if (Now().Is("NULL")) return WrongAt(Now(), "NULL compares with nothing, use IS NULL:");
    switch (Now().kind) {
      case Token::Kind::kNumber:
        return Literal{Literal::Kind::kNumber, Take().text};
      case Token::Kind::kText:
        return Literal{Literal::Kind::kText, Take().text};
      case Token::Kind::kHex:
        if (!BytesFromHex(Now().text)) return WrongAt(Now(), "expected an even number of hex digits in X'...'");
        return Literal{Literal::Kind::kHex, Take().text};
      case Token::Kind::kName:
      case Token::Kind::kQuotedName:
        return Unexpected("a literal (text stands in single quotes)");
      default:
        return Unexpected("a literal");
    }
  }

  Result<Literal> MomentLiteral(Literal::Kind kind) {
    Take();
    const auto moment = ParseMoment(Now().text);
    const bool is_date = kind == Literal::Kind::kDate;
    if (!moment || !moment->days || (is_date && moment->nanos_of_day)) {
      return Unexpected(is_date ? "a date like '2024-01-31'" : "a time like '2024-01-31 10:20:30'");
    }
    return Literal{kind, Take().text};
  }

  static NodePtr Made(Op op, ColumnRef column, std::vector<Literal> literals) {
    auto node = std::make_shared<Node>();
    node->op = op;
    node->column = std::move(column);
    node->literals = std::move(literals);
    return node;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  size_t next_ = 0;
  int depth_ = 0;
};

}  // namespace
}  // namespace expr

Expression::Expression() : root_(expr::True()) {}
Expression::Expression(expr::NodePtr root) : root_(root == nullptr ? expr::True() : std::move(root)) {}

Result<Expression> Expression::Parse(std::string_view text) {
  ARROW_ASSIGN_OR_RAISE(auto tokens, expr::Tokenize(text));
  ARROW_ASSIGN_OR_RAISE(auto root, expr::Parser(text, std::move(tokens)).Whole());
  return Expression(std::move(root));
}

bool Expression::always_true() const { return root_->op == expr::Op::kTrue; }
std::string Expression::ToString() const { return expr::ToString(root_); }

}  // namespace calve
