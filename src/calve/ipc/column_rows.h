#pragma once

#include <arrow/array/data.h>

#include <cstdint>
#include <span>
#include <vector>

namespace calve::ipc {

/// Rows of one array that are to be written, in order. The array outlives it.
struct ColumnRows {
  const arrow::ArrayData* data = nullptr;
  const uint32_t* rows = nullptr;  ///< relative to `base`; null: consecutive ones
  int64_t count = 0;
  int64_t base = 0;  ///< the position in the buffers of row 0

  /// Calls `visit(position in the buffers)` for each row.
  template <typename Visit>
  void ForEach(Visit visit) const {
    if (rows == nullptr) {
      for (int64_t i = 0; i < count; ++i) visit(base + i);
    } else {
      for (int64_t i = 0; i < count; ++i) visit(base + rows[i]);
    }
  }

  template <typename T>
  const T* Buffer(size_t index) const {
    const auto& buffer = data->buffers[index];
    return buffer == nullptr ? nullptr : reinterpret_cast<const T*>(buffer->data());
  }
  /// The validity bits, null when all of the array's values are valid.
  const uint8_t* Validity() const {
    if (data->buffers[0] == nullptr || data->GetNullCount() == 0) return nullptr;
    return data->buffers[0]->data();
  }
};

/// The rows of one column of a block, from one or more arrays.
using Sources = std::span<const ColumnRows>;

/// Rows of children that are chosen one by one; owns the numbers that its ColumnRows point to.
class ChildRows {
 public:
  /// `count`: how many rows will be added, at most.
  ChildRows(size_t sources, int64_t count) : numbers_(static_cast<size_t>(count)) { sources_.reserve(sources); }

  /// Begins the rows of `child`.
  void Begin(const arrow::ArrayData& child) { sources_.push_back({&child, next(), 0, child.offset}); }
  void Add(int64_t row) {
    numbers_[used_++] = static_cast<uint32_t>(row);
    ++sources_.back().count;
  }
  Sources sources() const { return sources_; }
  int64_t count() const { return static_cast<int64_t>(used_); }

 private:
  const uint32_t* next() const { return numbers_.data() + used_; }

  std::vector<uint32_t> numbers_;
  size_t used_ = 0;
  std::vector<ColumnRows> sources_;
};

}  // namespace calve::ipc
