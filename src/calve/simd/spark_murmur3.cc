#include "calve/simd/spark_murmur3.h"

#include "calve/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/spark_murmur3.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Highway's own does not compile with g++ 12 for AVX-512.
template <int kBits, class V>
HWY_INLINE V RotateLeft(V value) {
  return hn::Or(hn::ShiftLeft<kBits>(value), hn::ShiftRight<32 - kBits>(value));
}

template <class V>
HWY_INLINE V Mix(V hash, V word) {
  const hn::DFromV<V> d;
  word = hn::Mul(RotateLeft<15>(hn::Mul(word, hn::Set(d, 0xcc9e2d51u))), hn::Set(d, 0x1b873593u));
  hash = RotateLeft<13>(hn::Xor(hash, word));
  return hn::Add(hn::Mul(hash, hn::Set(d, 5u)), hn::Set(d, 0xe6546b64u));
}

template <class V>
HWY_INLINE V Finish(V hash, uint32_t size_bytes) {
  const hn::DFromV<V> d;
  hash = hn::Xor(hash, hn::Set(d, size_bytes));
  hash = hn::Mul(hn::Xor(hash, hn::ShiftRight<16>(hash)), hn::Set(d, 0x85ebca6bu));
  hash = hn::Mul(hn::Xor(hash, hn::ShiftRight<13>(hash)), hn::Set(d, 0xc2b2ae35u));
  return hn::Xor(hash, hn::ShiftRight<16>(hash));
}

/// Those at `words` and `hashes` that a vector holds.
template <class D>
HWY_INLINE void HashSome(D d, hwy::SizeTag<4>, const uint32_t* words, uint32_t* hashes) {
  hn::StoreU(Finish(Mix(hn::LoadU(d, hashes), hn::LoadU(d, words)), 4), d, hashes);
}
template <class D>
HWY_INLINE void HashSome(D d, hwy::SizeTag<8>, const uint32_t* words, uint32_t* hashes) {
  hn::Vec<D> low, high;
  hn::LoadInterleaved2(d, words, low, high);
  hn::StoreU(Finish(Mix(Mix(hn::LoadU(d, hashes), low), high), 8), d, hashes);
}

template <size_t kWidth>
void HashAll(const uint8_t* values, size_t count, uint32_t* hashes) {
  const hn::ScalableTag<uint32_t> d;
  const hn::CappedTag<uint32_t, 1> one;
  const size_t lanes = hn::Lanes(d);
  // Emulated vectors load what has to lie aligned, and gain nothing.
  constexpr bool kHasVectors = HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR;
  size_t i = 0;
  for (; kHasVectors && i + lanes <= count; i += lanes) {
    HashSome(d, hwy::SizeTag<kWidth>(), reinterpret_cast<const uint32_t*>(values + i * kWidth), hashes + i);
  }
  for (; i < count; ++i) {
    uint32_t words[2] = {0, 0};
    hwy::CopyBytes<kWidth>(values + i * kWidth, words);
    HashSome(one, hwy::SizeTag<kWidth>(), words, hashes + i);
  }
}

void HashInts(const uint8_t* values, size_t count, uint32_t* hashes) { HashAll<4>(values, count, hashes); }
void HashLongs(const uint8_t* values, size_t count, uint32_t* hashes) { HashAll<8>(values, count, hashes); }

/// The quotient in doubles is off by one at most.
template <class D>
HWY_INLINE void PartitionsOfSome(D d, double partitions, double inverse, uint32_t* hashes) {
  const hn::Rebind<int32_t, D> d32;
  const auto divisor = hn::Set(d, partitions);
  auto* numbers = reinterpret_cast<int32_t*>(hashes);
  const auto value = hn::PromoteTo(d, hn::LoadU(d32, numbers));
  const auto quotient = hn::Floor(hn::Mul(value, hn::Set(d, inverse)));
  auto rest = hn::NegMulAdd(quotient, divisor, value);
  rest = hn::IfThenElse(hn::Lt(rest, hn::Zero(d)), hn::Add(rest, divisor), rest);
  rest = hn::IfThenElse(hn::Ge(rest, divisor), hn::Sub(rest, divisor), rest);
  hn::StoreU(hn::DemoteTo(d32, rest), d32, numbers);
}

void PartitionsOf(int32_t partitions, size_t count, uint32_t* hashes) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  const size_t lanes = hn::Lanes(d);
  const double divisor = partitions, inverse = 1 / divisor;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) PartitionsOfSome(d, divisor, inverse, hashes + i);
  for (; i < count; ++i) PartitionsOfSome(one, divisor, inverse, hashes + i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(HashInts);
HWY_EXPORT(HashLongs);
HWY_EXPORT(PartitionsOf);

void SparkHash(const int32_t* values, size_t count, uint32_t* hashes) noexcept {
  HWY_DYNAMIC_DISPATCH(HashInts)(reinterpret_cast<const uint8_t*>(values), count, hashes);
}
void SparkHash(const int64_t* values, size_t count, uint32_t* hashes) noexcept {
  HWY_DYNAMIC_DISPATCH(HashLongs)(reinterpret_cast<const uint8_t*>(values), count, hashes);
}
void SparkPartitions(int32_t partitions, size_t count, uint32_t* hashes) noexcept {
  HWY_DYNAMIC_DISPATCH(PartitionsOf)(partitions, count, hashes);
}

}  // namespace calve::simd
#endif
