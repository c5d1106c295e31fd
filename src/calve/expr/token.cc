// Words of a filter:
//
//   name    = letter (letter | digit | "_" | "$")*        letters: ASCII, "_", and every non-ASCII character
//   quoted  = '"' (any but '"' | '""')* '"'
//   number  = [sign] (digits ["." digits*] | "." digits) [("e" | "E") [sign] digits]
//   text    = "'" (any but "'" | "''")* "'"
//   hex     = ("x" | "X") "'" hex digits "'"
//   symbol  = "(" | ")" | "," | "." | "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">="

#include "calve/expr/token.h"

#include "calve/base/status.h"

#include <algorithm>

namespace calve::expr {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool IsNamePart(char c) { return IsLetter(c) || IsDigit(c) || c == '$'; }

bool SameWord(std::string_view word, std::string_view keyword) {
  return std::ranges::equal(word, keyword,
                            [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; });
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  Result<Token> Next() {
    while (offset_ < text_.size() && IsSpace(text_[offset_])) ++offset_;
    start_ = offset_;
    if (offset_ == text_.size()) return Token{Token::Kind::kEnd, "", start_};
    const char c = Peek(0);
    if ((c == 'x' || c == 'X') && Peek(1) == '\'') {
      ++offset_;
      return Quoted(Token::Kind::kHex);
    }
    if (c == '\'') return Quoted(Token::Kind::kText);
    if (c == '"') return Quoted(Token::Kind::kQuotedName);
    if (IsLetter(c)) return Name();
    if (NumberFollows()) return Number();
    return Symbol();
  }

 private:
  char Peek(size_t ahead) const { return offset_ + ahead < text_.size() ? text_[offset_ + ahead] : '\0'; }

  Token Made(Token::Kind kind) const { return {kind, std::string(text_.substr(start_, offset_ - start_)), start_}; }

  Status Wrong(std::string_view what) const {
    return Invalid("filter: {} at position {}", what, PositionOf(text_, start_));
  }

  Result<Token> Quoted(Token::Kind kind) {
    const char quote = text_[offset_++];
    std::string content;
    while (offset_ < text_.size()) {
      const char c = text_[offset_++];
      if (c == quote) {
        if (Peek(0) != quote) return Token{kind, content, start_};
        ++offset_;
      }
      content += c;
    }
    return Wrong(quote == '"' ? "a quoted name is not closed" : "a text is not closed");
  }

  Token Name() {
    while (IsNamePart(Peek(0))) ++offset_;
    return Made(Token::Kind::kName);
  }

  bool NumberFollows() const {
    const size_t sign = Peek(0) == '-' || Peek(0) == '+' ? 1 : 0;
    return IsDigit(Peek(sign)) || (Peek(sign) == '.' && IsDigit(Peek(sign + 1)));
  }

  Result<Token> Number() {
    if (!IsDigit(Peek(0)) && Peek(0) != '.') ++offset_;
    SkipDigits();
    if (Peek(0) == '.') {
      ++offset_;
      SkipDigits();
    }
    if (Peek(0) == 'e' || Peek(0) == 'E') {
      offset_ += Peek(1) == '-' || Peek(1) == '+' ? 2 : 1;
      if (!IsDigit(Peek(0))) return Wrong("a number lacks its exponent");
      SkipDigits();
    }
    if (IsNamePart(Peek(0)) || Peek(0) == '.') {
      return Wrong("a word begins with a digit (put names like that in double quotes)");
    }
    return Made(Token::Kind::kNumber);
  }

  void SkipDigits() {
    while (IsDigit(Peek(0))) ++offset_;
  }

  Result<Token> Symbol() {
    for (const std::string_view symbol : {"==", "!=", "<>", "<=", ">=", "(", ")", ",", ".", "=", "<", ">"}) {
      if (text_.substr(offset_).starts_with(symbol)) {
        offset_ += symbol.size();
        return Made(Token::Kind::kSymbol);
      }
    }
    return Wrong(fmt::format("unexpected character '{}'", text_[offset_]));
  }

  std::string_view text_;
  size_t offset_ = 0;
  size_t start_ = 0;
};

}  // namespace

bool Token::Is(std::string_view keyword) const { return kind == Kind::kName && SameWord(text, keyword); }

Result<std::vector<Token>> Tokenize(std::string_view text) {
  Tokenizer tokenizer(text);
  std::vector<Token> tokens;
  do {
    ARROW_ASSIGN_OR_RAISE(Token token, tokenizer.Next());
    tokens.push_back(std::move(token));
  } while (tokens.back().kind != Token::Kind::kEnd);
  return tokens;
}

size_t PositionOf(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return static_cast<size_t>(std::ranges::count_if(before, starts_character)) + 1;
}

bool IsReserved(std::string_view name) {
  constexpr std::string_view kWords[] = {"AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "BETWEEN", "TRUE", "FALSE"};
  return std::ranges::any_of(kWords, [name](std::string_view word) { return SameWord(name, word); });
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && IsLetter(name.front()) && std::ranges::all_of(name, IsNamePart) && !IsReserved(name);
}

}  // namespace calve::expr
