// The grammar is rle_encoder.cc's. Values are looked at in windows of 64 bits, cut into lanes: a lane is a group of 8
// values. A lane whose values are all the same may belong to a run; a window without enough of them in a row is passed
// over as a whole, and copied later together with its neighbours.
//
// A run costs two or three bytes, and while values before it wait to be packed, the header of the packed part behind it
// one more: it is written where that is less than its values packed. A run may end anywhere; the groups behind it are
// counted from its end.

#include "calve/parquet/packed_rle.h"

#include "calve/simd/level_bits.h"

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
  static constexpr int kRunGroups = W <= 3 ? 2 : 1;  ///< of the shortest run that interrupts what is packed
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
    while (at_ + 8 * kRunGroups <= count_) {
      const uint64_t word = Load(at_ * W);
      const uint64_t differs = (word ^ word >> W) & kLow;
      uint64_t uniform = ~(differs + kLow) & kHigh;
      if constexpr (kRunGroups == 2) uniform &= uniform >> kLaneBits;
      if (uniform == 0) {
        at_ += 8 * (kLanes - kRunGroups + 1);
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

/// The same for values of one bit, byte by byte: runs of bytes are looked for in bitmaps of the bytes that are 0x00 and
/// 0xFF, 64 of them at a time, and begin and end with bytes.
class BitRle {
 public:
  BitRle(const uint8_t* bits, int64_t count, uint8_t* out)
      : bits_(bits), bytes_(count / 8), tail_bits_(static_cast<int>(count % 8)), out_(out) {}

  uint8_t* Encode() {
    for (int64_t begin = 0; begin < bytes_; begin += kBlockBytes) EncodeBlock(begin);
    return EncodeTail();
  }

 private:
  static constexpr int64_t kBlockWords = 64, kBlockBytes = 64 * kBlockWords;
  /// A run is two or three bytes, and the header of the packed part behind it one. Runs of four bytes gain next to
  /// nothing, and where fewer than three in five bytes are uniform so do those of seven: there it takes eight.
  static constexpr int64_t kShortestRun = 5;

  using Words = std::array<uint64_t, kBlockWords + 1>;

  /// Those bits of `word` from which on kShortestRun, or eight, are set. Of its last eight not all are found.
  static constexpr int kSureBits = 56;
  static uint64_t RunStarts(uint64_t word) {
    const uint64_t two = word & word >> 1;
    return two & two >> 2 & word >> 4;
  }
  static uint64_t SparseRunStarts(uint64_t word) {
    const uint64_t two = word & word >> 1, four = two & two >> 2;
    return four & four >> 4;
  }
  uint64_t StartsFrom(int64_t at, bool sparse) const {
    const uint64_t zeros = WordFrom(zeros_, at), ones = WordFrom(ones_, at);
    return sparse ? SparseRunStarts(zeros) | SparseRunStarts(ones) : RunStarts(zeros) | RunStarts(ones);
  }
  /// 64 bits from bit `at` on.
  static uint64_t WordFrom(const Words& words, int64_t at) {
    const auto i = static_cast<size_t>(at / 64);
    const int shift = static_cast<int>(at % 64);
    return words[i] >> shift | words[i + 1] << 1 << (63 - shift);
  }

  bool IsSparse(int64_t words, int64_t bytes) {
    int64_t uniform = 0;
    for (size_t i = 0; i < static_cast<size_t>(words); ++i) {
      either_[i] = zeros_[i] | ones_[i];
      uniform += std::popcount(either_[i]);
    }
    either_[static_cast<size_t>(words)] = 0;
    return uniform * 5 < bytes * 3;
  }

  void EncodeBlock(int64_t begin) {
    const int64_t block = std::min(kBlockBytes, bytes_ - begin), words = (block + 63) / 64;
    simd::UniformBytes(bits_ + begin, static_cast<size_t>(block), zeros_.data(), ones_.data());
    zeros_[static_cast<size_t>(words)] = ones_[static_cast<size_t>(words)] = 0;
    // A run of the block before may go on.
    int64_t at = std::max<int64_t>(waiting_ - begin, 0);
    if (at == 0 && run_length_ > 0) {
      at = RunEnd(run_value_ ? ones_ : zeros_, 0, block);
      run_length_ += at;
      waiting_ += at;
      if (at == block) return;
      FlushRun();
    }
    const bool sparse = IsSparse(words, block);
    // No branch depends on where a run begins or ends, but where that is not in the same 64 bytes.
    while (at < block) {
      const uint64_t starts = StartsFrom(at, sparse);
      if (starts == 0) {
        at = std::min(at + kSureBits, block);
        at = sparse ? NextMaybe<SparseRunStarts>(at, block) : NextMaybe<RunStarts>(at, block);
        continue;
      }
      const int passed = std::countr_zero(starts);
      const int64_t start = at + passed;
      const uint64_t ones = WordFrom(ones_, at) >> passed, zeros = WordFrom(zeros_, at) >> passed;
      run_value_ = (ones & 1) != 0;
      const int length = std::countr_one(run_value_ ? ones : zeros);
      at = passed + length < 64 ? start + length : RunEnd(run_value_ ? ones_ : zeros_, start, block);
      AppendPacked(begin + start);
      run_length_ = at - start;
      waiting_ = begin + at;
      if (at == block) return;
      FlushRun();
    }
  }

  /// The next place about which a run may begin.
  template <uint64_t (*Starts)(uint64_t)>
  int64_t NextMaybe(int64_t at, int64_t end) const {
    while (at < end && Starts(WordFrom(either_, at)) == 0) at += kSureBits;
    return at;
  }

  /// The end of the set bits from `at` on.
  static int64_t RunEnd(const Words& words, int64_t at, int64_t end) {
    while (at < end) {
      const int ones = std::countr_one(words[static_cast<size_t>(at / 64)] >> (at % 64));
      at += std::min<int64_t>(ones, 64 - at % 64);
      if (at % 64 != 0 || ones == 0) break;
    }
    return at;
  }

  uint8_t* EncodeTail() {
    const int ones = (1 << tail_bits_) - 1;
    const int tail = tail_bits_ == 0 ? 0 : bits_[bytes_] & ones;
    if (run_length_ > 0 && tail == (run_value_ ? ones : 0)) {
      FlushRun(tail_bits_);
      return out_;
    }
    FlushRun();
    if (AllTheSame(tail, ones)) {
      AppendVarint(static_cast<uint64_t>((bytes_ - waiting_) * 8 + tail_bits_) << 1);
      *out_++ = bytes_ > waiting_ ? bits_[waiting_] & 1 : tail & 1;
      return out_;
    }
    if (bytes_ == waiting_ && tail_bits_ == 0) return out_;
    AppendPacked(bytes_, tail_bits_ > 0 ? 1 : 0);
    if (tail_bits_ > 0) *out_++ = static_cast<uint8_t>(tail);
    return out_;
  }

  /// True for what is left, if it is a run as short as can be.
  bool AllTheSame(int tail, int ones) const {
    if (bytes_ == waiting_) return tail_bits_ > 0 && (tail == 0 || tail == ones);
    const uint8_t first = bits_[waiting_];
    if (bytes_ - waiting_ >= kShortestRun || (first != 0x00 && first != 0xFF)) return false;
    for (int64_t i = waiting_; i < bytes_; ++i) {
      if (bits_[i] != first) return false;
    }
    return tail == (first & ones);
  }

  /// One byte or two without a branch, which are nearly all.
  void AppendVarint(uint64_t value) {
    if (value < 1 << 14) {
      const bool two = value >= 0x80;
      out_[0] = static_cast<uint8_t>(value | (two ? 0x80 : 0));
      out_[1] = static_cast<uint8_t>(value >> 7);
      out_ += two ? 2 : 1;
      return;
    }
    while (value >= 0x80) {
      *out_++ = static_cast<uint8_t>(value | 0x80);
      value >>= 7;
    }
    *out_++ = static_cast<uint8_t>(value);
  }

  void FlushRun(int more_bits = 0) {
    if (run_length_ == 0) return;
    AppendVarint(static_cast<uint64_t>(run_length_ * 8 + more_bits) << 1);
    *out_++ = run_value_ ? 1 : 0;
    run_length_ = 0;
  }

  /// Appends the bytes that wait, up to `end`; `more` groups follow them.
  void AppendPacked(int64_t end, int64_t more = 0) {
    const int64_t count = end - waiting_;
    if (count + more == 0) return;
    AppendVarint(static_cast<uint64_t>(count + more) << 1 | 1);
    if (count <= 8 && waiting_ + 8 <= bytes_) {
      std::memcpy(out_, bits_ + waiting_, 8);
    } else if (count > 0) {
      std::memcpy(out_, bits_ + waiting_, static_cast<size_t>(count));
    }
    out_ += count;
  }

  const uint8_t* const bits_;
  const int64_t bytes_;  ///< whole ones
  const int tail_bits_;
  uint8_t* out_;
  int64_t waiting_ = 0;     ///< bytes from here on are not written yet, nor part of the open run
  int64_t run_length_ = 0;  ///< bytes of the open run, which ends at waiting_
  bool run_value_ = false;
  Words zeros_, ones_, either_;
};

template <int W>
uint8_t* Encode(const uint8_t* packed, int64_t count, uint8_t* out) {
  if constexpr (W == 1)
    return BitRle(packed, count, out).Encode();
  else
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

arrow::Status AppendRleRun(int value, int64_t count, ByteBuffer* out) {
  for (auto header = static_cast<uint64_t>(count) << 1;; header >>= 7) {
    const bool last = header < 0x80;
    ARROW_RETURN_NOT_OK(out->Append(static_cast<uint8_t>(header | (last ? 0 : 0x80))));
    if (last) break;
  }
  return out->Append(static_cast<uint8_t>(value));
}

}  // namespace calve::parquet
