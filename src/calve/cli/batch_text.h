#pragma once

#include "calve/cli/row_sink.h"
#include "calve/cli/session.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <string>

namespace calve::cli {

/// The rows of `batch` as a JSON array of objects.
arrow::Result<std::string> JsonRows(const arrow::RecordBatch& batch);

/// Prints `batch` on standard output: as a JSON array with --json, otherwise in `format`.
arrow::Status PrintBatch(const arrow::RecordBatch& batch, Format format, Session* session);

}  // namespace calve::cli
