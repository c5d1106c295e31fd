#include "calve/simd/delta.h"

#include "calve/simd/targets.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/delta.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
T AddOneByOne(T* values, size_t count, T min_delta, T last) {
  for (size_t i = 0; i < count; ++i) values[i] = last += values[i] + min_delta;
  return last;
}

#if CALVE_HAS_AVX512

// Sums of a vector in four or three steps, each adding what lies 1, 2, 4 .. lanes below; only the carry of the last
// lane goes from vector to vector.

uint32_t Add32(uint32_t* values, size_t count, uint32_t min_delta, uint32_t last) {
  const __m512i least = _mm512_set1_epi32(static_cast<int>(min_delta));
  const __m512i zero = _mm512_setzero_si512();
  const __m512i top = _mm512_set1_epi32(15);
  __m512i carry = _mm512_set1_epi32(static_cast<int>(last));
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    __m512i sums = _mm512_add_epi32(_mm512_loadu_si512(values + i), least);
    sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, zero, 15));
    sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, zero, 14));
    sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, zero, 12));
    sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, zero, 8));
    sums = _mm512_add_epi32(sums, carry);
    _mm512_storeu_si512(values + i, sums);
    carry = _mm512_permutexvar_epi32(top, sums);
  }
  last = static_cast<uint32_t>(_mm512_cvtsi512_si32(carry));
  return AddOneByOne(values + i, count - i, min_delta, last);
}

uint64_t Add64(uint64_t* values, size_t count, uint64_t min_delta, uint64_t last) {
  const __m512i least = _mm512_set1_epi64(static_cast<int64_t>(min_delta));
  const __m512i zero = _mm512_setzero_si512();
  const __m512i top = _mm512_set1_epi64(7);
  __m512i carry = _mm512_set1_epi64(static_cast<int64_t>(last));
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m512i sums = _mm512_add_epi64(_mm512_loadu_si512(values + i), least);
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, zero, 7));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, zero, 6));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, zero, 4));
    sums = _mm512_add_epi64(sums, carry);
    _mm512_storeu_si512(values + i, sums);
    carry = _mm512_permutexvar_epi64(top, sums);
  }
  last = static_cast<uint64_t>(_mm_cvtsi128_si64(_mm512_castsi512_si128(carry)));
  return AddOneByOne(values + i, count - i, min_delta, last);
}

/// The string stays in a register: its end is replaced by the suffix, loaded from so far in front that it comes to
/// stand where it belongs, masked so that nothing is touched but the suffix.
size_t Join(const PrefixedStrings& strings, const uint8_t* last, size_t last_size, uint8_t* out) {
  constexpr size_t kMost = 64;
  const auto first = [](size_t bytes) { return bytes >= kMost ? ~__mmask64{0} : (__mmask64{1} << bytes) - 1; };
  __m512i string = _mm512_maskz_loadu_epi8(first(std::min(last_size, kMost)), last);
  const uint8_t* suffix = strings.suffix;
  for (size_t i = 0; i < strings.count; ++i) {
    const auto prefix = static_cast<size_t>(strings.prefixes[i]);
    const auto added = static_cast<size_t>(strings.suffixes[i]);
    const size_t size = prefix + added;
    if (size > kMost) return i;
    string = _mm512_mask_loadu_epi8(string, first(size) & ~first(prefix), suffix - prefix);
    _mm512_storeu_si512(out, string);
    suffix += added;
    out += size;
  }
  return strings.count;
}

#else

uint32_t Add32(uint32_t* values, size_t count, uint32_t min_delta, uint32_t last) {
  return AddOneByOne(values, count, min_delta, last);
}

uint64_t Add64(uint64_t* values, size_t count, uint64_t min_delta, uint64_t last) {
  return AddOneByOne(values, count, min_delta, last);
}

#if CALVE_HAS_AVX2

/// The same with strings of up to 32 bytes and loads that are not masked, while those stay inside what may be read.
size_t Join(const PrefixedStrings& strings, const uint8_t* last, size_t last_size, uint8_t* out) {
  constexpr size_t kMost = 32;
  uint8_t begin[kMost] = {};
  std::memcpy(begin, last, std::min(last_size, kMost));
  __m256i string = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(begin));
  const __m256i lanes = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                         22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
  const uint8_t* suffix = strings.suffix;
  const uint8_t* const from = suffix - strings.readable_before;
  const uint8_t* const end = suffix + strings.readable;
  for (size_t i = 0; i < strings.count; ++i) {
    const auto prefix = static_cast<size_t>(strings.prefixes[i]);
    const auto added = static_cast<size_t>(strings.suffixes[i]);
    const bool reachable =
        static_cast<size_t>(suffix - from) >= prefix && static_cast<size_t>(end - suffix) + prefix >= kMost;
    if (prefix + added > kMost || !reachable) return i;
    const __m256i loaded = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(suffix - prefix));
    const __m256i kept = _mm256_cmpgt_epi8(_mm256_set1_epi8(static_cast<char>(prefix)), lanes);
    string = _mm256_blendv_epi8(loaded, string, kept);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), string);
    suffix += added;
    out += prefix + added;
  }
  return strings.count;
}

#else

size_t Join(const PrefixedStrings&, const uint8_t*, size_t, uint8_t*) { return 0; }

#endif
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(Add32);
HWY_EXPORT(Add64);
HWY_EXPORT(Join);

uint32_t AddDeltas(uint32_t* values, size_t count, uint32_t min_delta, uint32_t last) noexcept {
  return HWY_DYNAMIC_DISPATCH(Add32)(values, count, min_delta, last);
}

uint64_t AddDeltas(uint64_t* values, size_t count, uint64_t min_delta, uint64_t last) noexcept {
  return HWY_DYNAMIC_DISPATCH(Add64)(values, count, min_delta, last);
}

size_t JoinPrefixes(const PrefixedStrings& strings, const uint8_t* last, size_t last_size, uint8_t* out) noexcept {
  return HWY_DYNAMIC_DISPATCH(Join)(strings, last, last_size, out);
}

}  // namespace calve::simd
#endif
