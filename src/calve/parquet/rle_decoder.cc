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

namespace {

constexpr uint64_t kEachByte = 0x0101010101010101;

/// Eight values of `width` bits (1 to 4), LSB first -> a byte each.
struct ByteSpreader {
  explicit ByteSpreader(int width)
      : shift(32 - 4 * width),
        quarter((uint64_t{1} << 4 * width) - 1 | ((uint64_t{1} << 4 * width) - 1) << 32),
        half(((uint64_t{1} << 2 * width) - 1) * 0x0001000100010001),
        whole(((uint64_t{1} << width) - 1) * kEachByte) {}

  uint64_t operator()(uint64_t packed) const {
    packed = (packed | packed << shift) & quarter;
    packed = (packed | packed << shift / 2) & half;
    return (packed | packed << shift / 4) & whole;
  }

  int shift;
  uint64_t quarter, half, whole;
};

}  // namespace

int64_t RunReader::DecodeShortRuns(int64_t count, uint8_t largest, uint8_t* out) {
  if (run_.count > 0 || bit_width_ < 1 || bit_width_ > 4) return 0;
  const auto rest = ByteCursor(cursor_).Bytes(cursor_.remaining());
  const uint8_t *in = rest.data(), *const end = in + rest.size();
  const ByteSpreader spread(bit_width_);
  const uint64_t low = (uint64_t{1} << 8 * bit_width_) - 1;
  const uint64_t to_limit = (0x7f - uint64_t{largest}) * kEachByte;
  int64_t left = count;
  // A group of bit-packed values and a repeated one are stored alike: which of the two it is cannot be guessed.
  while (left >= kRunRoom && end - in > 8) {
    const uint64_t header = *in, packed = header & 1;
    uint64_t word;
    std::memcpy(&word, in + 1, sizeof(word));
    const bool usual = header < 0x80 && header >= 2 && (packed == 0 || header == 3);
    const uint64_t values = packed != 0 ? spread(word & low) : (word & 0xff) * kEachByte;
    if (!usual || ((values + to_limit) & 0x80 * kEachByte) != 0 || (packed == 0 && (word & 0xff) > 15)) break;
    for (int i = 0; i < kRunRoom; i += 8) std::memcpy(out + i, &values, sizeof(values));
    const auto n = static_cast<int64_t>(packed != 0 ? 8 : header >> 1);
    in += 1 + (packed != 0 ? bit_width_ : 1);
    out += n;
    left -= n;
  }
  cursor_.Skip(static_cast<size_t>(in - rest.data()));
  return count - left;
}

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
