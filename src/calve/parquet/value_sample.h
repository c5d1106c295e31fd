#pragma once

#include "calve/compress/codec.h"
#include "calve/parquet/pool_vector.h"

#include <arrow/result.h>

#include <cstdint>
#include <optional>
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

/// True when, as far as `sample` tells, values in PLAIN come out of `codec` smaller than ids and a dictionary of up to
/// `limit_bytes` that at least `count` values share. False without looking where a dictionary has few values, and
/// where `count` is small.
template <typename T>
arrow::Result<bool> PlainCompressesBetter(std::span<const T> sample, bool fixed, int64_t limit_bytes, int64_t count,
                                          calve::Codec codec, std::optional<int> level, arrow::MemoryPool* pool);

}  // namespace calve::parquet
