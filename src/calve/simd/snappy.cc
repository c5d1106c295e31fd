#include "calve/simd/snappy.h"

#include "calve/simd/targets.h"

#include <algorithm>
#include <array>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "calve/simd/snappy.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// The low two bits of an element's first byte, its tag, are its kind:
//
//   literal := 00 (length - 1): 6 bits          [length - 1: 1 to 4 bytes, when those bits are 60 to 63]  bytes
//   copy1   := 01 (length - 4): 3 bits  offset, high: 3 bits   offset, low: 1 byte
//   copy2   := 10 (length - 1): 6 bits                         offset: 2 bytes
//   copy4   := 11 (length - 1): 6 bits                         offset: 4 bytes
//
// Elements are short, four to six bytes in columns of numbers. What is copied was mostly written by the last few
// elements: a load that finds its bytes in several stores waits until they have reached the cache. So the last sixteen
// bytes are kept in a register too, and copies from there touch no memory.
//
// Where the next tag is may be computed from the tag, which each element then waits for; or there is code for each
// kind, and it follows from the branch that is taken, which the processor guesses ahead. That is faster as long as it
// guesses right: in columns of numbers, seldom in text. So of every few thousand elements some are watched, and how
// many of their kinds a guess from the two kinds before them gets wrong decides about the others.

HWY_BEFORE_NAMESPACE();
namespace calve::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// An element reads and writes less than this. Nearer to the end of either span, elements are decoded byte by byte.
constexpr ptrdiff_t kMargin = 80;
constexpr size_t kBlock = 16;
/// Lengths that stand in the tag.
constexpr size_t kLongestShort = 60;

HWY_INLINE uint32_t LittleAt(const uint8_t* in, size_t bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= uint32_t{in[i]} << (8 * i);
  return value;
}

HWY_INLINE void CopyBlock(const uint8_t* from, uint8_t* to) {
  uint64_t words[2];
  std::memcpy(words, from, kBlock);
  std::memcpy(to, words, kBlock);
}

/// What has been decoded, and where the next byte goes.
struct Output {
  uint8_t* begin;
  uint8_t* next;
  uint8_t* end;

  /// Whether an element's margin is left.
  HWY_INLINE bool HasRoom() const { return end - next >= kMargin; }
  HWY_INLINE bool Reaches(size_t offset) const { return offset - 1 < static_cast<size_t>(next - begin); }
};

#if CALVE_HAS_AVX2 || HWY_TARGET == HWY_NEON

constexpr hn::FixedTag<uint8_t, 16> kBytes{};
using Bytes = hn::Vec<hn::FixedTag<uint8_t, 16>>;

/// What moves the bytes of two vectors by 0 to 16 places: taken at `places`, the first sixteen bytes behind which the
/// others come, or the other way around.
constexpr std::array<uint8_t, 48> MakeMoves(bool of_first) {
  std::array<uint8_t, 48> moves{};
  for (size_t i = 0; i < moves.size(); ++i) {
    const size_t from = of_first ? i : i - 16;
    moves[i] = static_cast<uint8_t>(from < 16 ? from : 0x80);
  }
  return moves;
}
alignas(16) constexpr auto kMoveFirst = MakeMoves(true), kMoveSecond = MakeMoves(false);

/// For each offset, which of the last sixteen bytes follow when those from there on are repeated.
constexpr std::array<std::array<uint8_t, 16>, 17> MakeRepeats() {
  std::array<std::array<uint8_t, 16>, 17> repeats{};
  for (size_t offset = 1; offset <= 16; ++offset) {
    for (size_t i = 0; i < 16; ++i) repeats[offset][i] = static_cast<uint8_t>(16 - offset + i % offset);
  }
  return repeats;
}
alignas(16) constexpr auto kRepeats = MakeRepeats();

/// Appends to the output, whose last sixteen bytes it knows.
class Appender {
 public:
  explicit Appender(const Output& out) : out_(out) {}
  const Output& output() const { return out_; }

  /// 1 to 16 bytes.
  HWY_INLINE void AppendShort(const uint8_t* from, size_t length) { Append(hn::LoadU(kBytes, from), length); }
  /// More than 16 bytes, of which the last sixteen end at from[length].
  HWY_INLINE void SetLast(const uint8_t* from, size_t length) {
    last_ = hn::LoadU(kBytes, from + length - kBlock);
    out_.next += length;
  }

  /// 1 to 64 bytes that were written `offset` bytes ago.
  HWY_INLINE void Repeat(size_t offset, size_t length) {
    if (offset <= kBlock) {
      const Bytes pattern = hn::Load(kBytes, kRepeats[offset].data());
      Bytes bytes = hn::TableLookupBytes(last_, pattern);
      for (; length > kBlock; length -= kBlock) {
        AppendBlock(bytes);
        bytes = hn::TableLookupBytes(last_, pattern);
      }
      return Append(bytes, length);
    }
    const uint8_t* from = out_.next - offset;
    for (; length > kBlock; length -= kBlock, from += kBlock) AppendBlock(hn::LoadU(kBytes, from));
    Append(hn::LoadU(kBytes, from), length);
  }

 private:
  HWY_INLINE void AppendBlock(Bytes bytes) {
    hn::StoreU(bytes, kBytes, out_.next);
    out_.next += kBlock;
    last_ = bytes;
  }
  HWY_INLINE void Append(Bytes bytes, size_t length) {
    hn::StoreU(bytes, kBytes, out_.next);
    out_.next += length;
    last_ = hn::Or(hn::TableLookupBytesOr0(last_, hn::LoadU(kBytes, kMoveFirst.data() + length)),
                   hn::TableLookupBytesOr0(bytes, hn::LoadU(kBytes, kMoveSecond.data() + length)));
  }

  Output out_;
  Bytes last_ = hn::Zero(kBytes);
};

#else

/// Appends to the output.
class Appender {
 public:
  explicit Appender(const Output& out) : out_(out) {}
  const Output& output() const { return out_; }

  HWY_INLINE void AppendShort(const uint8_t* from, size_t length) {
    CopyBlock(from, out_.next);
    out_.next += length;
  }
  HWY_INLINE void SetLast(const uint8_t*, size_t length) { out_.next += length; }

  HWY_INLINE void Repeat(size_t offset, size_t length) {
    const uint8_t* from = out_.next - offset;
    if (offset >= kBlock) {
      for (size_t i = 0; i < length; i += kBlock) CopyBlock(from + i, out_.next + i);
    } else if (offset >= 8) {
      for (size_t i = 0; i < length; i += 8) std::memcpy(out_.next + i, from + i, 8);
    } else {
      for (size_t i = 0; i < length; ++i) out_.next[i] = from[i];
    }
    out_.next += length;
  }

 private:
  Output out_;
};

#endif

/// Any element, from what is left of the input. Null: it is malformed.
const uint8_t* DecodeAny(const uint8_t* in, const uint8_t* end, Output* out) {
  const size_t tag = *in++;
  const size_t kind = tag & 3, value = tag >> 2;
  const auto left = static_cast<size_t>(end - in), room = static_cast<size_t>(out->end - out->next);
  if (kind == 0) {
    const size_t bytes = value < kLongestShort ? 0 : value - kLongestShort + 1;
    if (bytes > left) return nullptr;
    const size_t length = (bytes == 0 ? value : LittleAt(in, bytes)) + size_t{1};
    if (length > left - bytes || length > room) return nullptr;
    std::memcpy(out->next, in + bytes, length);
    out->next += length;
    return in + bytes + length;
  }
  const size_t bytes = kind == 3 ? 4 : kind;
  if (bytes > left) return nullptr;
  size_t offset = LittleAt(in, bytes), length = value + 1;
  if (kind == 1) {
    offset |= tag >> 5 << 8;
    length = 4 + (value & 7);
  }
  if (!out->Reaches(offset) || length > room) return nullptr;
  for (; length > 0; --length, ++out->next) *out->next = out->next[-static_cast<ptrdiff_t>(offset)];
  return in + bytes;
}

/// A literal of more than 16 bytes, its tag passed. Null: it is malformed.
HWY_INLINE const uint8_t* DecodeLongLiteral(const uint8_t* in, const uint8_t* end, size_t length, Appender* out) {
  if (length <= kLongestShort) {
    for (size_t i = 0; i < 64; i += kBlock) CopyBlock(in + i, out->output().next + i);
  } else {
    const size_t bytes = length - kLongestShort;
    length = size_t{LittleAt(in, bytes)} + 1;
    in += bytes;
    const Output& to = out->output();
    if (length > static_cast<size_t>(end - in) || length > static_cast<size_t>(to.end - to.next)) return nullptr;
    if (length <= kBlock) {
      out->AppendShort(in, length);
      return in + length;
    }
    std::memcpy(to.next, in, length);
  }
  out->SetLast(in, length);
  return in + length;
}

/// Guesses the kind of an element from the two before it, as the processor would at least. Without branches.
class KindGuesser {
 public:
  HWY_INLINE void See(size_t kind) {
    const auto shift = static_cast<int>(before_ * 2);
    const size_t guess = guesses_ >> shift & 3;
    wrong_ += static_cast<int>(kind != 0) & static_cast<int>(guess != kind);
    guesses_ ^= static_cast<uint32_t>(guess ^ kind) << shift;
    before_ = (before_ << 2 | kind) & 15;
  }
  /// Guesses of copies that were wrong since the last call.
  int TakeWrong() {
    const int wrong = wrong_;
    wrong_ = 0;
    return wrong;
  }

 private:
  uint32_t guesses_ = 0;  // two bits for each two kinds
  size_t before_ = 0;
  int wrong_ = 0;
};

/// Bytes of elements that are watched, and that are not before others are. A wrong guess costs about as much as
/// computing gains in eight elements, which take three bytes each at least on average.
constexpr ptrdiff_t kWatched = 384, kUnwatched = 12 << 10;
constexpr int kMostWrong = kWatched / 3 / 8;

/// Of each tag of a copy1 or copy2 the length and, from the ninth bit on, the high bits of the offset.
constexpr std::array<uint16_t, 256> MakeCopies() {
  std::array<uint16_t, 256> copies{};
  for (unsigned tag = 0; tag < 256; ++tag) {
    const unsigned value = tag >> 2;
    copies[tag] = static_cast<uint16_t>((tag & 3) == 1 ? (tag >> 5) << 8 | (4 + (value & 7)) : value + 1);
  }
  return copies;
}
constexpr auto kCopies = MakeCopies();

struct Copy {
  size_t offset, length;
};

/// A copy1 or copy2, its tag passed, without asking which.
HWY_INLINE Copy ComputeCopy(size_t tag, const uint8_t* in) {
  const size_t kind = tag & 3, copy = kCopies[tag];
  return {(copy & 0x700) + (LittleAt(in, 2) & 0xffffu >> (16 - 8 * kind)), copy & 0xff};
}

enum class Next { kGuessed, kComputed, kWatched };

/// The elements that begin before `until`, as long as the output is not near its end. `until` is not near `end`. Null:
/// one is malformed.
template <Next kNext>
HWY_INLINE const uint8_t* DecodeSome(const uint8_t* in, const uint8_t* until, const uint8_t* end, Appender* out,
                                     KindGuesser* guesser) {
  while (in < until && out->output().HasRoom()) {
    const size_t tag = *in++, kind = tag & 3, value = tag >> 2;
    if constexpr (kNext == Next::kWatched) guesser->See(kind);
    if (kind == 0) {
      if (value < kBlock) {
        out->AppendShort(in, value + 1);
        in += value + 1;
      } else {
        in = DecodeLongLiteral(in, end, value + 1, out);
        if (in == nullptr) return nullptr;
      }
    } else if (kind == 3) {
      const size_t offset = LittleAt(in, 4);
      in += 4;
      if (!out->output().Reaches(offset)) return nullptr;
      out->Repeat(offset, value + 1);
    } else if (kNext != Next::kGuessed) {
      const Copy copy = ComputeCopy(tag, in);
      in += kind;
      if (!out->output().Reaches(copy.offset)) return nullptr;
      out->Repeat(copy.offset, copy.length);
    } else if (kind == 1) {
      const size_t offset = tag >> 5 << 8 | *in++;
      if (!out->output().Reaches(offset)) return nullptr;
      out->Repeat(offset, 4 + (value & 7));
    } else {
      const size_t offset = LittleAt(in, 2);
      in += 2;
      if (!out->output().Reaches(offset)) return nullptr;
      out->Repeat(offset, value + 1);
    }
  }
  return in;
}

/// Elements, as long as neither span is near its end. Null: one is malformed.
const uint8_t* DecodeMost(const uint8_t* in, const uint8_t* end, Output* output) {
  Appender out(*output);
  KindGuesser guesser;
  while (end - in >= kMargin && out.output().HasRoom()) {
    const uint8_t* const last = end - kMargin + 1;
    in = DecodeSome<Next::kWatched>(in, in + std::min(kWatched, last - in), end, &out, &guesser);
    if (in == nullptr) return nullptr;
    const uint8_t* const until = in + std::min(kUnwatched, last - in);
    in = guesser.TakeWrong() <= kMostWrong ? DecodeSome<Next::kGuessed>(in, until, end, &out, nullptr)
                                           : DecodeSome<Next::kComputed>(in, until, end, &out, nullptr);
    if (in == nullptr) return nullptr;
  }
  *output = out.output();
  return in;
}

bool DecodeElements(const uint8_t* in, size_t in_size, uint8_t* to, size_t out_size) {
  const uint8_t* const end = in + in_size;
  Output out{to, to, to + out_size};
  in = DecodeMost(in, end, &out);
  while (in != nullptr && in != end) in = DecodeAny(in, end, &out);
  return in != nullptr && out.next == out.end;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace calve::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace calve::simd {

HWY_EXPORT(DecodeElements);

bool DecodeSnappyElements(std::span<const uint8_t> in, std::span<uint8_t> out) noexcept {
  return HWY_DYNAMIC_DISPATCH(DecodeElements)(in.data(), in.size(), out.data(), out.size());
}

}  // namespace calve::simd
#endif
