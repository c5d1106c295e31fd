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
        quarter(Ones(4 * width) * 0x0000000100000001),
        half(Ones(2 * width) * 0x0001000100010001),
        whole(Ones(width) * kEachByte) {}

  uint64_t operator()(uint64_t packed) const {
    packed = (packed | packed << shift) & quarter;
    packed = (packed | packed << shift / 2) & half;
    return (packed | packed << shift / 4) & whole;
  }

  static uint64_t Ones(int bits) { return (uint64_t{1} << bits) - 1; }

  int shift;
  uint64_t quarter, half, whole;
};

}  // namespace

template <int kGroups>
int64_t RunReader::DecodeRunsOf(int64_t count, uint8_t largest, uint8_t* out) {
  constexpr uint64_t kHighBits = 0x80 * kEachByte;
  if (run_.count > 0 || bit_width_ < 1 || bit_width_ > 4) return 0;
  const auto rest = ByteCursor(cursor_).Bytes(cursor_.remaining());
  const uint8_t *in = rest.data(), *const end = in + rest.size();
  const ByteSpreader spread(bit_width_);
  const uint64_t low = (uint64_t{1} << 8 * bit_width_) - 1;
  const uint64_t to_limit = (0x7f - uint64_t{largest}) * kEachByte;
  const ptrdiff_t read_bytes = (kGroups - 1) * bit_width_ + static_cast<ptrdiff_t>(sizeof(uint64_t));
  int64_t left = count;
  // Groups of bit-packed values and a repeated one are stored alike: which of the two it is cannot be guessed.
  while (left >= kRunRoom && end - in > read_bytes) {
    const uint64_t header = *in, is_packed = header & 1, groups = header >> 1;
    const uint64_t repeated = in[1] * kEachByte;
    if (header >= 0x80 || header < 2 || (is_packed != 0 && groups > kGroups)) break;
    uint64_t values = 0, above = 0;
    for (int i = 0; i < kGroups; ++i) {
      uint64_t word;
      std::memcpy(&word, in + 1 + i * bit_width_, sizeof(word));
      values = is_packed != 0 ? spread(word & low) : repeated;
      const bool counts = is_packed == 0 || static_cast<uint64_t>(i) < groups;
      above |= (values + to_limit) & (counts ? kHighBits : 0);
      std::memcpy(out + i * sizeof(values), &values, sizeof(values));
    }
    if (above != 0 || (is_packed == 0 && in[1] > 15)) break;
    for (size_t i = kGroups; i < kRunRoom / sizeof(values); ++i) {
      std::memcpy(out + i * sizeof(values), &values, sizeof(values));
    }
    const auto n = static_cast<int64_t>(is_packed != 0 ? 8 * groups : groups);
    in += 1 + (is_packed != 0 ? groups * static_cast<uint64_t>(bit_width_) : 1);
    out += n;
    left -= n;
  }
  cursor_.Skip(static_cast<size_t>(in - rest.data()));
  return count - left;
}

template int64_t RunReader::DecodeRunsOf<1>(int64_t, uint8_t, uint8_t*);
template int64_t RunReader::DecodeRunsOf<RunReader::kRunRoom / 8>(int64_t, uint8_t, uint8_t*);

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
