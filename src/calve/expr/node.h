#pragma once

#include "calve/expr/value.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace calve::expr {

enum class Op {
  kTrue, kFalse, kAnd, kOr, kNot,
  kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual,
  kIsNull, kNotNull, kIsNaN, kNotNaN, kIn, kNotIn, kStartsWith, kNotStartsWith,
};

/// A column of a test: by name before binding, by field id, type and path after.
struct ColumnRef {
  std::string name;       ///< dotted path, as the user wrote it
  int field_id = -1;      ///< after binding: the PARQUET:field_id of the field, -1 when it has none
  std::vector<int> path;  ///< after binding: child indices from the top-level column down through structs
  std::shared_ptr<arrow::DataType> type;  ///< after binding
};

/// An untyped literal as parsed: text and what kind of token it was. Binding turns it into a Value of the column's type.
struct Literal {
  enum class Kind { kNumber, kText, kBool, kDate, kTimestamp, kHex } kind;
  std::string text;
};

/// A node of a filter. Before binding a test holds `literals`; after it holds `values`, and no kNot is left (negations
/// are pushed into the tests, by three-valued logic).
class Node {
 public:
  Op op = Op::kTrue;
  std::vector<std::shared_ptr<const Node>> children;  ///< of kAnd, kOr, kNot
  ColumnRef column;                                   ///< of a test
  std::vector<Literal> literals;                      ///< of a test, before binding
  std::vector<Value> values;                          ///< of a test, after binding; none is null
};

using NodePtr = std::shared_ptr<const Node>;

NodePtr True();
NodePtr False();
NodePtr And(NodePtr left, NodePtr right);  ///< simplifies TRUE and FALSE away
NodePtr Or(NodePtr left, NodePtr right);   ///< simplifies TRUE and FALSE away
std::string ToString(const NodePtr& node);

/// Resolves names and literals of `node` against `schema`, whose fields carry their ids in the metadata key
/// "PARQUET:field_id". Names match exactly; a name that matches no column is Invalid and lists the columns there are.
/// A literal that the column's type cannot hold exactly is folded (`int_col < 2.5` becomes `int_col <= 2`), never
/// rounded; one that makes no sense for the type is Invalid. Nested columns are reached through structs only.
arrow::Result<NodePtr> Bind(const NodePtr& node, const arrow::Schema& schema);

/// Field ids of all columns that a bound node tests.
std::vector<int> FieldIdsOf(const NodePtr& node);

/// The same node with field paths looked up by field id in `schema`. For batches whose columns stand elsewhere.
arrow::Result<NodePtr> Rebind(const NodePtr& node, const arrow::Schema& schema);

}  // namespace calve::expr
