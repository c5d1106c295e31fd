#include "calve/shuffle/row_scatter.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace calve::shuffle {

namespace {

using ipc::ColumnRows;
using ipc::Sources;

template <size_t kWidth>
void ScatterFixed(Sources sources, const uint32_t* positions, uint8_t* out) {
  for (const ColumnRows& source : sources) {
    if (source.count == 0) continue;
    const uint8_t* values = source.Buffer<uint8_t>(1) + source.base * static_cast<int64_t>(kWidth);
    for (int64_t i = 0; i < source.count; ++i) {
      std::memcpy(out + *positions++ * kWidth, values, kWidth);
      values += kWidth;
    }
  }
}

void ScatterWide(Sources sources, size_t width, const uint32_t* positions, uint8_t* out) {
  for (const ColumnRows& source : sources) {
    if (source.count == 0) continue;
    const uint8_t* values = source.Buffer<uint8_t>(1) + source.base * static_cast<int64_t>(width);
    for (int64_t i = 0; i < source.count; ++i) {
      std::memcpy(out + *positions++ * width, values, width);
      values += width;
    }
  }
}

/// Copies a text of `size` bytes by kChunk bytes whatever its size, where those may be read.
template <int64_t kChunk>
inline void CopyText(const uint8_t* from, int64_t size, int64_t readable, uint8_t* out) {
  if (size <= kChunk && kChunk <= readable) {
    std::memcpy(out, from, kChunk);
  } else {
    std::memcpy(out, from, static_cast<size_t>(size));
  }
}

template <typename Offset, int64_t kChunk>
void GatherByChunk(Sources sources, std::span<const uint32_t> rows, uint8_t* out) {
  size_t source = 0;
  int64_t begin = 0, end = 0;  // the rows of the current source
  const Offset* offsets = nullptr;
  const uint8_t* bytes = nullptr;
  int64_t bytes_size = 0;
  const auto enter = [&](size_t next) {
    source = next;
    const ColumnRows& entered = sources[source];
    end = begin + entered.count;
    offsets = entered.count == 0 ? nullptr : entered.Buffer<Offset>(1) + entered.base;
    bytes = entered.Buffer<uint8_t>(2);
    bytes_size = bytes == nullptr ? 0 : entered.data->buffers[2]->size();
  };
  enter(0);
  for (const int64_t row : rows) {
    if (row < begin) {
      begin = 0;
      enter(0);
    }
    while (row >= end) {
      begin = end;
      enter(source + 1);
    }
    const Offset* text = offsets + (row - begin);
    const int64_t from = text[0], size = text[1] - from;
    if (size == 0) continue;
    CopyText<kChunk>(bytes + from, size, bytes_size - from, out);
    out += size;
  }
}

}  // namespace

void ScatterValues(Sources sources, size_t width, std::span<const uint32_t> positions, uint8_t* out) {
  const uint32_t* at = positions.data();
  switch (width) {
    case 1:
      return ScatterFixed<1>(sources, at, out);
    case 2:
      return ScatterFixed<2>(sources, at, out);
    case 4:
      return ScatterFixed<4>(sources, at, out);
    case 8:
      return ScatterFixed<8>(sources, at, out);
    case 16:
      return ScatterFixed<16>(sources, at, out);
    case 32:
      return ScatterFixed<32>(sources, at, out);
    default:
      return ScatterWide(sources, width, at, out);
  }
}

template <typename Offset>
TextExtent ScatterLengths(Sources sources, std::span<const uint32_t> positions, Offset* out) {
  TextExtent extent;
  const uint32_t* at = positions.data();
  Offset longest = 0;
  for (const ColumnRows& source : sources) {
    if (source.count == 0) continue;
    const Offset* offsets = source.Buffer<Offset>(1) + source.base;
    extent.bytes += offsets[source.count] - offsets[0];
    for (int64_t i = 0; i < source.count; ++i) {
      const Offset length = offsets[i + 1] - offsets[i];
      longest = std::max(longest, length);
      out[*at++ + 1] = length;
    }
  }
  extent.longest = longest;
  std::make_unsigned_t<Offset> end = 0;
  out[0] = 0;
  for (size_t i = 1; i <= positions.size(); ++i) {
    end += static_cast<std::make_unsigned_t<Offset>>(out[i]);
    out[i] = static_cast<Offset>(end);
  }
  return extent;
}

template TextExtent ScatterLengths(Sources, std::span<const uint32_t>, int32_t*);
template TextExtent ScatterLengths(Sources, std::span<const uint32_t>, int64_t*);

// Chunks that nearly all texts fit: a copy of one size is no branch that is mispredicted.
template <typename Offset>
void GatherText(Sources sources, std::span<const uint32_t> rows, const TextExtent& extent, uint8_t* out) {
  if (extent.bytes == 0) return;
  const int64_t fits = std::min(extent.longest, 2 * extent.bytes / static_cast<int64_t>(rows.size()));
  if (fits <= 16) return GatherByChunk<Offset, 16>(sources, rows, out);
  if (fits <= 32) return GatherByChunk<Offset, 32>(sources, rows, out);
  GatherByChunk<Offset, 64>(sources, rows, out);
}

template void GatherText<int32_t>(Sources, std::span<const uint32_t>, const TextExtent&, uint8_t*);
template void GatherText<int64_t>(Sources, std::span<const uint32_t>, const TextExtent&, uint8_t*);

int64_t TakeBits(const uint8_t* bits, std::span<const uint32_t> rows, uint8_t* out) {
  int64_t set = 0;
  while (!rows.empty()) {
    const auto some = rows.first(std::min<size_t>(64, rows.size()));
    uint64_t word = 0;
    for (size_t i = 0; i < some.size(); ++i) word |= uint64_t{bits[some[i] / 8] >> (some[i] % 8) & 1u} << i;
    std::memcpy(out, &word, (some.size() + 7) / 8);
    out += 8;
    set += std::popcount(word);
    rows = rows.subspan(some.size());
  }
  return set;
}

}  // namespace calve::shuffle
