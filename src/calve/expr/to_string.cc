#include "calve/expr/literal.h"

#include "calve/expr/token.h"

#include <arrow/type.h>

namespace calve::expr {
namespace {

std::string Quoted(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) {
    if (c == quote) quoted += quote;
    quoted += c;
  }
  quoted += quote;
  return quoted;
}

/// A part of a column's name as the grammar writes it.
std::string WrittenPart(std::string_view part) { return IsPlainName(part) ? std::string(part) : Quoted(part, '"'); }

std::string ToString(const ColumnRef& column) {
  const auto parts = NameParts(column.name);
  if (!parts) return WrittenPart(column.name);
  std::string text;
  for (const std::string& part : *parts) text += (text.empty() ? "" : ".") + WrittenPart(part);
  return text;
}

std::vector<Literal> LiteralsOf(const Node& node) {
  if (!node.literals.empty() || node.column.type == nullptr) return node.literals;
  std::vector<Literal> literals;
  for (const Value& value : node.values) literals.push_back(LiteralOf(value, *node.column.type));
  return literals;
}

std::string_view Sign(Op op) {
  switch (op) {
    case Op::kEqual:
      return "=";
    case Op::kNotEqual:
      return "!=";
    case Op::kLess:
      return "<";
    case Op::kLessEqual:
      return "<=";
    case Op::kGreater:
      return ">";
    case Op::kGreaterEqual:
      return ">=";
    case Op::kIsNull:
      return "IS NULL";
    case Op::kNotNull:
      return "IS NOT NULL";
    case Op::kIsNaN:
      return "IS NAN";
    case Op::kNotNaN:
      return "IS NOT NAN";
    case Op::kIn:
      return "IN";
    case Op::kNotIn:
      return "NOT IN";
    case Op::kStartsWith:
      return "LIKE";
    case Op::kNotStartsWith:
      return "NOT LIKE";
    default:
      return "";
  }
}

std::string PrefixPattern(std::string_view prefix) {
  std::string pattern;
  for (const char c : prefix) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return Quoted(pattern + "%", '\'');
}

/// The prefix of a LIKE: its bytes, whatever kind of literal they stand in.
std::string PrefixOf(const Node& node, const std::vector<Literal>& literals) {
  if (!node.values.empty()) {
    if (const auto* bytes = std::get_if<std::string>(&node.values.front())) return *bytes;
  }
  return literals.empty() ? "" : literals.front().text;
}

std::string TestToString(const Node& node) {
  const std::string head = ToString(node.column) + " " + std::string(Sign(node.op));
  const std::vector<Literal> literals = LiteralsOf(node);
  switch (node.op) {
    case Op::kIsNull:
    case Op::kNotNull:
    case Op::kIsNaN:
    case Op::kNotNaN:
      return head;
    case Op::kStartsWith:
    case Op::kNotStartsWith:
      return head + " " + PrefixPattern(PrefixOf(node, literals));
    case Op::kIn:
    case Op::kNotIn:
      break;
    default:
      return head + " " + (literals.empty() ? "?" : expr::ToString(literals.front()));
  }
  std::string list;
  for (const Literal& literal : literals) list += (list.empty() ? "" : ", ") + expr::ToString(literal);
  return head + " (" + list + ")";
}

std::string JoinedToString(const Node& node, std::string_view word) {
  std::string text;
  for (const NodePtr& child : node.children) {
    const bool in_brackets = child->op == Op::kOr || child->op == node.op;
    if (!text.empty()) text += word;
    text += in_brackets ? "(" + ToString(child) + ")" : ToString(child);
  }
  return text;
}

std::string NotToString(const NodePtr& child) {
  const bool in_brackets = child->op == Op::kAnd || child->op == Op::kOr;
  return in_brackets ? "NOT (" + ToString(child) + ")" : "NOT " + ToString(child);
}

/// Takes a quoted part from the front of `name`; nothing when its quote is not closed.
std::optional<std::string> TakeQuotedPart(std::string_view* name) {
  std::string part;
  for (size_t i = 1; i < name->size(); ++i) {
    const bool quote = (*name)[i] == '"';
    const bool doubled = quote && i + 1 < name->size() && (*name)[i + 1] == '"';
    if (quote && !doubled) {
      name->remove_prefix(i + 1);
      return part;
    }
    part += (*name)[i];
    if (doubled) ++i;
  }
  return std::nullopt;
}

std::string TakePlainPart(std::string_view* name) {
  std::string part(name->substr(0, name->find('.')));
  name->remove_prefix(part.size());
  return part;
}

}  // namespace

std::string ToString(const Literal& literal) {
  switch (literal.kind) {
    case Literal::Kind::kNumber:
      return literal.text;
    case Literal::Kind::kText:
      return Quoted(literal.text, '\'');
    case Literal::Kind::kBool:
      return literal.text;
    case Literal::Kind::kDate:
      return "DATE " + Quoted(literal.text, '\'');
    case Literal::Kind::kTimestamp:
      return "TIMESTAMP " + Quoted(literal.text, '\'');
    case Literal::Kind::kHex:
      return "X" + Quoted(literal.text, '\'');
  }
  return literal.text;
}

std::string ToString(const NodePtr& node) {
  switch (node->op) {
    case Op::kTrue:
      return "TRUE";
    case Op::kFalse:
      return "FALSE";
    case Op::kAnd:
      return JoinedToString(*node, " AND ");
    case Op::kOr:
      return JoinedToString(*node, " OR ");
    case Op::kNot:
      return node->children.empty() ? "" : NotToString(node->children.front());
    default:
      return TestToString(*node);
  }
}

std::optional<std::vector<std::string>> NameParts(std::string_view name) {
  std::vector<std::string> parts;
  while (true) {
    const bool quoted = !name.empty() && name.front() == '"';
    auto part = quoted ? TakeQuotedPart(&name) : std::optional(TakePlainPart(&name));
    if (!part) return std::nullopt;
    parts.push_back(std::move(*part));
    if (name.empty()) return parts;
    if (name.front() != '.') return std::nullopt;
    name.remove_prefix(1);
  }
}

std::string QuoteNamePart(std::string_view part) {
  const bool plain = part.find_first_of(".\"") == std::string_view::npos;
  return plain ? std::string(part) : Quoted(part, '"');
}

}  // namespace calve::expr
