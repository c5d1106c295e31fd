#include "calve/simd/bit_unpack.h"

#include <array>
#include <cstring>
#include <utility>

namespace calve::simd {
namespace {

constexpr size_t kBlock = 32;

uint64_t Load(const uint8_t* in) {
  uint64_t word;
  std::memcpy(&word, in, sizeof(word));
  return word;
}

/// Value `i` of a block of 32, which takes exactly 4 * kWidth bytes. Eight bytes are loaded that lie inside the block:
/// those that start with the value's first byte, or the last eight.
template <int kWidth>
uint64_t ValueOfBlock(const uint8_t* in, size_t i) {
  constexpr size_t kBytes = 4 * kWidth;
  const size_t bit = i * kWidth;
  size_t byte = bit / 8;
  if (byte + 8 > kBytes) byte = kBytes - 8;
  const size_t shift = bit - byte * 8;
  uint64_t value = Load(in + byte) >> shift;
  if constexpr (kWidth > 57) {
    if (shift + kWidth > 64) value |= static_cast<uint64_t>(in[byte + 8]) << (64 - shift);
  }
  constexpr uint64_t kMask = kWidth == 64 ? ~uint64_t{0} : (uint64_t{1} << (kWidth % 64)) - 1;
  return value & kMask;
}

template <typename T, int kWidth>
void UnpackBlock(const uint8_t* in, T* out) {
  if constexpr (kWidth == 0) {
    std::memset(out, 0, kBlock * sizeof(T));
  } else if constexpr (kWidth == 1) {
    uint32_t word;
    std::memcpy(&word, in, sizeof(word));
    for (size_t i = 0; i < kBlock; ++i) out[i] = static_cast<T>(word >> i & 1);
  } else {
    for (size_t i = 0; i < kBlock; ++i) out[i] = static_cast<T>(ValueOfBlock<kWidth>(in, i));
  }
}

template <typename T>
using BlockFunction = void (*)(const uint8_t*, T*);

template <typename T, int... kWidths>
constexpr std::array<BlockFunction<T>, sizeof...(kWidths)> Blocks(std::integer_sequence<int, kWidths...>) {
  return {&UnpackBlock<T, kWidths>...};
}

template <typename T, int kMaxWidth>
void UnpackAll(const uint8_t* in, int width, size_t count, T* out) {
  static constexpr auto kBlocks = Blocks<T>(std::make_integer_sequence<int, kMaxWidth + 1>());
  const BlockFunction<T> unpack = kBlocks[width];
  const size_t block_bytes = PackedBytes(kBlock, width);
  for (; count >= kBlock; count -= kBlock, in += block_bytes, out += kBlock) unpack(in, out);
  if (count == 0) return;
  if (width == 0) {
    std::memset(out, 0, count * sizeof(T));
    return;
  }
  uint8_t padded[4 * kMaxWidth] = {};
  std::memcpy(padded, in, PackedBytes(count, width));
  T values[kBlock];
  unpack(padded, values);
  std::memcpy(out, values, count * sizeof(T));
}

}  // namespace

void Unpack(const uint8_t* in, int width, size_t count, uint32_t* out) noexcept {
  UnpackAll<uint32_t, 32>(in, width, count, out);
}

void Unpack(const uint8_t* in, int width, size_t count, uint64_t* out) noexcept {
  UnpackAll<uint64_t, 64>(in, width, count, out);
}

void Unpack(const uint8_t* in, int width, size_t count, uint8_t* out) noexcept {
  UnpackAll<uint8_t, 8>(in, width, count, out);
}

}  // namespace calve::simd
