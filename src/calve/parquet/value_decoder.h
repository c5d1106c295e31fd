#pragma once

#include "calve/parquet/metadata.h"
#include "calve/parquet/pool_vector.h"

#include <cstdint>
#include <memory>
#include <span>

namespace calve::parquet {

/// Decodes values of one width from the encoded values of a page, which outlive it. Booleans are bytes, 0 or 1.
class FixedDecoder {
 public:
  virtual ~FixedDecoder() = default;
  /// Decodes exactly `count` values to out[count * width], behind which kPoolVectorSlackBytes may be written. Invalid
  /// when there are fewer.
  virtual Status Decode(int64_t count, uint8_t* out) = 0;
  /// Passes over exactly `count` values. Invalid when there are fewer.
  virtual Status Skip(int64_t count) = 0;
};

/// Byte arrays as Arrow has them: value i is data[offsets[i], offsets[i + 1]).
struct BinaryValues {
  explicit BinaryValues(arrow::MemoryPool* pool) : offsets(pool), data(pool) {}
  /// Makes the first offset.
  Status Init() { return offsets.Append(0); }
  int64_t count() const { return offsets.size() - 1; }

  PoolVector<int32_t> offsets;
  PoolVector<uint8_t> data;
};

/// Decodes byte arrays from the encoded values of a page, which outlive it.
class BinaryDecoder {
 public:
  virtual ~BinaryDecoder() = default;
  /// An upper bound of the bytes that the next `count` values take together.
  virtual int64_t BytesAtMost(int64_t count) const = 0;
  /// Appends exactly `count` values. Invalid when there are fewer. The caller has made sure, by BytesAtMost, that the
  /// bytes in `out` stay below 2 GiB.
  virtual Status Decode(int64_t count, BinaryValues* out) = 0;
  /// Passes over exactly `count` values. Invalid when there are fewer.
  virtual Status Skip(int64_t count) = 0;
};

/// The values that a chunk's dictionary-encoded pages refer to.
struct Dictionary {
  explicit Dictionary(arrow::MemoryPool* pool) : fixed(pool), binary(pool) {}

  int64_t count = 0;
  PoolVector<uint8_t> fixed;  ///< count * width bytes, when the column is of fixed width
  BinaryValues binary;        ///< when it holds byte arrays
  int64_t largest_bytes = 0;  ///< the longest byte array
};

/// Bytes of a value as decoders give it, 0 for BYTE_ARRAY.
int64_t ValueWidth(PhysicalType type, int32_t type_length);

/// Makes the decoder of `encoding` for a type of fixed width. `page_values` counts the page's values, nulls included.
/// `dictionary` may be null when the chunk has none. Invalid when the encoding cannot hold the type, NotImplemented
/// when it is unknown.
Result<std::unique_ptr<FixedDecoder>> MakeFixedDecoder(Encoding encoding, PhysicalType type, int64_t width,
                                                       std::span<const uint8_t> bytes, int64_t page_values,
                                                       const Dictionary* dictionary);
/// The same for BYTE_ARRAY.
Result<std::unique_ptr<BinaryDecoder>> MakeBinaryDecoder(Encoding encoding, std::span<const uint8_t> bytes,
                                                         int64_t page_values, const Dictionary* dictionary);

}  // namespace calve::parquet
