#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace calve::parquet {

/// CopyBytes copies whole blocks of this size: it may write that many bytes past the value, and read them where its
/// input has them.
inline constexpr size_t kOvercopyBytes = 32;

/// Copies `size` bytes from `in`, behind which kOvercopyBytes may be read, to `out`, where as many may be written (a
/// PoolVector's slack is enough). The `size` bytes do not overlap; what lies behind them may.
inline void CopyShortBytes(const uint8_t* in, size_t size, uint8_t* out) {
  constexpr size_t kManyBlocks = 8;
  if (size > kManyBlocks * kOvercopyBytes) {
    std::memcpy(out, in, size);
    return;
  }
  for (size_t copied = 0; copied < size; copied += kOvercopyBytes) {
    uint8_t block[kOvercopyBytes];
    std::memcpy(block, in + copied, kOvercopyBytes);
    std::memcpy(out + copied, block, kOvercopyBytes);
  }
}

/// The same where `in_end` says how far may be read, and twice kOvercopyBytes may be written past the value: whether
/// one block does is not asked where two are there, for that cannot be guessed.
inline void CopyBytes(const uint8_t* in, size_t size, const uint8_t* in_end, uint8_t* out) {
  constexpr size_t kTwoBlocks = 2 * kOvercopyBytes;
  if (size <= kTwoBlocks && static_cast<size_t>(in_end - in) >= kTwoBlocks) {
    uint8_t blocks[kTwoBlocks];
    std::memcpy(blocks, in, kTwoBlocks);
    std::memcpy(out, blocks, kTwoBlocks);
  } else if (static_cast<size_t>(in_end - in) >= size + kOvercopyBytes) {
    CopyShortBytes(in, size, out);
  } else if (size > 0) {
    std::memcpy(out, in, size);
  }
}

}  // namespace calve::parquet
