#pragma once

#include "calve/expr/node.h"

#include <arrow/type_fwd.h>

namespace calve::expr {

/// Evaluates a node bound to the schema of `batch`. Result: BooleanArray[num_rows], null where SQL's answer is null.
arrow::Result<std::shared_ptr<arrow::BooleanArray>> Evaluate(const NodePtr& node, const arrow::RecordBatch& batch,
                                                             arrow::MemoryPool* pool);

/// The rows of `batch` for which `mask` is true, in order. Returns `batch` itself when all are.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> KeepRows(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                            const std::shared_ptr<arrow::BooleanArray>& mask,
                                                            arrow::MemoryPool* pool);

/// The rows of `batch` for which `node` is true, in order. Returns `batch` itself when all are.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> Filter(const NodePtr& node,
                                                          const std::shared_ptr<arrow::RecordBatch>& batch,
                                                          arrow::MemoryPool* pool);

}  // namespace calve::expr
