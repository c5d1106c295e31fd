#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <optional>
#include <random>
#include <string>

namespace calve::differential {

/// A filter, and which rows of the table it was made for it keeps, as Arrow's own kernels tell.
struct RandomFilter {
  std::string text;
  std::shared_ptr<arrow::ChunkedArray> mask;  ///< of booleans; null drops a row
};

/// Makes a filter over one or two columns of `table`, with literals from its values: comparisons, IN, IS NULL, joined
/// by AND or OR. Nothing when no column can be compared (integers, text, booleans and decimals can).
arrow::Result<std::optional<RandomFilter>> MakeRandomFilter(const arrow::Table& table, std::mt19937_64* random);

}  // namespace calve::differential
