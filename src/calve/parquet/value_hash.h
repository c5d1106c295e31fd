#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace calve::parquet {

/// Hashing and equality of values by their bits, for dictionaries. Not stable between builds; nothing that is written
/// depends on it.

inline uint64_t LoadWord(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}
inline uint64_t LoadHalfWord(const char* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

/// Both halves of the product.
inline uint64_t MixWords(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint32_t HashOfBytes(const char* bytes, size_t size) {
  constexpr size_t kLong = 256;
  constexpr uint64_t kSeedA = 0x9E3779B97F4A7C15u, kSeedB = 0xD6E8FEB86659FD93u;
  uint64_t hash = size * kSeedA, first = 0, last = 0;
  if (size >= 8) {
    const char* end = bytes + size;
    if (size >= kLong) {
      // Products that do not wait for each other.
      uint64_t lanes[4] = {hash, kSeedA, kSeedB, ~hash};
      for (; end - bytes > 64; bytes += 64) {
        for (int i = 0; i < 4; ++i) {
          lanes[i] = MixWords(LoadWord(bytes + 16 * i) ^ kSeedB, LoadWord(bytes + 16 * i + 8) ^ lanes[i]);
        }
      }
      hash = MixWords(lanes[0] ^ kSeedA, lanes[1]) ^ MixWords(lanes[2] ^ kSeedB, lanes[3]);
    }
    for (; end - bytes > 16; bytes += 16) hash = MixWords(LoadWord(bytes) ^ kSeedB, LoadWord(bytes + 8) ^ hash);
    first = size > 16 ? LoadWord(end - 16) : LoadWord(bytes);
    last = LoadWord(end - 8);
  } else if (size >= 4) {
    first = LoadHalfWord(bytes);
    last = LoadHalfWord(bytes + size - 4);
  } else if (size > 0) {
    first = static_cast<uint8_t>(bytes[0]);
    last = static_cast<uint64_t>(static_cast<uint8_t>(bytes[size / 2])) << 8 | static_cast<uint8_t>(bytes[size - 1]);
  }
  return static_cast<uint32_t>(MixWords(first ^ kSeedB, last ^ hash ^ kSeedA));
}

template <typename T>
uint32_t HashOf(const T& value) {
  constexpr uint64_t kSeedA = 0x9E3779B97F4A7C15u, kSeedB = 0xD6E8FEB86659FD93u;
  if constexpr (std::is_same_v<T, std::string_view>) {
    return HashOfBytes(value.data(), value.size());
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<uint32_t>(MixWords(std::bit_cast<uint64_t>(value) ^ kSeedB, kSeedA));
  } else {
    return static_cast<uint32_t>(MixWords(std::bit_cast<uint32_t>(value) ^ kSeedB, kSeedA));
  }
}

inline bool SameBytes(const char* a, const char* b, size_t size) {
  if (size >= 8) {
    if (size > 16) return std::memcmp(a, b, size) == 0;
    return LoadWord(a) == LoadWord(b) && LoadWord(a + size - 8) == LoadWord(b + size - 8);
  }
  if (size >= 4) {
    return LoadHalfWord(a) == LoadHalfWord(b) && LoadHalfWord(a + size - 4) == LoadHalfWord(b + size - 4);
  }
  for (size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

template <typename T>
bool SameBits(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return a.size() == b.size() && SameBytes(a.data(), b.data(), a.size());
  } else {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
  }
}

}  // namespace calve::parquet
