#pragma once

#include "calve/parquet/schema.h"

#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <string_view>

namespace calve::parquet {

/// The schema that a writer left as `text` under the key "ARROW:schema"; null when it cannot be parsed: it is advice,
/// and a file is whole without.
std::shared_ptr<arrow::Schema> ParseArrowSchema(std::string_view text);

/// The text for a schema, which must be one that IPC can hold.
Result<std::string> FormatArrowSchema(const arrow::Schema& schema);

/// True when readers of Arrow data have the same schema from Parquet's alone: columns of plain types, without metadata
/// but field ids.
bool ParquetSaysAsMuch(const arrow::Schema& schema);

/// Gives the columns of `schema` the types and the metadata that `stored` has for them, as far as those fit what the
/// file holds: a field under another name, a type of other values, and a list of another length are passed over.
void HonourArrowSchema(const arrow::FieldVector& stored, FileSchema* schema);

}  // namespace calve::parquet
