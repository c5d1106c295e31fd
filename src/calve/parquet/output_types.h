#pragma once

#include "calve/parquet/schema.h"
#include "calve/parquet/type_options.h"

#include <arrow/type_fwd.h>

namespace calve::parquet {

/// Gives the byte arrays and the columns of `schema` the forms that the options ask for, and sets what each column is
/// decoded to. Extension types stay what they are, and all that is in them. Names in `dictionary_columns` that are not
/// in the schema are passed over: it may be a part of the file's.
void ApplyOutputTypes(const TypeOptions& options, FileSchema* schema);

}  // namespace calve::parquet
