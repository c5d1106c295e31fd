#pragma once

#include "calve/base/status.h"

#include <arrow/array/data.h>

#include <memory>

namespace calve::parquet {

/// Puts the values of a shredded variant together ("Reconstructing a Shredded Variant"): `shredded` is a struct of
/// metadata, value and typed_value, or an extension array over one; the result is of WholeVariantType(). A value that
/// is missing altogether is a variant null. Invalid names the row of the array, for a value that contradicts its
/// typed_value, a field that stands in both, a name that the metadata lacks, and bytes that are no variant.
Result<std::shared_ptr<arrow::ArrayData>> PutVariantsTogether(const arrow::ArrayData& shredded,
                                                              arrow::MemoryPool* pool);

}  // namespace calve::parquet
