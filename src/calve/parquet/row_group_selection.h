#pragma once

#include "calve/parquet/open_file.h"
#include "calve/parquet/predicate.h"

#include <memory>

namespace calve::parquet {

// Whether a row of a row group may pass a filter. Each of these is false only when none does; the later ones go by
// statistics too, where these are allowed, so that of a disjunction one may exclude this part and another that.

/// By the bounds and counts in the footer.
bool MightMatchByStatistics(const Predicate& predicate, const OpenFile& file, int row_group);

/// By the bloom filters of columns that are tested for being one of some values. Reads filters where statistics do not
/// decide.
Result<bool> MightMatchByBloomFilters(const Predicate& predicate, const OpenFile& file, int row_group);

/// By the dictionaries of columns whose data pages all refer to one ("encoding_stats"). Reads the dictionary pages, up
/// to `kLargestDictionary` bytes each, where statistics do not decide.
Result<bool> MightMatchByDictionaries(const Predicate& predicate, const OpenFile& file, int row_group);

constexpr int64_t kLargestDictionary = 1 << 20;

/// The dictionary that all values of a chunk are in, nulls apart; null when there is none, or a larger one.
Result<std::shared_ptr<arrow::Array>> WholeDictionary(const OpenFile& file, int row_group, int leaf);

}  // namespace calve::parquet
