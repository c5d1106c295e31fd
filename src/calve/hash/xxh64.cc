#include "calve/hash/hash.h"

#include <bit>
#include <cstring>

// XXH64 (xxHash specification 0.1.1). Four lanes take 8 bytes each of every stripe of 32; what is left over is mixed
// in as words of 8, then 4, then single bytes.

namespace calve {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u, kPrime2 = 0xC2B2AE3D27D4EB4Fu, kPrime3 = 0x165667B19E3779F9u,
                   kPrime4 = 0x85EBCA77C2B2AE63u, kPrime5 = 0x27D4EB2F165667C5u;

template <typename T>
T Load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

uint64_t Round(uint64_t lane, uint64_t word) { return std::rotl(lane + word * kPrime2, 31) * kPrime1; }

uint64_t MergeLane(uint64_t hash, uint64_t lane) { return (hash ^ Round(0, lane)) * kPrime1 + kPrime4; }

uint64_t Stripes(const uint8_t*& at, size_t& left, uint64_t seed) {
  uint64_t lanes[4] = {seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
  for (; left >= 32; at += 32, left -= 32) {
    for (int i = 0; i < 4; ++i) lanes[i] = Round(lanes[i], Load<uint64_t>(at + 8 * i));
  }
  uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
  for (uint64_t lane : lanes) hash = MergeLane(hash, lane);
  return hash;
}

uint64_t Finish(uint64_t hash, const uint8_t* at, size_t left) {
  for (; left >= 8; at += 8, left -= 8) {
    hash = std::rotl(hash ^ Round(0, Load<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    hash = std::rotl(hash ^ Load<uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    at += 4;
    left -= 4;
  }
  for (; left > 0; ++at, --left) hash = std::rotl(hash ^ *at * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace

uint64_t Xxh64(std::span<const uint8_t> bytes, uint64_t seed) {
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  const uint64_t hash = left >= 32 ? Stripes(at, left, seed) : seed + kPrime5;
  return Finish(hash + bytes.size(), at, left);
}

}  // namespace calve
