#pragma once

#include "calve/copy.h"

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::pipeline {

/// The rows of a file of any kind that can be copied, as batches.
struct CopySource {
  std::string path;
  int64_t bytes = 0;
  std::shared_ptr<arrow::RecordBatchReader> batches;
};

/// Opens an input with the columns and the filter of `options`. Errors name it.
arrow::Result<CopySource> OpenCopySource(const std::string& path, const CopyOptions& options, const Context& context);

/// An error of reading the file at `path`, which it names once, whether its reader did or not.
arrow::Status OfFile(const arrow::Status& status, const std::string& path);

/// The schema that the batches of all sources fit, by name.
arrow::Result<std::shared_ptr<arrow::Schema>> UnifyCopySources(const std::vector<CopySource>& sources);

/// A batch as one of `schema`: columns by name, nulls where there is none, cast where the type is another one.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> FitBatch(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                            const std::shared_ptr<arrow::Schema>& schema,
                                                            arrow::MemoryPool* pool);

}  // namespace calve::pipeline
