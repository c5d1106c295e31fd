#pragma once

#include "calve/base/byte_cursor.h"
#include "calve/simd/bit_unpack.h"

#include <arrow/status.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace calve::parquet {

using arrow::Status;

/// Values of the RLE / bit-packing hybrid that stand together: `count` times `value`, or `count` bit-packed values of
/// which `first` have been consumed.
struct Run {
  const uint8_t* packed = nullptr;  ///< null: a repeated value
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

 private:
  Status ReadHeader();

  ByteCursor cursor_;
  int bit_width_;
  Run run_;
};

/// Unpacks `count` values of a bit-packed run from value `first` on.
template <typename T>
void UnpackRun(const Run& run, int bit_width, T* out) {
  int64_t first = run.first, count = run.count;
  // A group of 8 values starts at a byte; a run that was left inside a group goes on there.
  if (const int64_t skipped = first % 8; skipped != 0) {
    T group[8];
    const int64_t head = std::min<int64_t>(8 - skipped, count);
    simd::Unpack(run.packed + first / 8 * bit_width, bit_width, static_cast<size_t>(skipped + head), group);
    out = std::copy(group + skipped, group + skipped + head, out);
    first += head;
    count -= head;
  }
  if (count > 0) simd::Unpack(run.packed + first / 8 * bit_width, bit_width, static_cast<size_t>(count), out);
}

}  // namespace calve::parquet
