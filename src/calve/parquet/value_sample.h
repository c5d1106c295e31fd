#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/result.h>

#include <cstdint>
#include <span>

namespace calve::parquet {

/// Where to look for a sample: so many clusters of neighbours, evenly over all slots. Neighbours show values that
/// repeat in place, clusters those that come again.
inline constexpr int64_t kSampleClusters = 512, kSampleClusterSlots = 8;

/// True when a dictionary of `limit_bytes` would be full before it pays, as far as `sample` tells: it estimates how
/// many distinct values there are, and what a dictionary saves until it is full, from how many of the sample repeat.
/// T as in ValueGatherer.
template <typename T>
arrow::Result<bool> DictionaryIsHopeless(std::span<const T> sample, bool fixed, int64_t limit_bytes,
                                         arrow::MemoryPool* pool);

}  // namespace calve::parquet
