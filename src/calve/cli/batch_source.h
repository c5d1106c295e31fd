#pragma once

#include "calve/context.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::cli {

/// Opens a Parquet file, an Arrow IPC file or an Arrow IPC stream, whichever `path` is by its first bytes. `columns`:
/// those of the schema that are read, in its order; none: all. Errors name the file.
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> OpenBatches(const std::string& path,
                                                                     const std::vector<std::string>& columns,
                                                                     const Context& context);

}  // namespace calve::cli
