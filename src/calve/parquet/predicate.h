#pragma once

#include "calve/expr/node.h"
#include "calve/expression.h"
#include "calve/parquet/schema.h"
#include "calve/parquet/selection.h"

#include <memory>
#include <vector>

namespace calve::parquet {

/// A column that a filter tests, as the file has it.
struct PredicateColumn {
  std::vector<int> path;    ///< of the ColumnRef: child indices in the Arrow schema
  std::vector<int> leaves;  ///< under it, sorted
  /// The leaf whose statistics, dictionary and bloom filter speak of the column; -1 when there is none: in a list or
  /// map, or no primitive, or of an Arrow type that is not what the leaf itself is read as.
  int leaf = -1;
  std::shared_ptr<arrow::DataType> type;
};

/// A filter bound to a file's schema. Immutable.
class Predicate {
 public:
  /// Binds `filter`; one that is bound already is taken to be so to this very schema. Invalid names what does not fit.
  static Result<Predicate> Make(const Expression& filter, const FileSchema& schema);

  const expr::NodePtr& node() const { return node_; }
  bool always_true() const { return node_->op == expr::Op::kTrue; }
  bool always_false() const { return node_->op == expr::Op::kFalse; }
  /// What has to be read to evaluate it, sorted.
  const std::vector<int>& leaves() const { return leaves_; }
  /// The column of a test in node().
  const PredicateColumn& ColumnOf(const expr::Node& test) const;

  /// node() for batches that have the columns of `selection`, which has all of leaves().
  expr::NodePtr NodeFor(const FileSchema& schema, const Selection& selection) const;

 private:
  expr::NodePtr node_;
  std::vector<PredicateColumn> columns_;
  std::vector<int> leaves_;
};

/// False only when `might` says of enough tests that no row passes them: what it says is combined by AND and OR.
/// `might(test)` gives a Result<bool>.
template <typename Might>
Result<bool> MightMatchTests(const expr::NodePtr& node, Might&& might) {
  switch (node->op) {
    case expr::Op::kTrue:
    case expr::Op::kNot:
      return true;
    case expr::Op::kFalse:
      return false;
    case expr::Op::kAnd:
    case expr::Op::kOr:
      for (const expr::NodePtr& child : node->children) {
        ARROW_ASSIGN_OR_RAISE(const bool child_might, MightMatchTests(child, might));
        if (child_might == (node->op == expr::Op::kOr)) return child_might;
      }
      return node->op == expr::Op::kAnd;
    default:
      return might(node);
  }
}

}  // namespace calve::parquet
