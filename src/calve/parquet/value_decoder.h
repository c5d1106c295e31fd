#pragma once

#include "calve/parquet/binary_views.h"
#include "calve/parquet/leaf_layout.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/pool_vector.h"

#include <cstdint>
#include <memory>
#include <span>

namespace calve::parquet {

struct Dictionary;

/// Decodes values of one width from the encoded values of a page, which outlive it. Booleans are bytes, 0 or 1.
class FixedDecoder {
 public:
  virtual ~FixedDecoder() = default;
  /// Decodes exactly `count` values to out[count * width], behind which kPoolVectorSlackBytes may be written. Invalid
  /// when there are fewer.
  virtual Status Decode(int64_t count, uint8_t* out) = 0;
  /// Passes over exactly `count` values. Invalid when there are fewer.
  virtual Status Skip(int64_t count) = 0;
  /// Passes over exactly `count` values and says where they lie, back to back, as Decode would give them. Null, and
  /// nothing is passed over, of encodings that must be decoded.
  virtual Result<const uint8_t*> TakeInPlace(int64_t /*count*/) { return nullptr; }
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
  /// Appends views of exactly `count` values, into `page`, which holds the bytes being decoded, or into other memory
  /// that is added to `out`. Invalid when there are fewer.
  virtual Status DecodeViews(int64_t count, const std::shared_ptr<arrow::Buffer>& page, ViewValues* out);
  /// Passes over exactly `count` values. Invalid when there are fewer.
  virtual Status Skip(int64_t count) = 0;
};

/// Bytes of a value as decoders give it, 0 for BYTE_ARRAY.
int64_t ValueWidth(PhysicalType type, int32_t type_length);

/// True for the two encodings whose pages hold indices.
bool IsDictionary(Encoding encoding);
/// NotImplemented names an encoding that no decoder here knows, or its number.
Status CheckEncodingSupported(Encoding encoding);

/// Makes the decoder of `encoding` for a type of fixed width; it gives converted values. `page_values` counts the
/// page's values, nulls included. `dictionary` may be null when the chunk has none. Invalid when the encoding cannot
/// hold the type, NotImplemented when it is unknown.
Result<std::unique_ptr<FixedDecoder>> MakeFixedDecoder(Encoding encoding, PhysicalType type,
                                                       const ValueConversion& conversion,
                                                       std::span<const uint8_t> bytes, int64_t page_values,
                                                       const Dictionary* dictionary);
/// The same for BYTE_ARRAY.
Result<std::unique_ptr<BinaryDecoder>> MakeBinaryDecoder(Encoding encoding, std::span<const uint8_t> bytes,
                                                         int64_t page_values, const Dictionary* dictionary);

}  // namespace calve::parquet
