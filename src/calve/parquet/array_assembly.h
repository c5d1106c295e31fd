#pragma once

#include "calve/parquet/leaf_values.h"
#include "calve/parquet/schema.h"

#include <arrow/array/data.h>

#include <memory>
#include <span>
#include <vector>

namespace calve::parquet {

/// Assembles the Arrow array of a top-level field from its leaves' values and levels. `batches[i]` is of leaf
/// `first_leaf` + i (those that are not under the node may be empty), and is used up. Invalid when the levels of leaves
/// that share an ancestor disagree about it.
Result<std::shared_ptr<arrow::ArrayData>> AssembleField(const FileSchema& schema, const ArrowNode& node, int first_leaf,
                                                        std::vector<LeafBatch>* batches, arrow::MemoryPool* pool);

}  // namespace calve::parquet
