#pragma once

#include "calve/parquet/schema.h"

#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::parquet {

/// True when a group has the fields of a variant: a binary `metadata`, beside it `value`, `typed_value` or both, and
/// nothing else.
bool HasVariantShape(const ArrowNode& group);

/// Why the values of a group that HasVariantShape cannot be put together ("Shredded Value Types"); "" when they can.
std::string ShreddingProblem(const ArrowNode& group, const std::vector<LeafColumn>& leaves);

/// The Arrow type of a variant column with this storage: "arrow.parquet.variant".
std::shared_ptr<arrow::DataType> VariantType(const std::shared_ptr<arrow::DataType>& storage);
/// That of whole values: struct<metadata: binary not null, value: binary not null>.
std::shared_ptr<arrow::DataType> WholeVariantType();

}  // namespace calve::parquet
