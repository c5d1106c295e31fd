#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace calve::parquet {

/// Bytes that CopyBytes may read past the value, where its input has them, and write past it.
inline constexpr size_t kOvercopyBytes = 32;

/// Copies `size` bytes from `in` to `out`; short ones as one block of kOvercopyBytes where that many lie before
/// `in_end`. `out` has room for as many (a PoolVector's slack is).
inline void CopyBytes(const uint8_t* in, size_t size, const uint8_t* in_end, uint8_t* out) {
  if (static_cast<size_t>(in_end - in) < kOvercopyBytes) {
    if (size > 0) std::memcpy(out, in, size);
    return;
  }
  std::memcpy(out, in, kOvercopyBytes);
  if (size > kOvercopyBytes) std::memcpy(out + kOvercopyBytes, in + kOvercopyBytes, size - kOvercopyBytes);
}

/// The same where `in` is known to have kOvercopyBytes. The `size` bytes do not overlap; what lies behind them may.
inline void CopyShortBytes(const uint8_t* in, size_t size, uint8_t* out) {
  uint8_t block[kOvercopyBytes];
  std::memcpy(block, in, kOvercopyBytes);
  std::memcpy(out, block, kOvercopyBytes);
  if (size > kOvercopyBytes) std::memcpy(out + kOvercopyBytes, in + kOvercopyBytes, size - kOvercopyBytes);
}

}  // namespace calve::parquet
