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
  kTrue,
  kFalse,
  kAnd,
  kOr,
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIsNull,
  kNotNull,
  kIsNaN,
  kNotNaN,
  kIn,
  kNotIn,
  kStartsWith,
  kNotStartsWith,
};

/// A column of a test: by name before binding, by field id, type and path after.
struct ColumnRef {
  /// Dotted path. A part that holds a dot or a double quote itself stands in double quotes, inner ones doubled.
  std::string name;
  int field_id = -1;      ///< after binding: the PARQUET:field_id of the field, -1 when it has none
  std::vector<int> path;  ///< after binding: child indices from the top-level column down through structs
  std::shared_ptr<arrow::DataType> type;  ///< after binding
};

/// An untyped literal as parsed: text and what kind of token it was. Binding turns it into a Value of the column's
/// type.
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
/// Joined nodes have any number of children from two on: an AND of ANDs is made one. TRUE and FALSE are simplified
/// away.
NodePtr And(NodePtr left, NodePtr right);
NodePtr Or(NodePtr left, NodePtr right);
NodePtr And(std::vector<NodePtr> nodes);
NodePtr Or(std::vector<NodePtr> nodes);
NodePtr Not(NodePtr node);
/// A bound test. The values are of the column's alternative and not NaN.
NodePtr Test(Op op, ColumnRef column, std::vector<Value> values = {});
/// The filter in the grammar of calve/expression.h; parsing it again gives the same filter.
std::string ToString(const NodePtr& node);

/// Resolves names and literals of `node` against `schema`, whose fields carry their ids in the metadata key
/// "PARQUET:field_id". Names match exactly; a name that matches no column is Invalid and lists the columns there are.
/// A literal that the column's type cannot hold exactly is folded (`int_col < 2.5` becomes `int_col <= 2`), never
/// rounded, but that a number compared with a float or double column means the nearest one, as everywhere. A literal
/// that makes no sense for the type is Invalid. NaN literals become NaN tests. Nested columns are reached through
/// structs only. Columns of types that value.h does not list are bound where they compare alike: int8 to uint16 as
/// int32, uint32 as int64, uint64 and the other decimals as decimal128, float16 as float, times, timestamps and date64
/// in their own units, large, view and dictionary-encoded ones as what they hold.
arrow::Result<NodePtr> Bind(const NodePtr& node, const arrow::Schema& schema);

/// All columns that a node tests, each once.
std::vector<ColumnRef> ColumnsOf(const NodePtr& node);
/// Field ids of all columns that a bound node tests, ascending; columns without an id are left out.
std::vector<int> FieldIdsOf(const NodePtr& node);

/// The same node with field paths looked up by field id in `schema` (by name for a column without an id). For batches
/// whose columns stand elsewhere. A column of another type (a file written before a promotion) gets its values
/// converted, folded where they do not fit. Invalid when a column is missing or its type cannot be compared with the
/// values.
arrow::Result<NodePtr> Rebind(const NodePtr& node, const arrow::Schema& schema);

}  // namespace calve::expr
