#pragma once

#include "calve/iceberg/partition.h"

#include <string_view>

namespace calve {

/// The partition spec (id 0, field ids from 1000) that `text` describes for columns of `schema`; empty text:
/// unpartitioned.
///
///     text      = [ field *( "," field ) ]
///     field     = column | transform "(" column ")" | transform "(" number "," column ")"
///               | transform "[" number "]" "(" column ")"
///     transform = "identity" | "year" | "month" | "day" | "hour" | "void" | "bucket" | "truncate"
///     column    = dotted name, in backquotes or double quotes when it has other characters than letters, digits, "_",
///     "-", "."
///
/// The plurals that Spark has (`days(ts)`) and the other order of arguments (`bucket(id, 16)`) are taken too. Partition
/// fields are named as Spark names them: cat, ts_day, id_bucket, name_trunc.
arrow::Result<iceberg::PartitionSpec> ParsePartitionBy(std::string_view text, const iceberg::Schema& schema);

}  // namespace calve
