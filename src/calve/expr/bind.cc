#include "calve/base/status.h"
#include "calve/expr/domain.h"
#include "calve/expr/literal.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <charconv>

namespace calve::expr {
namespace {

constexpr char kFieldIdKey[] = "PARQUET:field_id";

int FieldIdOf(const arrow::Field& field) {
  if (field.metadata() == nullptr) return -1;
  const auto text = field.metadata()->Get(kFieldIdKey);
  if (!text.ok()) return -1;
  int id = -1;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), id);
  return parsed.ec == std::errc() && parsed.ptr == text->data() + text->size() ? id : -1;
}

std::string ColumnNames(const arrow::FieldVector& fields) {
  constexpr int kMostShown = 50;
  std::string names;
  for (int i = 0; i < static_cast<int>(fields.size()); ++i) {
    if (i == kMostShown) return names + fmt::format(", and {} more", fields.size() - i);
    names += (names.empty() ? "" : ", ") + fields[i]->name();
  }
  return names;
}

int IndexOf(const arrow::FieldVector& fields, std::string_view name) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i]->name() == name) return static_cast<int>(i);
  }
  return -1;
}

ColumnRef At(ColumnRef column, const arrow::Field& field, std::vector<int> path) {
  column.field_id = FieldIdOf(field);
  column.type = field.type();
  column.path = std::move(path);
  return column;
}

Result<ColumnRef> FindByPath(const ColumnRef& column, const arrow::Schema& schema) {
  const auto parts = NameParts(column.name);
  if (!parts) return Invalid("column name {} has a quote that is not closed", column.name);
  std::vector<int> path;
  const arrow::FieldVector* fields = &schema.fields();
  std::string parent;
  for (const std::string& part : *parts) {
    const int index = IndexOf(*fields, part);
    if (index < 0) {
      return Invalid("no column '{}' (columns{}: {})", column.name, parent.empty() ? "" : " of '" + parent + "'",
                     ColumnNames(*fields));
    }
    path.push_back(index);
    const arrow::Field& field = *(*fields)[index];
    if (path.size() == parts->size()) return At(column, field, path);
    if (field.type()->id() != arrow::Type::STRUCT) {
      return Invalid("no column '{}': '{}' is no struct but {}", column.name, part, field.type()->ToString());
    }
    parent += (parent.empty() ? "" : ".") + part;
    fields = &field.type()->fields();
  }
  return Invalid("a column has no name");
}

/// The field that the dotted name leads to; a column with all of it as its name stands behind that.
Result<ColumnRef> FindByName(const ColumnRef& column, const arrow::Schema& schema) {
  Result<ColumnRef> nested = FindByPath(column, schema);
  if (nested.ok()) return nested;
  const int whole = IndexOf(schema.fields(), column.name);
  return whole >= 0 ? At(column, *schema.field(whole), {whole}) : nested;
}

std::optional<ColumnRef> FindById(const ColumnRef& column, const arrow::FieldVector& fields, std::vector<int>* path) {
  for (int i = 0; i < static_cast<int>(fields.size()); ++i) {
    path->push_back(i);
    if (FieldIdOf(*fields[i]) == column.field_id) return At(column, *fields[i], *path);
    if (fields[i]->type()->id() == arrow::Type::STRUCT) {
      if (auto found = FindById(column, fields[i]->type()->fields(), path)) return found;
    }
    path->pop_back();
  }
  return std::nullopt;
}

Result<ColumnRef> FindAgain(const ColumnRef& column, const arrow::Schema& schema) {
  if (column.field_id < 0) return FindByName(column, schema);
  std::vector<int> path;
  if (auto found = FindById(column, schema.fields(), &path)) return *found;
  return Invalid("no column '{}' with field id {} (columns: {})", column.name, column.field_id,
                 ColumnNames(schema.fields()));
}

Op Negated(Op op) {
  switch (op) {
    case Op::kTrue:
      return Op::kFalse;
    case Op::kFalse:
      return Op::kTrue;
    case Op::kAnd:
      return Op::kOr;
    case Op::kOr:
      return Op::kAnd;
    case Op::kNot:
      return Op::kNot;
    case Op::kEqual:
      return Op::kNotEqual;
    case Op::kNotEqual:
      return Op::kEqual;
    case Op::kLess:
      return Op::kGreaterEqual;
    case Op::kLessEqual:
      return Op::kGreater;
    case Op::kGreater:
      return Op::kLessEqual;
    case Op::kGreaterEqual:
      return Op::kLess;
    case Op::kIsNull:
      return Op::kNotNull;
    case Op::kNotNull:
      return Op::kIsNull;
    case Op::kIsNaN:
      return Op::kNotNaN;
    case Op::kNotNaN:
      return Op::kIsNaN;
    case Op::kIn:
      return Op::kNotIn;
    case Op::kNotIn:
      return Op::kIn;
    case Op::kStartsWith:
      return Op::kNotStartsWith;
    case Op::kNotStartsWith:
      return Op::kStartsWith;
  }
  return op;
}

bool IsNullTest(Op op) { return op == Op::kIsNull || op == Op::kNotNull; }
bool IsNaNTest(Op op) { return op == Op::kIsNaN || op == Op::kNotNaN; }
bool IsPrefixTest(Op op) { return op == Op::kStartsWith || op == Op::kNotStartsWith; }

/// The test `column op (...)` for literals at `places`; a prefix stands at the first.
Result<NodePtr> FoldTest(Op op, const ColumnRef& column, const std::vector<Place>& places) {
  if (op == Op::kIn || op == Op::kNotIn) return SetTestAt(op, column, places);
  if (places.size() != 1) return Invalid("a comparison takes one literal, got {}", places.size());
  if (!IsPrefixTest(op)) return TestAt(op, column, places.front());
  const auto* prefix = std::get_if<std::string>(&places.front().value);
  if (prefix == nullptr) return Invalid("expected a text prefix");
  if (!prefix->empty()) return Test(op, column, {*prefix});
  return op == Op::kStartsWith ? Test(Op::kNotNull, column) : False();
}

/// The tests that take no literal, and all tests of columns that hold nulls only; null when it is neither.
Result<NodePtr> TestWithoutLiteral(Op op, const ColumnRef& column) {
  const Domain domain = DomainOf(*column.type);
  if (IsNullTest(op)) return Test(op, column);
  if (IsNaNTest(op)) {
    if (domain.kind == Domain::Kind::kNull) return op == Op::kNotNaN ? True() : False();
    if (!domain.is_floating()) return Invalid("IS NAN takes float and double columns only");
    return Test(op, column);
  }
  if (domain.kind == Domain::Kind::kNull) return False();
  if (IsPrefixTest(op) && (!domain.is_bytes() || domain.kind == Domain::Kind::kUuid)) {
    return Invalid("LIKE takes text and binary columns only");
  }
  return NodePtr();
}

Result<Place> PlaceOfPrefix(const Literal& literal) {
  if (literal.kind != Literal::Kind::kHex) return Place{Place::Where::kExact, literal.text};
  const auto bytes = BytesFromHex(literal.text);
  if (!bytes) return Invalid("expected hex digits, got {}", ToString(literal));
  return Place{Place::Where::kExact, *bytes};
}

Result<NodePtr> BindTest(Op op, const Node& test, const ColumnRef& column) {
  ARROW_ASSIGN_OR_RAISE(NodePtr done, TestWithoutLiteral(op, column));
  if (done != nullptr) return done;
  std::vector<Place> places;
  for (const Literal& literal : test.literals) {
    ARROW_ASSIGN_OR_RAISE(Place place, IsPrefixTest(op) ? PlaceOfPrefix(literal) : PlaceOf(literal, *column.type));
    places.push_back(std::move(place));
  }
  return FoldTest(op, column, places);
}

Result<NodePtr> RebindTest(const Node& test, const ColumnRef& column) {
  ARROW_ASSIGN_OR_RAISE(NodePtr done, TestWithoutLiteral(test.op, column));
  if (done != nullptr) return done;
  std::vector<Place> places;
  for (const Value& value : test.values) {
    if (IsPrefixTest(test.op)) {
      places.push_back({Place::Where::kExact, value});
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(Place place, PlaceOf(value, *test.column.type, *column.type));
    places.push_back(std::move(place));
  }
  return FoldTest(test.op, column, places);
}

std::string ColumnContext(const ColumnRef& column) {
  return fmt::format("filter: column '{}' of type {}", column.name, column.type->ToString());
}

Result<NodePtr> BindNode(const Node& node, bool negated, const arrow::Schema& schema) {
  const Op op = negated ? Negated(node.op) : node.op;
  if (op == Op::kTrue) return True();
  if (op == Op::kFalse) return False();
  if (op == Op::kNot) return BindNode(*node.children.at(0), !negated, schema);
  if (op == Op::kAnd || op == Op::kOr) {
    std::vector<NodePtr> children;
    for (const NodePtr& child : node.children) {
      ARROW_ASSIGN_OR_RAISE(NodePtr bound, BindNode(*child, negated, schema));
      children.push_back(std::move(bound));
    }
    return op == Op::kAnd ? And(std::move(children)) : Or(std::move(children));
  }
  ARROW_ASSIGN_OR_RAISE(ColumnRef column, WithContext(FindByName(node.column, schema), "filter"));
  if (!node.values.empty()) return Invalid("filter: the test of column '{}' is bound already", column.name);
  return WithContext(BindTest(op, node, column), ColumnContext(column));
}

}  // namespace

Result<NodePtr> Bind(const NodePtr& node, const arrow::Schema& schema) { return BindNode(*node, false, schema); }

Result<NodePtr> Rebind(const NodePtr& node, const arrow::Schema& schema) {
  if (node->op == Op::kTrue || node->op == Op::kFalse) return node;
  if (node->op >= Op::kEqual) {
    ARROW_ASSIGN_OR_RAISE(ColumnRef column, WithContext(FindAgain(node->column, schema), "filter"));
    return WithContext(RebindTest(*node, column), ColumnContext(column));
  }
  std::vector<NodePtr> children;
  for (const NodePtr& child : node->children) {
    ARROW_ASSIGN_OR_RAISE(NodePtr bound, Rebind(child, schema));
    children.push_back(std::move(bound));
  }
  if (node->op == Op::kNot) return Not(children.at(0));
  return node->op == Op::kAnd ? And(std::move(children)) : Or(std::move(children));
}

}  // namespace calve::expr
