// CRC-32C: the polynomial 0x1EDC6F41, reflected. By the machine's instruction where it has one, else by tables of eight
// bytes at a time.
#include "calve/hash/hash.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace calve {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t slice = 1; slice < 8; ++slice) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint64_t LoadWord(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  return word;
}

uint32_t ByTables(uint32_t crc, const uint8_t* at, size_t left) {
  for (; left >= 8; at += 8, left -= 8) {
    const uint64_t word = LoadWord(at) ^ crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; left > 0; ++at, --left) crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ByInstruction(uint32_t crc, const uint8_t* at, size_t left) {
  uint64_t wide = crc;
  for (; left >= 8; at += 8, left -= 8) wide = _mm_crc32_u64(wide, LoadWord(at));
  auto narrow = static_cast<uint32_t>(wide);
  for (; left > 0; ++at, --left) narrow = _mm_crc32_u8(narrow, *at);
  return narrow;
}
#endif

}  // namespace

uint32_t Crc32c(std::span<const uint8_t> bytes, uint32_t crc) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~ByInstruction(~crc, bytes.data(), bytes.size());
#endif
  return ~ByTables(~crc, bytes.data(), bytes.size());
}

uint32_t Crc32cByTables(std::span<const uint8_t> bytes, uint32_t crc) {
  return ~ByTables(~crc, bytes.data(), bytes.size());
}

}  // namespace calve
