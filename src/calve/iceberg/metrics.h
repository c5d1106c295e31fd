#pragma once

#include "calve/iceberg/manifest.h"

namespace calve::iceberg {

/// What a data file's writer or footer knows of one leaf column. Bounds are in the leaf's own type.
struct LeafMetrics {
  int field_id = -1;
  int64_t column_size_bytes = 0;  ///< compressed
  std::optional<int64_t> value_count, null_count, nan_count;
  Value lower, upper;  ///< null: none; never NaN
  bool lower_exact = true, upper_exact = true;
  bool inside_repeated = false;  ///< inside a list or map: no bounds are kept
};

/// How much is kept of a column: `write.metadata.metrics.default` and `.column.NAME`.
struct MetricsMode {
  enum class Kind { kNone, kCounts, kTruncate, kFull } kind = Kind::kTruncate;
  int length = 16;
};

/// The mode of the column `name`. An unknown mode is Invalid and names the property. Beyond
/// `write.metadata.metrics.max-inferred-column-defaults` (100) leaf columns without a mode of their own have none.
Result<MetricsMode> MetricsModeOf(const TableMetadata& metadata, const Schema& schema, int field_id);

/// Fills the metrics maps of `file`. Strings are cut at `length` code points and binary at `length` bytes, upper bounds
/// incremented after the cut (left out when that cannot be done), so bounds stay valid and inclusive.
Status SetMetrics(const TableMetadata& metadata, const Schema& schema, const std::vector<LeafMetrics>& leaves,
                  DataFile* file);

}  // namespace calve::iceberg
