// The grammar is rle_encoder.cc's. Values are looked at in windows of 64 bits, cut into lanes: a lane is a group of 8
// values. A lane whose values are all the same may belong to a run; a window without enough of them in a row is passed
// over as a whole, and copied later together with its neighbours.
//
// A run costs two or three bytes, and while values before it wait to be packed, the header of the packed part behind it
// one more: it takes kRunGroups groups of the same value at least to be worth that. A run may end anywhere; the groups
// behind it are counted from its end.

#include "calve/parquet/packed_rle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace calve::parquet {
namespace {

template <int W>
class PackedRle {
 public:
  PackedRle(const uint8_t* packed, int64_t count, uint8_t* out)
      : packed_(packed), count_(count), bits_(count * W), bytes_((bits_ + 7) / 8), out_(out) {}

  uint8_t* Encode() {
    while (at_ < count_) {
      if (waiting_ == at_ && AppendDirectRun()) continue;
      if (!FindRun()) break;
      AppendPacked(waiting_, at_);
      AppendRun(RunEnd(at_));
    }
    AppendPacked(waiting_, count_);
    return out_;
  }

 private:
  static constexpr int kLaneBits = 8 * W;
  static constexpr int kLanes = 64 / kLaneBits;
  static constexpr int kRunGroups = W == 1 ? 3 : 1;
  static constexpr int kValuesPerWord = 64 / W;
  static constexpr uint64_t kValueMask = (uint64_t{1} << W) - 1;

  /// `bits` in every lane.
  static constexpr uint64_t InLanes(uint64_t bits) {
    uint64_t result = 0;
    for (int lane = 0; lane < kLanes; ++lane) result |= bits << (lane * kLaneBits);
    return result;
  }
  static constexpr uint64_t Pattern(uint64_t value) {
    uint64_t result = 0;
    for (int i = 0; i < kValuesPerWord; ++i) result |= value << (i * W);
    return result;
  }
  static constexpr std::array<uint64_t, kValueMask + 1> MakePatterns() {
    std::array<uint64_t, kValueMask + 1> patterns{};
    for (uint64_t value = 0; value <= kValueMask; ++value) patterns[value] = Pattern(value);
    return patterns;
  }
  static constexpr std::array<uint64_t, kValueMask + 1> kPatterns = MakePatterns();

  /// 64 bits from bit `bit` on, zeros behind the last byte.
  uint64_t Load(int64_t bit) const {
    const int64_t byte = bit >> 3;
    const int shift = static_cast<int>(bit & 7);
    if (byte + 9 > bytes_) [[unlikely]]
      return LoadLast(byte, shift);
    uint64_t word;
    std::memcpy(&word, packed_ + byte, sizeof(word));
    return shift == 0 ? word : word >> shift | uint64_t{packed_[byte + 8]} << (64 - shift);
  }
  uint64_t LoadLast(int64_t byte, int shift) const {
    uint64_t words[2] = {0, 0};
    if (byte < bytes_) {
      std::memcpy(static_cast<void*>(words), packed_ + byte, static_cast<size_t>(std::min<int64_t>(bytes_ - byte, 16)));
    }
    return shift == 0 ? words[0] : words[0] >> shift | words[1] << (64 - shift);
  }

  uint64_t ValueAt(int64_t i) const { return Load(i * W) & kValueMask; }

  /// The end of the values equal to that at `begin`.
  int64_t RunEnd(int64_t begin) const {
    const uint64_t pattern = kPatterns[ValueAt(begin)];
    constexpr uint64_t kWhole =
        W * kValuesPerWord == 64 ? ~uint64_t{0} : (uint64_t{1} << (W * kValuesPerWord % 64)) - 1;
    for (int64_t i = begin; i < count_; i += kValuesPerWord) {
      const uint64_t differs = (Load(i * W) & kWhole) ^ pattern;
      if (differs != 0) return std::min(count_, i + std::countr_zero(differs) / W);
    }
    return count_;
  }

  /// Moves to the first run that is worth a header, at a whole number of groups from here.
  bool FindRun() {
    constexpr uint64_t kLow = InLanes((uint64_t{1} << (kLaneBits - W)) - 1);
    constexpr uint64_t kHigh = InLanes(uint64_t{1} << (kLaneBits - W));
    constexpr int kStep = 8 * (kLanes >= kRunGroups ? kLanes - kRunGroups + 1 : 1);
    while (at_ + 8 * kRunGroups <= count_) {
      const uint64_t word = Load(at_ * W);
      const uint64_t differs = (word ^ word >> W) & kLow;
      uint64_t uniform = ~(differs + kLow) & kHigh;
      if constexpr (kRunGroups > 1) {
        uint64_t row = uniform;
        for (int i = 1; i < kRunGroups; ++i) row &= uniform >> (i * kLaneBits);
        uniform = row;
      }
      if (uniform == 0) {
        at_ += kStep;
        continue;
      }
      at_ += 8 * (std::countr_zero(uniform) / kLaneBits);
      const int64_t length = RunEnd(at_) - at_;
      if (length * W > 8 * (RunBytes(length) + 1)) return true;
      at_ += 8;
    }
    return false;
  }

  static int64_t RunBytes(int64_t length) { return length < 64 ? 2 : length < 8192 ? 3 : 4; }

  /// Where nothing waits to be packed.
  bool AppendDirectRun() {
    const int64_t end = RunEnd(at_), length = end - at_;
    if (length * W <= 8 * RunBytes(length) && end < count_) return false;
    AppendRun(end);
    return true;
  }

  void AppendVarint(uint64_t value) {
    while (value >= 0x80) {
      *out_++ = static_cast<uint8_t>(value | 0x80);
      value >>= 7;
    }
    *out_++ = static_cast<uint8_t>(value);
  }

  void AppendRun(int64_t end) {
    AppendVarint(static_cast<uint64_t>(end - at_) << 1);
    *out_++ = static_cast<uint8_t>(ValueAt(at_));
    at_ = waiting_ = end;
  }

  void AppendPacked(int64_t begin, int64_t end) {
    if (begin == end) return;
    const int64_t groups = (end - begin + 7) / 8, bytes = groups * W;
    AppendVarint(static_cast<uint64_t>(groups) << 1 | 1);
    const int64_t bit = begin * W, held_bits = std::min(bytes * 8, bits_ - bit), held = (held_bits + 7) / 8;
    if (bit % 8 == 0) {
      std::memcpy(out_, packed_ + bit / 8, static_cast<size_t>(held));
    } else {
      for (int64_t i = 0; i < held; i += 8) {
        const uint64_t word = Load(bit + i * 8);
        std::memcpy(out_ + i, &word, sizeof(word));
      }
    }
    if (held_bits % 8 != 0) out_[held - 1] &= static_cast<uint8_t>((1 << held_bits % 8) - 1);
    std::memset(out_ + held, 0, static_cast<size_t>(bytes - held));
    out_ += bytes;
  }

  const uint8_t* const packed_;
  const int64_t count_, bits_, bytes_;
  uint8_t* out_;
  int64_t waiting_ = 0;  ///< values from here to at_ are going to be packed
  int64_t at_ = 0;
};

template <int W>
uint8_t* Encode(const uint8_t* packed, int64_t count, uint8_t* out) {
  return PackedRle<W>(packed, count, out).Encode();
}

}  // namespace

arrow::Status EncodePackedRle(const uint8_t* packed, int64_t count, int bit_width, ByteBuffer* out) {
  constexpr auto kEncoders = []<int... W>(std::integer_sequence<int, W...>) {
    return std::array{&Encode<W + 1>...};
  }(std::make_integer_sequence<int, 8>());
  // Packed values, a header of more than one byte for every 64 groups, what a word is too long.
  const int64_t groups = (count + 7) / 8;
  ARROW_RETURN_NOT_OK(out->Reserve(groups * bit_width + groups / 32 + 32));
  uint8_t* const begin = out->data() + out->size();
  const uint8_t* const end = kEncoders[static_cast<size_t>(bit_width - 1)](packed, count, begin);
  out->UnsafeResize(out->size() + (end - begin));
  return arrow::Status::OK();
}

}  // namespace calve::parquet
