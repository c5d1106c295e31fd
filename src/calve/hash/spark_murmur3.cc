#include "calve/hash/spark_murmur3.h"

#include <algorithm>
#include <array>

namespace calve::spark {

uint32_t HashWideDecimal(const uint8_t* little_endian, size_t size_bytes, uint32_t seed) {
  size_t used = size_bytes;
  // A leading byte that only repeats the sign of the one below it is left out.
  while (used > 1) {
    const uint8_t sign = (little_endian[used - 2] & 0x80) != 0 ? 0xff : 0x00;
    if (little_endian[used - 1] != sign) break;
    --used;
  }
  std::array<uint8_t, 32> big_endian{};
  std::reverse_copy(little_endian, little_endian + used, big_endian.begin());
  return HashBytes({big_endian.data(), used}, seed);
}

}  // namespace calve::spark
