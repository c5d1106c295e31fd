#include "calve/parquet/rle_decoder.h"

#include "calve/base/status.h"

// The hybrid ("Run Length Encoding / Bit-Packing Hybrid (RLE = 3)"), without the length in front:
//
//   run      := varint(count << 1)      value                  count times the value, in (width + 7) / 8 bytes
//             | varint(groups << 1 | 1) groups * width bytes   groups of 8 values, packed LSB first
//
// No run is empty: writers that pad a page with zeros do so behind its values. The last group may be cut short by
// writers that do not pad it, as long as the values needed are there.

namespace calve::parquet {

Status RunReader::ReadHeader() {
  const uint64_t header = cursor_.Varint();
  if (!cursor_.ok()) return Invalid("the runs end at byte {}, with values missing", cursor_.offset());
  run_ = Run{};
  if ((header >> 1) > std::numeric_limits<uint32_t>::max() || (header >> 1) == 0) {
    return Invalid("a run of {} values at byte {}", header >> 1, cursor_.offset());
  }
  run_.count = static_cast<int64_t>(header >> 1);
  if ((header & 1) == 0) {
    const auto bytes = cursor_.Bytes(static_cast<size_t>(bit_width_ + 7) / 8);
    if (!cursor_.ok()) return Invalid("a run is cut short at byte {}", cursor_.offset());
    for (size_t i = 0; i < bytes.size(); ++i) run_.value |= static_cast<uint32_t>(bytes[i]) << (8 * i);
    return Status::OK();
  }
  const size_t size = std::min<size_t>(static_cast<size_t>(run_.count) * bit_width_, cursor_.remaining());
  run_.count *= 8;
  if (bit_width_ > 0) run_.count = std::min<int64_t>(run_.count, static_cast<int64_t>(size) * 8 / bit_width_);
  run_.packed = cursor_.Bytes(size).data();
  run_.readable_end = run_.packed + size + cursor_.remaining();
  if (bit_width_ == 0) run_.packed = nullptr;  // as good as a run of zeros
  if (run_.count == 0) return Invalid("a bit-packed run is cut short at byte {}", cursor_.offset());
  return Status::OK();
}

}  // namespace calve::parquet
