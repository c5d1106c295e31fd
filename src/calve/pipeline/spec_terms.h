#pragma once

#include "calve/iceberg/table_metadata.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace calve::pipeline {

/// A transform of a column of batches.
struct SpecTerm {
  iceberg::Transform transform;
  iceberg::TypePtr source_type;
  std::vector<int> path;  ///< child indices from the top-level column down, through structs
};

/// The terms of text as ParsePartitionBy takes it.
arrow::Result<std::vector<SpecTerm>> ParseSpecTerms(const arrow::Schema& schema, std::string_view text);

/// Those of a table's default spec, without its void fields.
arrow::Result<std::vector<SpecTerm>> SpecTermsOf(const arrow::Schema& schema, const iceberg::TableMetadata& metadata);

/// The results of the term for all rows of `batch`.
arrow::Result<std::vector<Value>> ApplyTerm(const SpecTerm& term, const arrow::RecordBatch& batch,
                                            arrow::MemoryPool* pool);

/// The child indices down to the field with the dotted name `name`; empty when there is none.
std::vector<int> PathOfName(const arrow::FieldVector& fields, std::string_view name);
/// The same to the field with the field id `id`.
std::vector<int> PathOfId(const arrow::FieldVector& fields, int id);
/// The column at a path; null where a struct above it is.
arrow::Result<std::shared_ptr<arrow::Array>> ColumnAt(const arrow::RecordBatch& batch, const std::vector<int>& path,
                                                      arrow::MemoryPool* pool);

}  // namespace calve::pipeline
