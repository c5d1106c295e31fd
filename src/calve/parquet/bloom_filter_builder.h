#pragma once

#include "calve/parquet/metadata.h"
#include "calve/parquet/pool_vector.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace calve::parquet {

/// The bytes of a filter that `ndv` distinct values pass wrongly with the probability `fpp`: a power of two between 32
/// and `max_bytes`.
int64_t BloomFilterBytes(int64_t ndv, double fpp, int64_t max_bytes);

/// A bloom filter as the file has it: header and bitset, which are encrypted apart.
struct WrittenBloomFilter {
  std::string header;
  std::shared_ptr<arrow::Buffer> bitset;
};

/// Builds the bloom filter of a column chunk from its values ("Parquet Bloom Filter").
class BloomFilterBuilder {
 public:
  /// `bytes`: those of the filter before it is folded, a power of two. `width`: of a value, 0 for BYTE_ARRAY.
  BloomFilterBuilder(int64_t bytes, double fpp, int64_t width, arrow::MemoryPool* pool)
      : bytes_(bytes), fpp_(fpp), width_(width), hashes_(pool), bits_(pool) {}

  /// Adds `count` values, given in PLAIN. The same value may come again.
  Status Add(std::span<const uint8_t> plain, int64_t count);
  /// The filter, folded in half for as long as it keeps the probability; none when there was no value. Begins another.
  Result<std::optional<WrittenBloomFilter>> Finish();
  int64_t memory_bytes() const { return hashes_.capacity_bytes() + bits_.capacity_bytes(); }

 private:
  std::span<const uint8_t> TakeValue(std::span<const uint8_t>* plain) const;
  /// Makes a filter of `bytes` from the hashes that are kept.
  Status Begin(int64_t bytes);
  void Insert(std::span<const uint64_t> hashes);
  void Fold();

  const int64_t bytes_;
  const double fpp_;
  const int64_t width_;
  PoolVector<uint64_t> hashes_;  ///< of all values, until they are many
  ByteBuffer bits_;              ///< empty before
};

}  // namespace calve::parquet
