#include "calve/hash/hash.h"

#include <libdeflate.h>

namespace calve {

uint32_t Crc32(std::span<const uint8_t> bytes, uint32_t crc) {
  // Of a null pointer libdeflate returns the initial value.
  return bytes.empty() ? crc : libdeflate_crc32(crc, bytes.data(), bytes.size());
}

}  // namespace calve
