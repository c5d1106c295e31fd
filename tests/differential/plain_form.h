#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>

namespace calve::differential {

/// The same values under the types that Parquet tells apart, at any depth: text and bytes with 32-bit offsets, lists
/// with 32-bit offsets, decimals of at least 128 bits, no dictionaries, no extensions, no metadata, one name for the
/// fields inside of lists and maps. Fields stay required or not when `keep_nullability`, else all are nullable.
arrow::Result<std::shared_ptr<arrow::Table>> PlainForm(const arrow::Table& table, bool keep_nullability);

}  // namespace calve::differential
