// DELTA_BINARY_PACKED ("Delta Encoding" of the specification):
//
//   sequence  := block size, miniblocks of a block, values (varints), first value (zigzag varint), block*
//   block     := least delta (zigzag varint), bit width (1 byte) of each miniblock, miniblock*
//   miniblock := 32 deltas less the least one, of the miniblock's bit width, LSB first
//
// The last block has no miniblocks beyond the one that its last delta is in, and zeros for their widths; that miniblock
// is filled up with zeros.

#include "calve/parquet/delta_binary_packed_encoder.h"

#include "calve/simd/delta_encode.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

namespace calve::parquet {
namespace {

using simd::kDeltaBlock;
using simd::kDeltaMiniblock;
using simd::kDeltaMiniblocks;

constexpr size_t kWordBits = 64;
constexpr int64_t kVarintBytes = 10;

uint8_t* PutVarint(uint64_t value, uint8_t* out) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<uint8_t>(value | 0x80);
  *out++ = static_cast<uint8_t>(value);
  return out;
}

uint8_t* PutZigZag(int64_t value, uint8_t* out) {
  return PutVarint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63), out);
}

/// Adds value kIndex of a miniblock to the words it lies in, all places known when this is compiled.
template <size_t kWidth, size_t kIndex>
inline void PackOne(uint64_t value, uint64_t* words) {
  constexpr size_t kBit = kIndex * kWidth, kWord = kBit / kWordBits, kShift = kBit % kWordBits;
  if constexpr (kShift == 0) {
    words[kWord] = value;
  } else {
    words[kWord] |= value << kShift;
    if constexpr (kShift + kWidth > kWordBits) words[kWord + 1] = value >> (kWordBits - kShift);
  }
}

template <typename Unsigned, size_t kWidth, size_t... kIndex>
inline void PackAll(const Unsigned* values, uint64_t* words, std::index_sequence<kIndex...>) {
  (PackOne<kWidth, kIndex>(values[kIndex], words), ...);
}

/// Packs a miniblock into 4 * kWidth bytes.
template <typename Unsigned, size_t kWidth>
void Pack(const Unsigned* values, uint8_t* out) {
  if constexpr (kWidth > 0) {
    uint64_t words[(kDeltaMiniblock * kWidth + kWordBits - 1) / kWordBits];
    PackAll<Unsigned, kWidth>(values, words, std::make_index_sequence<kDeltaMiniblock>());
    std::memcpy(out, words, kDeltaMiniblock * kWidth / 8);
  }
}

template <typename Unsigned>
using Packer = void (*)(const Unsigned*, uint8_t*);

template <typename Unsigned, size_t... kWidth>
constexpr std::array<Packer<Unsigned>, sizeof...(kWidth)> MakePackers(std::index_sequence<kWidth...>) {
  return {Pack<Unsigned, kWidth>...};
}

template <typename Unsigned>
constexpr auto kPackers = MakePackers<Unsigned>(std::make_index_sequence<sizeof(Unsigned) * 8 + 1>());

/// Writes one block of `count` deltas; values[0] is the value before them. Returns where it ends.
template <typename Unsigned>
uint8_t* PutBlock(const Unsigned* values, size_t count, uint8_t* out) {
  Unsigned above[kDeltaBlock], bits[kDeltaMiniblocks];
  out = PutZigZag(simd::SubtractNeighbours(values, count, above, bits), out);
  uint8_t* widths = out;
  out += kDeltaMiniblocks;
  for (size_t m = 0; m < kDeltaMiniblocks; ++m) {
    const bool is_there = m * kDeltaMiniblock < count;
    const auto width = static_cast<size_t>(is_there ? std::bit_width(bits[m]) : 0);
    widths[m] = static_cast<uint8_t>(width);
    kPackers<Unsigned>[width](above + m * kDeltaMiniblock, out);
    out += width * kDeltaMiniblock / 8;
  }
  return out;
}

}  // namespace

template <typename T>
arrow::Status EncodeDeltaBinaryPacked(std::span<const uint8_t> values, ByteBuffer* out) {
  using Unsigned = std::make_unsigned_t<T>;
  const size_t count = values.size() / sizeof(T);
  const size_t blocks = count == 0 ? 0 : (count - 1 + kDeltaBlock - 1) / kDeltaBlock;
  const int64_t block_bytes = kVarintBytes + kDeltaMiniblocks + kDeltaBlock * sizeof(T);
  ARROW_RETURN_NOT_OK(out->Reserve(4 * kVarintBytes + static_cast<int64_t>(blocks) * block_bytes));
  uint8_t* const begin = out->data() + out->size();
  T first = 0;
  if (count > 0) std::memcpy(&first, values.data(), sizeof(T));
  uint8_t* end = PutVarint(kDeltaBlock, begin);
  end = PutVarint(kDeltaMiniblocks, end);
  end = PutVarint(count, end);
  end = PutZigZag(first, end);
  Unsigned block[kDeltaBlock + 1];
  for (size_t i = 1; i < count; i += kDeltaBlock) {
    const size_t deltas = std::min(kDeltaBlock, count - i);
    std::memcpy(block, values.data() + (i - 1) * sizeof(T), (deltas + 1) * sizeof(T));
    end = PutBlock(block, deltas, end);
  }
  out->UnsafeResize(out->size() + (end - begin));
  return arrow::Status::OK();
}

template arrow::Status EncodeDeltaBinaryPacked<int32_t>(std::span<const uint8_t>, ByteBuffer*);
template arrow::Status EncodeDeltaBinaryPacked<int64_t>(std::span<const uint8_t>, ByteBuffer*);

}  // namespace calve::parquet
