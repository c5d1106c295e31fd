#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::simd {

/// Turns deltas into values, in place: values[i] = last + (values[0] + min_delta) + ... + (values[i] + min_delta).
/// Arithmetic wraps around. Returns the last value, or `last` when there is none.
uint32_t AddDeltas(uint32_t* values, size_t count, uint32_t min_delta, uint32_t last) noexcept;
uint64_t AddDeltas(uint64_t* values, size_t count, uint64_t min_delta, uint64_t last) noexcept;

/// Strings that begin like their predecessor: string i is the first `prefixes[i]` bytes of string i - 1 and then
/// `suffixes[i]` bytes that lie one after another at `suffix`. The lengths fit each other and what is there.
struct PrefixedStrings {
  const int32_t* prefixes;
  const int32_t* suffixes;
  size_t count;
  const uint8_t* suffix;
  size_t readable_before, readable;  ///< bytes that may be read in front of `suffix`, and from there on
};

/// Writes the strings back to back to `out`, which has room for 64 bytes more; the first one's predecessor is the
/// `last_size` bytes at `last`. Returns how many were written: it stops, maybe at once, where a string is long or the
/// machine has no way to do it faster than one by one.
size_t JoinPrefixes(const PrefixedStrings& strings, const uint8_t* last, size_t last_size, uint8_t* out) noexcept;

}  // namespace calve::simd
