#include "calve/parquet/delta_binary_packed_decoder.h"

#include "calve/base/status.h"
#include "calve/simd/delta.h"

#include <algorithm>
#include <iterator>

// Delta encoding ("DELTA_BINARY_PACKED = 5"):
//
//   sequence  := varint(block size) varint(miniblocks a block) varint(values) zigzag(first value) block*
//   block     := zigzag(smallest delta) width{miniblocks a block} miniblock*
//   miniblock := block size / miniblocks values of `width` bits, LSB first: delta - smallest delta
//
// The last block ends with the miniblock that holds the last value; the widths of miniblocks that are not there may be
// anything. The last miniblock is padded to its full size; one that is not is accepted when its values are there.

namespace calve::parquet {
namespace {

constexpr uint64_t kMaxBlockSize = 1 << 20;

size_t MiniblockBytes(const DeltaHeader& header, int width) {
  return simd::PackedBytes(header.values_per_miniblock, width);
}

}  // namespace

Result<DeltaHeader> DeltaHeader::Parse(ByteCursor* cursor) {
  DeltaHeader header;
  header.block_size = cursor->Varint();
  header.miniblocks = cursor->Varint();
  header.total = cursor->Varint();
  header.first = cursor->ZigZag();
  if (!cursor->ok()) return Invalid("the delta header is cut short");
  if (header.block_size == 0 || header.block_size % 128 != 0 || header.block_size > kMaxBlockSize) {
    return Invalid("a delta block of {} values", header.block_size);
  }
  if (header.miniblocks == 0 || header.block_size % header.miniblocks != 0 ||
      header.block_size / header.miniblocks % 32 != 0) {
    return Invalid("a delta block of {} values in {} miniblocks", header.block_size, header.miniblocks);
  }
  header.values_per_miniblock = header.block_size / header.miniblocks;
  return header;
}

Result<size_t> DeltaBinaryPackedSize(std::span<const uint8_t> bytes, int64_t max_values) {
  ByteCursor cursor(bytes);
  ARROW_ASSIGN_OR_RAISE(const DeltaHeader header, DeltaHeader::Parse(&cursor));
  if (header.total > static_cast<uint64_t>(max_values)) {
    return Invalid("a delta sequence of {} values in a page of {}", header.total, max_values);
  }
  uint64_t left = header.total == 0 ? 0 : header.total - 1;
  while (left > 0 && cursor.ok()) {
    cursor.ZigZag();
    const auto widths = cursor.Bytes(header.miniblocks);
    for (size_t i = 0; i < widths.size() && left > 0; ++i) {
      if (widths[i] > 64) return Invalid("a delta miniblock of {} bits", widths[i]);
      cursor.Skip(MiniblockBytes(header, widths[i]));
      left -= std::min(left, header.values_per_miniblock);
    }
  }
  if (!cursor.ok()) return Invalid("the delta sequence is cut short at byte {}", cursor.offset());
  return cursor.offset();
}

template <typename T>
Status DeltaBinaryPackedDecoder<T>::Start() {
  ARROW_ASSIGN_OR_RAISE(header_, DeltaHeader::Parse(&cursor_));
  remaining_ = header_.total;
  last_ = static_cast<Unsigned>(header_.first);
  started_ = true;
  return Status::OK();
}

template <typename T>
Status DeltaBinaryPackedDecoder<T>::NextMiniblock() {
  if (widths_.empty()) {
    min_delta_ = static_cast<Unsigned>(cursor_.ZigZag());
    widths_ = cursor_.Bytes(header_.miniblocks);
    if (!cursor_.ok()) return Invalid("a delta block is cut short at byte {}", cursor_.offset());
  }
  width_ = widths_[0];
  widths_ = widths_.subspan(1);
  if (width_ > 64) return Invalid("a delta miniblock of {} bits", width_);
  miniblock_.count = static_cast<int64_t>(std::min(remaining_, header_.values_per_miniblock));
  const size_t needed = simd::PackedBytes(static_cast<size_t>(miniblock_.count), width_);
  if (cursor_.remaining() < needed) return Invalid("a delta miniblock is cut short at byte {}", cursor_.offset());
  miniblock_.first = 0;
  const auto packed = cursor_.Bytes(std::min(MiniblockBytes(header_, width_), cursor_.remaining()));
  miniblock_.packed = packed.data();
  miniblock_.readable_end = packed.data() + packed.size() + cursor_.remaining();
  return Status::OK();
}

/// Deltas wider than the values, of which only the low bits count.
template <typename T>
void DeltaBinaryPackedDecoder<T>::UnpackWide(Run part, Unsigned* out) {
  uint64_t wide[64];
  for (int64_t left = part.count; left > 0; left -= part.count) {
    part.count = std::min<int64_t>(left, std::size(wide));
    UnpackRun(part, width_, wide);
    out = std::transform(wide, wide + part.count, out, [](uint64_t delta) { return static_cast<Unsigned>(delta); });
    part.first += part.count;
  }
}

template <typename T>
void DeltaBinaryPackedDecoder<T>::AddDeltas(int64_t count, T* out) {
  auto* values = reinterpret_cast<Unsigned*>(out);
  const Unsigned last = last_;
  const Unsigned min_delta = min_delta_;
  if (width_ == 0) {
    for (int64_t i = 0; i < count; ++i) values[i] = last + static_cast<Unsigned>(i + 1) * min_delta;
    last_ = values[count - 1];
  } else {
    Run part = miniblock_;
    part.count = count;
    if (width_ > static_cast<int>(sizeof(T) * 8)) {
      UnpackWide(part, values);
    } else {
      UnpackRun(part, width_, values);
    }
    last_ = simd::AddDeltas(values, static_cast<size_t>(count), min_delta, last);
  }
  miniblock_.first += count;
  miniblock_.count -= count;
}

template <typename T>
Status DeltaBinaryPackedDecoder<T>::DecodeValues(int64_t count, T* out) {
  if (count == 0) return Status::OK();
  if (!started_) ARROW_RETURN_NOT_OK(Start());
  if (static_cast<uint64_t>(count) > remaining_) return Invalid("{} delta values, {} are left", count, remaining_);
  if (!first_given_) {
    *out++ = static_cast<T>(last_);
    first_given_ = true;
    --count;
    --remaining_;
  }
  while (count > 0) {
    if (miniblock_.count == 0) ARROW_RETURN_NOT_OK(NextMiniblock());
    const int64_t n = std::min(count, miniblock_.count);
    AddDeltas(n, out);
    out += n;
    count -= n;
    remaining_ -= static_cast<uint64_t>(n);
  }
  return Status::OK();
}

template <typename T>
Status DeltaBinaryPackedDecoder<T>::Decode(int64_t count, uint8_t* out) {
  // Buffers of a pool are aligned for any value, and a page's values go to multiples of their width.
  return DecodeValues(count, reinterpret_cast<T*>(out));
}

template <typename T>
Status DeltaBinaryPackedDecoder<T>::Skip(int64_t count) {
  T passed[256];
  for (int64_t n = 0; count > 0; count -= n) {
    n = std::min<int64_t>(count, std::size(passed));
    ARROW_RETURN_NOT_OK(DecodeValues(n, passed));
  }
  return Status::OK();
}

template class DeltaBinaryPackedDecoder<int32_t>;
template class DeltaBinaryPackedDecoder<int64_t>;

}  // namespace calve::parquet
