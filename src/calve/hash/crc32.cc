#include "calve/hash/hash.h"

#include <libdeflate.h>

namespace calve {

uint32_t Crc32(std::span<const uint8_t> bytes) {
  // For no bytes libdeflate returns the initial value, even when the pointer is null.
  return libdeflate_crc32(0, bytes.data(), bytes.size());
}

}  // namespace calve
