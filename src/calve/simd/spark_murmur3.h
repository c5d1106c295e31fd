#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// hashes[i] = the hash of values[i] with the seed hashes[i]: `spark::HashInt` and `spark::HashLong` of many at once.
/// Values may lie at any address.
void SparkHash(const int32_t* values, size_t count, uint32_t* hashes) noexcept;
void SparkHash(const int64_t* values, size_t count, uint32_t* hashes) noexcept;

/// Replaces hashes by the partitions that they go to: as signed numbers modulo `partitions` > 0, never negative.
void SparkPartitions(int32_t partitions, size_t count, uint32_t* hashes) noexcept;

}  // namespace calve::simd
