#pragma once

#include "calve/parquet/byte_bounds.h"
#include "calve/parquet/page_pieces.h"
#include "calve/parquet/pool_vector.h"

#include <arrow/status.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace calve::parquet {

/// Append the values of a page, given in PLAIN, as DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY. `width`: bytes of a
/// FIXED_LEN_BYTE_ARRAY, 0 for BYTE_ARRAY, which alone the first one is for. `plain` is well-formed.
arrow::Status EncodeDeltaLengthByteArray(std::span<const uint8_t> plain, int64_t count, ByteBuffer* out);
arrow::Status EncodeDeltaByteArray(std::span<const uint8_t> plain, int64_t width, int64_t count, ByteBuffer* out);

/// A DELTA_BYTE_ARRAY page whose values are encoded as they come, so that it can end when what is encoded is enough.
class DeltaByteArrayPage {
 public:
  explicit DeltaByteArrayPage(arrow::MemoryPool* pool)
      : prefixes_(pool), suffixes_(pool), bytes_(pool), lengths_(pool), measured_(pool) {}

  int64_t count() const { return prefixes_.size(); }
  /// Bytes that the page has with `values`, estimated, as far as they count for a page of `page_bytes`: it may grow
  /// further where another would have to begin with much that this one has already. Looks at no more than it takes to
  /// tell that they are too many. A page whose values are 1 GiB in PLAIN has that many bytes.
  arrow::Result<int64_t> BytesWith(std::span<const std::string_view> values, int64_t page_bytes);
  int64_t bytes() const { return bytes_.size() + count() * kLengthBytes; }
  /// `stay`: the values stay where they are until Own().
  arrow::Status Append(std::span<const std::string_view> values, bool stay);
  /// Copies what is still elsewhere.
  arrow::Status Own();
  /// The page, valid until it changes.
  arrow::Status Finish(std::vector<PagePiece>* pieces);
  void Clear();
  void Release();

 private:
  /// The two lengths of a value, about.
  static constexpr int64_t kLengthBytes = 2;
  bool WasMeasured(std::span<const std::string_view> values) const;

  PoolVector<int32_t> prefixes_, suffixes_;
  PiecedBytes bytes_;  ///< of the suffixes
  KeptBytes previous_;
  int64_t plain_bytes_ = 0;
  ByteBuffer lengths_;
  PoolVector<int32_t> measured_;  ///< the prefixes of the values that BytesWith looked at last
  std::string_view first_measured_, last_measured_;
};

}  // namespace calve::parquet
