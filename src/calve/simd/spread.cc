#include "calve/simd/spread.h"

#include <cstring>

namespace calve::simd {
namespace {

bool IsSet(const uint8_t* bits, size_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }

struct Bytes12 {
  uint8_t bytes[12];
};
struct Bytes16 {
  uint64_t words[2];
};

/// From the back, so that no value is overwritten before it has moved: slot i holds at most value i.
template <typename T>
void SpreadAs(uint8_t* data, size_t values_count, size_t slots, const uint8_t* validity, size_t bit_offset) {
  const T zero{};
  size_t next = values_count;
  for (size_t i = slots; i-- > next;) {
    if (IsSet(validity, bit_offset + i)) {
      std::memcpy(data + i * sizeof(T), data + --next * sizeof(T), sizeof(T));
    } else {
      std::memcpy(data + i * sizeof(T), &zero, sizeof(T));
    }
  }
}

void SpreadBytes(uint8_t* data, size_t width, size_t values_count, size_t slots, const uint8_t* validity,
                 size_t bit_offset) {
  size_t next = values_count;
  for (size_t i = slots; i-- > next;) {
    if (IsSet(validity, bit_offset + i)) {
      std::memmove(data + i * width, data + --next * width, width);
    } else {
      std::memset(data + i * width, 0, width);
    }
  }
}

}  // namespace

void Spread(uint8_t* data, size_t width, size_t values_count, size_t slots, const uint8_t* validity,
            size_t bit_offset) noexcept {
  switch (width) {
    case 0:
      return;
    case 1:
      return SpreadAs<uint8_t>(data, values_count, slots, validity, bit_offset);
    case 2:
      return SpreadAs<uint16_t>(data, values_count, slots, validity, bit_offset);
    case 4:
      return SpreadAs<uint32_t>(data, values_count, slots, validity, bit_offset);
    case 8:
      return SpreadAs<uint64_t>(data, values_count, slots, validity, bit_offset);
    case 12:
      return SpreadAs<Bytes12>(data, values_count, slots, validity, bit_offset);
    case 16:
      return SpreadAs<Bytes16>(data, values_count, slots, validity, bit_offset);
    default:
      return SpreadBytes(data, width, values_count, slots, validity, bit_offset);
  }
}

void SpreadOffsets(int32_t* ends, size_t values_count, size_t slots, const uint8_t* validity, size_t bit_offset,
                   int32_t begin) noexcept {
  size_t next = values_count;
  for (size_t i = slots; i-- > next;) {
    // A slot without a value ends where the value before it ends.
    const bool valid = IsSet(validity, bit_offset + i);
    ends[i] = next == 0 ? begin : ends[next - 1];
    next -= valid ? 1 : 0;
  }
}

}  // namespace calve::simd
