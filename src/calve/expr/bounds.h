#pragma once

#include "calve/expr/node.h"

namespace calve::expr {

/// What is known of one column over a set of rows (a file, a row group, a page, a partition).
///
/// Everything is optional: an empty field means not known. Bounds may be wider than the data (truncated), never
/// narrower.
struct ColumnBounds {
  Value lower;                         ///< null: not known
  Value upper;                         ///< null: not known
  std::optional<int64_t> value_count;  ///< rows, nulls included
  std::optional<int64_t> null_count;
  std::optional<int64_t> nan_count;
};

/// The bounds of the positions of `rows` rows from `first` on; nothing for no rows.
std::optional<ColumnBounds> BoundsOfPositions(int64_t first, int64_t rows);

/// Looks up what is known of a column, nothing when nothing is.
using BoundsLookup = std::function<std::optional<ColumnBounds>(const ColumnRef&)>;

/// False only when no row of the set can make `node` (bound) true. NaN rows count: without a nan_count of zero a float
/// column may hold NaN beside its bounds, which `!=`, NOT IN, `>` and `>=` keep. Bounds that cannot be right (NaN,
/// lower above upper, another alternative than the column's) count as not known. UUID bounds are believed only where
/// they decide alike when UUIDs are ordered by unsigned bytes and, as older Java writers do, by two signed halves.
bool MightMatch(const NodePtr& node, const BoundsLookup& lookup);

/// True only when every row of the set makes `node` true.
bool AllMatch(const NodePtr& node, const BoundsLookup& lookup);

}  // namespace calve::expr
