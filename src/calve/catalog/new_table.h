#pragma once

#include "calve/catalog.h"
#include "calve/iceberg/table_metadata.h"

namespace calve {

/// The first metadata of a table at `location` with the columns of `schema`.
arrow::Result<iceberg::TableMetadata> MakeTableMetadata(const std::string& location, const arrow::Schema& schema,
                                                        const CreateTableOptions& options);

/// `location` as metadata shall name it: a relative path made absolute, no slash at its end; others as they are.
std::string AbsoluteLocation(const std::string& location);

}  // namespace calve
