// The hybrid of runs and bit-packed groups ("RLE = 3" in Encodings.md):
//
//   stream := (run | packed)*
//   run    := varint(count << 1) value          value in ceil(bit_width / 8) bytes, little-endian
//   packed := varint(groups << 1 | 1) bytes     groups of 8 values, bit_width bytes each, LSB first
//
// Only the last packed part may stand for fewer than 8 * groups values, so every packed part before it holds a multiple
// of 8.

#include "calve/parquet/rle_encoder.h"

#include "calve/simd/run_bits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

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

/// Packs groups of 8 values into `W` bytes each; 8 bytes behind the last may be written.
template <int W>
void PackGroups(const uint32_t* values, int64_t groups, uint8_t* out) {
  constexpr int kWords = (8 * W + 63) / 64;
  for (int64_t g = 0; g < groups; ++g, values += 8, out += W) {
    uint64_t words[kWords + 1] = {};
    const auto add = [&]<size_t I>(std::integral_constant<size_t, I>) {
      constexpr size_t kBit = I * W;
      words[kBit / 64] |= uint64_t{values[I]} << (kBit % 64);
      if constexpr (kBit % 64 + W > 64) words[kBit / 64 + 1] |= uint64_t{values[I]} >> (64 - kBit % 64);
    };
    [&]<size_t... I>(std::index_sequence<I...>) {
      (add(std::integral_constant<size_t, I>{}), ...);
    }(std::make_index_sequence<8>());
    std::memcpy(out, static_cast<const void*>(words), kWords * sizeof(uint64_t));
  }
}

using Packer = void (*)(const uint32_t*, int64_t, uint8_t*);
constexpr auto kPackers = []<int... W>(std::integer_sequence<int, W...>) {
  return std::array<Packer, sizeof...(W)>{&PackGroups<W + 1>...};
}(std::make_integer_sequence<int, 32>());

template <typename T>
Status AppendPacked(const T* values, int64_t count, int bit_width, ByteBuffer* out) {
  if (count == 0) return Status::OK();
  const int64_t groups = (count + 7) / 8;
  ARROW_RETURN_NOT_OK(out->Reserve(kLongestVarint + groups * bit_width));
  AppendVarint(static_cast<uint64_t>(groups) << 1 | 1, out);
  if (bit_width == 0) return Status::OK();
  const Packer pack = kPackers[static_cast<size_t>(bit_width - 1)];
  uint8_t* to = out->data() + out->size();
  pack(values, count / 8, to);
  if (count % 8 != 0) {
    std::array<uint32_t, 8> last{};
    std::copy_n(values + count / 8 * 8, count % 8, last.begin());
    pack(last.data(), 1, to + count / 8 * bit_width);
  }
  out->UnsafeResize(out->size() + groups * bit_width);
  return Status::OK();
}

/// Finds runs in a row of bits that say which values are the same as the next.
class RunFinder {
 public:
  RunFinder(const uint64_t* same, int64_t count) : same_(same), words_((count + 63) / 64) {}

  /// The first value at or behind `from` that begins 8 of the same; the end of the words where there is none.
  int64_t NextRun(int64_t from) const {
    for (int64_t w = from / 64; w < words_; ++w) {
      const uint64_t own = same_[w];
      if (own == 0) continue;
      // Bit i of `seven`: bits i to i + 6 are set.
      const Wide wide = static_cast<Wide>(w + 1 < words_ ? same_[w + 1] : 0) << 64 | own;
      const Wide two = wide & wide >> 1, four = two & two >> 2;
      auto seven = static_cast<uint64_t>(four & four >> 3);
      if (w == from / 64) seven &= ~uint64_t{0} << from % 64;
      if (seven != 0) return w * 64 + std::countr_zero(seven);
    }
    return words_ * 64;
  }

  /// One behind the last value of the run that begins at `from`.
  int64_t RunEnd(int64_t from) const {
    for (int64_t w = from / 64; w < words_; ++w) {
      const uint64_t others = ~same_[w] & (w == from / 64 ? ~uint64_t{0} << from % 64 : ~uint64_t{0});
      if (others != 0) return w * 64 + std::countr_zero(others) + 1;
    }
    return words_ * 64;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  const uint64_t* same_;
  int64_t words_;
};

}  // namespace

template <typename T>
Status EncodeRle(std::span<const T> values, int bit_width, ByteBuffer* out) {
  const auto count = static_cast<int64_t>(values.size());
  PoolVector<uint64_t> same(out->pool());
  ARROW_RETURN_NOT_OK(same.Resize((count + 63) / 64));
  simd::EqualToNext(values.data(), values.size(), same.data());
  const RunFinder runs(same.data(), count);
  int64_t packed_begin = 0;
  for (int64_t begin = runs.NextRun(0); begin < count; begin = runs.NextRun(begin)) {
    const int64_t end = runs.RunEnd(begin);
    // What is packed before a run is filled up to whole groups from the run.
    const int64_t packed_end = begin + (8 - (begin - packed_begin) % 8) % 8;
    if (end - packed_end >= 8) {
      ARROW_RETURN_NOT_OK(AppendPacked(values.data() + packed_begin, packed_end - packed_begin, bit_width, out));
      ARROW_RETURN_NOT_OK(AppendRun(static_cast<uint32_t>(values[begin]), end - packed_end, bit_width, out));
      packed_begin = end;
    }
    begin = end;
  }
  return AppendPacked(values.data() + packed_begin, count - packed_begin, bit_width, out);
}

template Status EncodeRle(std::span<const uint32_t>, int, ByteBuffer*);

}  // namespace calve::parquet
