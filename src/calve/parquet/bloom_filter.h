#pragma once

#include "calve/expr/value.h"
#include "calve/parquet/metadata.h"

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace arrow {
class Buffer;
namespace io {
class RandomAccessFile;
}
}  // namespace arrow

namespace calve::parquet {

class ChunkDecryptor;

/// The bytes of a block of a split-block bloom filter.
constexpr int64_t kBloomBlockBytes = 32;

struct BloomFilterHeader {
  int32_t num_bytes = 0;      ///< of the bitset
  bool is_supported = false;  ///< split blocks, XXH64, not compressed: all there is so far
};

/// Parses a header at the start of `bytes`; `header_size` gets the bytes it took.
Result<BloomFilterHeader> ParseBloomFilterHeader(std::span<const uint8_t> bytes, size_t* header_size);

/// The block that `hash` belongs to in a filter of `blocks` blocks (at least one).
int64_t BloomBlockOf(uint64_t hash, int64_t blocks);
/// False when a value of this hash is not in the block ("block_check"). Without branches.
bool BloomBlockMightHold(const uint8_t* block, uint64_t hash);
/// Adds the bits of a value of this hash to a block ("block_insert").
void BloomBlockInsert(uint8_t* block, uint64_t hash);

/// The hashes under which a value equal to `value` may be in the filter of a column: two for a zero, which has two
/// forms. Nothing when that cannot be told: INT96, booleans, decimals as byte arrays (whose length is free), values
/// that are not of `type`, the column's Arrow type.
std::optional<std::vector<uint64_t>> BloomHashesOf(const Value& value, const SchemaElement& element,
                                                   const arrow::DataType& type);

/// The bloom filter of a column chunk, read as far as it is asked.
class BloomFilter {
 public:
  /// Nothing when the chunk has no filter, or none that can be used: damaged ones exclude nothing. `end` is where the
  /// footer begins. `file` outlives the filter. `decryptor`: of an encrypted chunk, whose filter is read as a whole.
  static Result<std::optional<BloomFilter>> Open(arrow::io::RandomAccessFile* file, const ColumnMetadata& column,
                                                 int64_t end, ChunkDecryptor* decryptor = nullptr);

  /// False when no value of these hashes is in the chunk. Reads the blocks asked for; all of the filter when it is
  /// small, or most of it is asked for.
  Result<bool> MightHoldAny(std::span<const uint64_t> hashes);
  int64_t bytes_read() const { return bytes_read_; }

 private:
  /// Reads the module of the bitset, behind the header's; false when it cannot be used.
  Result<bool> DecryptBits(int64_t available, int64_t num_bytes, ChunkDecryptor* decryptor);
  Status Load(int64_t offset, int64_t size, std::shared_ptr<arrow::Buffer>* out);

  arrow::io::RandomAccessFile* file_ = nullptr;
  int64_t offset_ = 0, blocks_ = 0;      ///< of the bitset
  std::shared_ptr<arrow::Buffer> bits_;  ///< all of it, or null
  int64_t bytes_read_ = 0;
};

}  // namespace calve::parquet
