#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/buffer.h>

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

/// The view of `bytes`, which lie at `offset` of buffer `buffer_index`. Sixteen bytes from the first on may be read
/// when `readable` says that there are as many.
inline BinaryView MakeView(const uint8_t* bytes, uint32_t size, size_t readable, uint32_t buffer_index,
                           uint32_t offset) {
  BinaryView view;
  view.size = size;
  if (size > BinaryView::kInlineBytes) {
    std::memcpy(view.start, bytes, sizeof(view.start));
    view.rest[0] = buffer_index;
    view.rest[1] = offset;
    return view;
  }
  if (readable >= 16) {
    uint64_t low = 0, high = 0;
    std::memcpy(&low, bytes, 8);
    std::memcpy(&high, bytes + 8, 8);
    low = size >= 8 ? low : low & ((uint64_t{1} << (8 * size)) - 1);
    high = size <= 8 ? 0 : high & ((uint64_t{1} << (8 * (size - 8))) - 1);
    const auto tail = static_cast<uint32_t>(high);
    std::memcpy(view.start, &low, 8);
    std::memcpy(&view.rest[1], &tail, 4);
  } else if (size > 0) {
    std::memcpy(view.start, bytes, size);
  }
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
    return std::exchange(buffers_, {});
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
