#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/buffer.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace calve::parquet {

/// A value of Arrow's view types ("Variable-size Binary View Layout"): up to twelve bytes stand in it; of longer ones
/// the first four, and where all of them lie.
struct BinaryView {
  static constexpr uint32_t kInlineBytes = 12;

  uint32_t size = 0;
  uint8_t start[4] = {};
  uint32_t rest[2] = {};  ///< the next eight bytes, or buffer index and offset

  bool is_inline() const { return size <= kInlineBytes; }
};
static_assert(sizeof(BinaryView) == 16);

/// What a view keeps of the twelve bytes behind its size: all that the value has of them, or the first four and a
/// reference. By the value's size, those over kInlineBytes as one more.
struct ViewMask {
  uint64_t low, high, reference;
};

constexpr std::array<ViewMask, BinaryView::kInlineBytes + 2> MakeViewMasks() {
  std::array<ViewMask, BinaryView::kInlineBytes + 2> masks{};
  for (uint32_t size = 0; size <= BinaryView::kInlineBytes; ++size) {
    masks[size].low = size >= 4 ? ~uint64_t{0} : (uint64_t{1} << (32 + 8 * size)) - 1;
    masks[size].high = size <= 4 ? 0 : size >= 12 ? ~uint64_t{0} : (uint64_t{1} << (8 * (size - 4))) - 1;
  }
  masks[BinaryView::kInlineBytes + 1] = {~uint64_t{0}, 0, ~uint64_t{0}};
  return masks;
}

inline constexpr auto kViewMasks = MakeViewMasks();

/// The view of `bytes`, which lie at `offset` of buffer `buffer_index`; `readable` bytes may be read from the first on.
inline BinaryView MakeView(const uint8_t* bytes, uint32_t size, size_t readable, uint32_t buffer_index,
                           uint32_t offset) {
  uint8_t short_bytes[BinaryView::kInlineBytes] = {};
  if (readable < BinaryView::kInlineBytes) {
    if (size > 0) std::memcpy(short_bytes, bytes, size);
    bytes = short_bytes;
  }
  uint32_t first;
  uint64_t rest;
  std::memcpy(&first, bytes, sizeof(first));
  std::memcpy(&rest, bytes + sizeof(first), sizeof(rest));
  const ViewMask& mask = kViewMasks[std::min(size, BinaryView::kInlineBytes + 1)];
  const uint64_t low = (uint64_t{first} << 32 | size) & mask.low;
  const uint64_t high = (rest & mask.high) | ((uint64_t{offset} << 32 | buffer_index) & mask.reference);
  BinaryView view;
  std::memcpy(static_cast<void*>(&view), &low, sizeof(low));
  std::memcpy(reinterpret_cast<uint8_t*>(&view) + sizeof(low), &high, sizeof(high));
  return view;
}

/// Byte arrays as views, and the buffers that they point into.
class ViewValues {
 public:
  explicit ViewValues(arrow::MemoryPool* pool) : views_(pool) {}

  PoolVector<BinaryView>& views() { return views_; }
  const PoolVector<BinaryView>& views() const { return views_; }
  const std::vector<std::shared_ptr<arrow::Buffer>>& buffers() const { return buffers_; }
  /// Of the buffers; those of pages, that several batches may share, count in full.
  int64_t buffers_bytes() const { return buffers_bytes_; }

  /// The index of `buffer`, which is added unless it is the last or the one before it.
  uint32_t IndexOf(const std::shared_ptr<arrow::Buffer>& buffer) {
    for (size_t i = buffers_.size(); i > 0 && i + 2 > buffers_.size(); --i) {
      if (buffers_[i - 1] == buffer) return static_cast<uint32_t>(i - 1);
    }
    buffers_.push_back(buffer);
    buffers_bytes_ += buffer->size();
    return static_cast<uint32_t>(buffers_.size() - 1);
  }

  /// Appends views of the values between `offsets[i]` and `offsets[i + 1]` of `data`.
  arrow::Status Append(std::span<const int32_t> offsets, const std::shared_ptr<arrow::Buffer>& data);

  std::vector<std::shared_ptr<arrow::Buffer>> TakeBuffers() {
    buffers_bytes_ = 0;
    std::vector<std::shared_ptr<arrow::Buffer>> taken = std::exchange(buffers_, {});
    buffers_.reserve(taken.size());
    return taken;
  }
  void ShareBuffers(const ViewValues& other) {
    buffers_ = other.buffers_;
    buffers_bytes_ = other.buffers_bytes_;
  }

 private:
  PoolVector<BinaryView> views_;
  std::vector<std::shared_ptr<arrow::Buffer>> buffers_;
  int64_t buffers_bytes_ = 0;
};

}  // namespace calve::parquet
