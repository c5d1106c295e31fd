#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>

namespace calve::differential {

struct PlainOptions {
  bool nullability = true;      ///< fields stay required or not; else all are nullable
  bool maps_are_lists = false;  ///< of structs of key and value
};

/// The same values under the types that Parquet tells apart, at any depth: text and bytes with 32-bit offsets, lists
/// with 32-bit offsets in order, decimals of 128 bits where they have room, dates of days, no times in seconds, no
/// dictionaries, no run ends, no extensions, no metadata, one name for the fields inside of lists and maps.
arrow::Result<std::shared_ptr<arrow::Table>> PlainForm(const arrow::Table& table, const PlainOptions& options);

}  // namespace calve::differential
