#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>

namespace calve::differential {

/// Makes the table of case `index` of `seed`, the same at every call: random columns nested to a depth of four, of the
/// types that `writer` ("pyarrow", "arrow-rs", "duckdb" or "calve") can write without loss, with few or many nulls and
/// distinct values; of calve, sliced at every level. Invalid for another writer.
arrow::Result<std::shared_ptr<arrow::Table>> RandomTable(uint64_t seed, int64_t index, const std::string& writer);

}  // namespace calve::differential
