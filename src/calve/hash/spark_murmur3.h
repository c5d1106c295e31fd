#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace calve::spark {

/// Murmur3 x86 32-bit as Spark's hash() computes it. It differs from the published function where bytes are no multiple
/// of four: every byte of the tail is sign-extended and mixed as a word of its own. The hash of one column is the seed
/// of the next.
inline constexpr uint32_t kSeed = 42;

inline uint32_t Mix(uint32_t hash, uint32_t word) {
  word *= 0xcc9e2d51;
  word = std::rotl(word, 15) * 0x1b873593;
  return std::rotl(hash ^ word, 13) * 5 + 0xe6546b64;
}

inline uint32_t Finish(uint32_t hash, uint32_t size_bytes) {
  hash ^= size_bytes;
  hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
  return hash ^ (hash >> 16);
}

inline uint32_t HashInt(int32_t value, uint32_t seed) { return Finish(Mix(seed, static_cast<uint32_t>(value)), 4); }

inline uint32_t HashLong(int64_t value, uint32_t seed) {
  const auto bits = static_cast<uint64_t>(value);
  return Finish(Mix(Mix(seed, static_cast<uint32_t>(bits)), static_cast<uint32_t>(bits >> 32)), 8);
}

inline uint32_t HashBytes(std::span<const uint8_t> bytes, uint32_t seed) {
  static_assert(std::endian::native == std::endian::little);
  uint32_t hash = seed;
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + at, 4);
    hash = Mix(hash, word);
  }
  for (; at < bytes.size(); ++at) hash = Mix(hash, static_cast<uint32_t>(static_cast<int8_t>(bytes[at])));
  return Finish(hash, static_cast<uint32_t>(bytes.size()));
}

/// Both zeros hash as 0, every NaN as the canonical one.
inline uint32_t HashFloat(float value, uint32_t seed) {
  if (value == 0) return HashInt(0, seed);
  return HashInt(value != value ? 0x7fc00000 : std::bit_cast<int32_t>(value), seed);
}

inline uint32_t HashDouble(double value, uint32_t seed) {
  if (value == 0) return HashLong(0, seed);
  return HashLong(value != value ? 0x7ff8000000000000 : std::bit_cast<int64_t>(value), seed);
}

/// Of the unscaled value of a decimal of more than 18 digits, `size_bytes` little-endian bytes: as its shortest
/// big-endian two's complement.
uint32_t HashWideDecimal(const uint8_t* little_endian, size_t size_bytes, uint32_t seed);

/// The partition that a row with this hash goes to: the signed hash modulo `partitions`, never negative.
inline uint32_t PartitionOf(uint32_t hash, int32_t partitions) {
  const int32_t remainder = static_cast<int32_t>(hash) % partitions;
  return static_cast<uint32_t>(remainder < 0 ? remainder + partitions : remainder);
}

}  // namespace calve::spark
