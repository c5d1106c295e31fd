#include "calve/simd/gather.h"

#include "calve/simd/targets.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/gather.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

struct Bytes12 {
  uint32_t words[3];
};
struct Bytes16 {
  uint64_t words[2];
};
struct Bytes32 {
  uint64_t words[4];
};

/// Plain loads and stores: the gather instructions are no faster where they exist. Small dictionaries stay in registers
/// with AVX-512, see below.
template <typename T>
void GatherAs(const uint8_t* values, const uint32_t* indices, size_t count, uint8_t* out) {
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, values + size_t{indices[i]} * sizeof(T), sizeof(T));
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

#if CALVE_HAS_AVX512

constexpr size_t kInRegisters = 16;

/// Of up to sixteen values of four bytes; returns how many were gathered.
size_t GatherFew32(const uint8_t* values, const uint32_t* indices, size_t count, uint8_t* out) {
  const __m512i table = _mm512_loadu_si512(values);
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    _mm512_storeu_si512(out + i * 4, _mm512_permutexvar_epi32(_mm512_loadu_si512(indices + i), table));
  }
  return i;
}

/// Of up to sixteen values of eight bytes.
size_t GatherFew64(const uint8_t* values, size_t values_count, const uint32_t* indices, size_t count, uint8_t* out) {
  const __m512i low = _mm512_loadu_si512(values);
  const __m512i high = values_count <= 8 ? low : _mm512_loadu_si512(values + 64);
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(indices + i));
    _mm512_storeu_si512(out + i * 8, _mm512_permutex2var_epi64(low, _mm512_cvtepu32_epi64(eight), high));
  }
  return i;
}

size_t GatherFew(const uint8_t* values, size_t width, size_t values_count, const uint32_t* indices, size_t count,
                 uint8_t* out) {
  if (values_count > kInRegisters) return 0;
  if (width == 4) return GatherFew32(values, indices, count, out);
  return width == 8 ? GatherFew64(values, values_count, indices, count, out) : 0;
}

#else

size_t GatherFew(const uint8_t*, size_t, size_t, const uint32_t*, size_t, uint8_t*) { return 0; }

#endif

void GatherAny(const uint8_t* values, size_t width, size_t values_count, const uint32_t* indices, size_t count,
               uint8_t* out) {
  const size_t done = GatherFew(values, width, values_count, indices, count, out);
  indices += done;
  count -= done;
  out += done * width;
  switch (width) {
    case 0:
      return;
    case 1:
      return GatherAs<uint8_t>(values, indices, count, out);
    case 2:
      return GatherAs<uint16_t>(values, indices, count, out);
    case 4:
      return GatherAs<uint32_t>(values, indices, count, out);
    case 8:
      return GatherAs<uint64_t>(values, indices, count, out);
    case 12:
      return GatherAs<Bytes12>(values, indices, count, out);
    case 16:
      return GatherAs<Bytes16>(values, indices, count, out);
    case 32:
      return GatherAs<Bytes32>(values, indices, count, out);
    default:
      for (size_t i = 0; i < count; ++i) std::memcpy(out + i * width, values + indices[i] * width, width);
  }
}

template <typename T>
T LargestOf(const T* values, size_t count) {
  T largest = 0;
  for (size_t i = 0; i < count; ++i) largest = values[i] > largest ? values[i] : largest;
  return largest;
}

uint32_t Largest32(const uint32_t* values, size_t count) { return LargestOf(values, count); }
uint8_t Largest8(const uint8_t* values, size_t count) { return LargestOf(values, count); }

template <typename T>
void RepeatAs(const uint8_t* value, size_t count, uint8_t* out) {
  T repeated;
  std::memcpy(&repeated, value, sizeof(T));
  for (size_t i = 0; i < count; ++i) std::memcpy(out + i * sizeof(T), &repeated, sizeof(T));
}

void RepeatAny(const uint8_t* value, size_t width, size_t count, uint8_t* out) {
  switch (width) {
    case 1:
      return RepeatAs<uint8_t>(value, count, out);
    case 2:
      return RepeatAs<uint16_t>(value, count, out);
    case 4:
      return RepeatAs<uint32_t>(value, count, out);
    case 8:
      return RepeatAs<uint64_t>(value, count, out);
    case 16:
      return RepeatAs<Bytes16>(value, count, out);
    default:
      for (size_t i = 0; i < count && width > 0; ++i) std::memcpy(out + i * width, value, width);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(GatherAny);
HWY_EXPORT(Largest32);
HWY_EXPORT(Largest8);
HWY_EXPORT(RepeatAny);

void Gather(const uint8_t* values, size_t width, size_t values_count, const uint32_t* indices, size_t count,
            uint8_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(GatherAny)(values, width, values_count, indices, count, out);
}

uint32_t Largest(const uint32_t* values, size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(Largest32)(values, count);
}

uint8_t Largest(const uint8_t* values, size_t count) noexcept { return HWY_DYNAMIC_DISPATCH(Largest8)(values, count); }

void Repeat(const uint8_t* value, size_t width, size_t count, uint8_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(RepeatAny)(value, width, count, out);
}

}  // namespace calve::simd
#endif
