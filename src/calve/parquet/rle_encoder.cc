// The hybrid of runs and bit-packed groups ("RLE = 3" in Encodings.md):
//
//   stream := (run | packed)*
//   run    := varint(count << 1) value          value in ceil(bit_width / 8) bytes, little-endian
//   packed := varint(groups << 1 | 1) bytes     groups of 8 values, bit_width bytes each, LSB first
//
// Only the last packed part may stand for fewer than 8 * groups values, so every packed part before it holds a multiple
// of 8.

#include "calve/parquet/rle_encoder.h"

namespace calve::parquet {
namespace {

using arrow::Status;

constexpr int kLongestVarint = 10;

void AppendVarint(uint64_t value, ByteBuffer* out) {
  while (value >= 0x80) {
    out->UnsafeAppend(static_cast<uint8_t>(value | 0x80));
    value >>= 7;
  }
  out->UnsafeAppend(static_cast<uint8_t>(value));
}

Status AppendRun(uint32_t value, int64_t count, int bit_width, ByteBuffer* out) {
  ARROW_RETURN_NOT_OK(out->Reserve(kLongestVarint + 4));
  AppendVarint(static_cast<uint64_t>(count) << 1, out);
  for (int bits = 0; bits < bit_width; bits += 8) out->UnsafeAppend(static_cast<uint8_t>(value >> bits));
  return Status::OK();
}

template <typename T>
Status AppendPacked(const T* values, int64_t count, int bit_width, ByteBuffer* out) {
  if (count == 0) return Status::OK();
  const int64_t groups = (count + 7) / 8;
  ARROW_RETURN_NOT_OK(out->Reserve(kLongestVarint + groups * bit_width));
  AppendVarint(static_cast<uint64_t>(groups) << 1 | 1, out);
  const int64_t end = out->size() + groups * bit_width;
  uint64_t pending = 0;
  int pending_bits = 0;
  for (int64_t i = 0; i < count; ++i) {
    pending |= static_cast<uint64_t>(values[i]) << pending_bits;
    pending_bits += bit_width;
    if (pending_bits >= 32) {
      const auto word = static_cast<uint32_t>(pending);
      out->UnsafeAppend(reinterpret_cast<const uint8_t*>(&word), sizeof(word));
      pending >>= 32;
      pending_bits -= 32;
    }
  }
  while (out->size() < end) {
    out->UnsafeAppend(static_cast<uint8_t>(pending));
    pending >>= 8;
  }
  return Status::OK();
}

}  // namespace

template <typename T>
Status EncodeRle(std::span<const T> values, int bit_width, ByteBuffer* out) {
  const auto count = static_cast<int64_t>(values.size());
  int64_t packed_begin = 0;
  for (int64_t i = 0; i < count;) {
    int64_t end = i + 1;
    while (end < count && values[end] == values[i]) ++end;
    // What is packed before a run is filled up to whole groups from the run.
    const int64_t packed_end = i + (8 - (i - packed_begin) % 8) % 8;
    if (end - packed_end >= 8) {
      ARROW_RETURN_NOT_OK(AppendPacked(values.data() + packed_begin, packed_end - packed_begin, bit_width, out));
      ARROW_RETURN_NOT_OK(AppendRun(static_cast<uint32_t>(values[i]), end - packed_end, bit_width, out));
      packed_begin = end;
    }
    i = end;
  }
  return AppendPacked(values.data() + packed_begin, count - packed_begin, bit_width, out);
}

template Status EncodeRle(std::span<const uint32_t>, int, ByteBuffer*);

}  // namespace calve::parquet
