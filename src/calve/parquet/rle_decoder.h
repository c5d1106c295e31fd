#pragma once

#include "calve/base/byte_cursor.h"
#include "calve/simd/bit_unpack.h"

#include <arrow/status.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace calve::parquet {

using arrow::Status;

/// Values of the RLE / bit-packing hybrid that stand together: `count` times `value`, or `count` bit-packed values of
/// which `first` have been consumed.
struct Run {
  const uint8_t* packed = nullptr;        ///< null: a repeated value
  const uint8_t* readable_end = nullptr;  ///< of the memory that `packed` points into: behind the values or later
  uint32_t value = 0;
  int64_t first = 0, count = 0;
};

/// Splits the RLE / bit-packing hybrid into runs, without looking at the values.
class RunReader {
 public:
  RunReader() : RunReader({}, 0) {}
  /// 0 <= bit_width <= 32. The bytes outlive the reader.
  RunReader(std::span<const uint8_t> bytes, int bit_width) : cursor_(bytes), bit_width_(bit_width) {}

  int bit_width() const { return bit_width_; }
  /// The next part of a run, of at most `count` values and at least one. Invalid when the bytes end before.
  Status Next(int64_t count, Run* part) {
    while (run_.count == 0) ARROW_RETURN_NOT_OK(ReadHeader());
    *part = run_;
    part->count = std::min(count, run_.count);
    run_.first += part->count;
    run_.count -= part->count;
    return Status::OK();
  }

  /// Of values of one bit: calls out->Put(bits, count) for each of the next runs, whole ones of at most kShortRun
  /// values, as long as there are such and there is room for one in `count` values. Returns how many values there were.
  /// Stops early before anything unusual, which Next knows.
  template <typename Out>
  int64_t NextShortRunsOfBits(int64_t count, Out* out);
  static constexpr int64_t kShortRun = 56;

  /// Of values of at most 4 bits, none of which may be greater than `largest` (< 16): decodes the next runs to `out`, a
  /// byte each, whole ones of less than kRunRoom values, as long as there are such and there is room for kRunRoom in
  /// `count` values. Returns how many values there were. Stops early before anything unusual, which Next knows. The
  /// first is for bit-packed runs of one group, as levels mostly have them, and takes those only.
  int64_t DecodeShortRuns(int64_t count, uint8_t largest, uint8_t* out) { return DecodeRunsOf<1>(count, largest, out); }
  /// Whether a run comes next that DecodeShortMixedRuns is for.
  bool NextIsShort() const {
    const uint8_t header = ByteCursor(cursor_).Little<uint8_t>();
    return (header & 1) != 0 ? header >> 1 <= kRunRoom / 8 : header < 0x80;
  }
  int64_t DecodeShortMixedRuns(int64_t count, uint8_t largest, uint8_t* out) {
    return DecodeRunsOf<kRunRoom / 8>(count, largest, out);
  }
  static constexpr int64_t kRunRoom = 64;

 private:
  Status ReadHeader();
  /// Takes bit-packed runs of up to kGroups groups.
  template <int kGroups>
  int64_t DecodeRunsOf(int64_t count, uint8_t largest, uint8_t* out);

  ByteCursor cursor_;
  int bit_width_;
  Run run_;
};

template <typename Out>
int64_t RunReader::NextShortRunsOfBits(int64_t count, Out* out) {
  if (run_.count > 0) return 0;
  Out sink = *out;  // a copy that can stay in registers
  const auto rest = ByteCursor(cursor_).Bytes(cursor_.remaining());
  const uint8_t *in = rest.data(), *const end = in + rest.size();
  int64_t left = count;
  // What kind of run it is decides about values, not about what is done: kinds cannot be guessed.
  while (left >= kShortRun && end - in > 8) {
    const uint64_t header = *in, packed = header & 1;
    uint64_t word;
    std::memcpy(&word, in + 1, sizeof(word));
    const uint64_t n = packed != 0 ? header >> 1 << 3 : header >> 1;
    const bool usual = header < 0x80 && n - 1 < kShortRun && (packed != 0 || (word & 0xff) <= 1);
    if (!usual) break;
    const uint64_t bits = packed != 0 ? word : uint64_t{0} - (word & 1);
    sink.Put(bits & ~uint64_t{0} >> (64 - n), static_cast<int64_t>(n));
    in += 1 + (packed != 0 ? header >> 1 : 1);
    left -= static_cast<int64_t>(n);
  }
  cursor_.Skip(static_cast<size_t>(in - rest.data()));
  *out = sink;
  return count - left;
}

/// Unpacks `count` values of a bit-packed run from value `first` on.
template <typename T>
void UnpackRun(const Run& run, int bit_width, T* out) {
  int64_t first = run.first, count = run.count;
  const auto from_first = [&] { return std::span(run.packed + first / 8 * bit_width, run.readable_end); };
  // A group of 8 values starts at a byte; a run that was left inside a group goes on there.
  if (const int64_t skipped = first % 8; skipped != 0) {
    T group[8];
    const int64_t head = std::min<int64_t>(8 - skipped, count);
    simd::Unpack(from_first(), bit_width, static_cast<size_t>(skipped + head), group);
    out = std::copy(group + skipped, group + skipped + head, out);
    first += head;
    count -= head;
  }
  if (count > 0) simd::Unpack(from_first(), bit_width, static_cast<size_t>(count), out);
}

}  // namespace calve::parquet
