#pragma once

#include "calve/parquet/schema.h"

#include <arrow/array/data.h>

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

/// Puts the values of a shredded variant together ("Reconstructing a Shredded Variant"): `shredded` is a struct of
/// metadata, value and typed_value, or an extension array over one; the result is of WholeVariantType(). A value that
/// is missing altogether is a variant null. Invalid names the row of the array, for a value that contradicts its
/// typed_value, a field that stands in both, a name that the metadata lacks, and bytes that are no variant.
Result<std::shared_ptr<arrow::ArrayData>> PutVariantsTogether(const arrow::ArrayData& shredded,
                                                              arrow::MemoryPool* pool);

}  // namespace calve::parquet
