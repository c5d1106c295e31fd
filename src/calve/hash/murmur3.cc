// Murmur3, the x86 32-bit variant: four bytes a round, little-endian, then the one to three that are left, then the
// length mixed in and the bits avalanched.
#include "calve/hash/hash.h"

#include <bit>
#include <cstring>

namespace calve {
namespace {

constexpr uint32_t kFirstMultiplier = 0xcc9e2d51;
constexpr uint32_t kSecondMultiplier = 0x1b873593;

uint32_t MixWord(uint32_t word) {
  word *= kFirstMultiplier;
  word = std::rotl(word, 15);
  return word * kSecondMultiplier;
}

uint32_t Avalanche(uint32_t hash) {
  hash ^= hash >> 16;
  hash *= 0x85ebca6b;
  hash ^= hash >> 13;
  hash *= 0xc2b2ae35;
  return hash ^ (hash >> 16);
}

}  // namespace

uint32_t Murmur3(std::span<const uint8_t> bytes, uint32_t seed) {
  static_assert(std::endian::native == std::endian::little);
  uint32_t hash = seed;
  size_t offset = 0;
  for (; offset + 4 <= bytes.size(); offset += 4) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + offset, 4);
    hash = std::rotl(hash ^ MixWord(word), 13) * 5 + 0xe6546b64;
  }
  uint32_t tail = 0;
  for (int shift = 0; offset < bytes.size(); ++offset, shift += 8) tail |= uint32_t{bytes[offset]} << shift;
  hash ^= MixWord(tail);  // a zero tail mixes to zero
  return Avalanche(hash ^ static_cast<uint32_t>(bytes.size()));
}

}  // namespace calve
