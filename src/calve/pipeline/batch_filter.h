#pragma once

#include "calve/expr/node.h"
#include "calve/expression.h"
#include "calve/pipeline/target_field.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <vector>

namespace calve::pipeline {

/// The rows of record batches for which a filter holds. Immutable, thread-safe.
class BatchFilter {
 public:
  /// One that every row passes.
  BatchFilter() = default;
  /// Columns are those of `schema`, by name. Invalid when the filter names one that is not there, or compares it with
  /// what it cannot be compared with.
  static arrow::Result<BatchFilter> Make(const Expression& filter, const arrow::Schema& schema);

  bool tests() const { return node_ != nullptr; }

  /// The rows of `output` that the filter is true of by the columns of `batch`, which has the schema of Make and as
  /// many rows. Without a test `output` itself.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Keep(const arrow::RecordBatch& batch,
                                                          const std::shared_ptr<arrow::RecordBatch>& output,
                                                          arrow::MemoryPool* pool) const;

 private:
  /// A column that is tested, or has fields inside that are.
  struct Tested {
    int column;
    TargetField whole, kept;  ///< kept: what is tested of it, in the types that are tested
  };

  std::vector<Tested> columns_;
  std::shared_ptr<arrow::Schema> schema_;  ///< of what is kept
  expr::NodePtr node_;
};

}  // namespace calve::pipeline
