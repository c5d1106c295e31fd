#pragma once

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include <memory>

namespace calve::shuffle {

/// `batch` with the columns of `schema`, which its own are but for metadata, names, nullability, and dictionaries: a
/// column may come as a dictionary of the values that the schema has, or as the values of its dictionary. Invalid says
/// which column is of another type.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> ConformBatch(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                                const std::shared_ptr<arrow::Schema>& schema,
                                                                arrow::MemoryPool* pool);

}  // namespace calve::shuffle
