#pragma once

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>

namespace calve {

/// An ArrayData of no fields yet. When the last pointer to it goes, its object and the room of its vectors are used
/// again by the next. Thread-safe.
std::shared_ptr<arrow::ArrayData> NewArrayData();

/// The same with these fields, its offset 0; children may be added to `child_data`.
inline std::shared_ptr<arrow::ArrayData> NewArrayData(std::shared_ptr<arrow::DataType> type, int64_t length,
                                                      std::initializer_list<std::shared_ptr<arrow::Buffer>> buffers,
                                                      int64_t null_count) {
  auto array = NewArrayData();
  array->type = std::move(type);
  array->length = length;
  array->null_count = null_count;
  array->buffers.assign(buffers);
  return array;
}

/// Slots [offset, offset + length) of `array`, as ArrayData::Slice gives them.
std::shared_ptr<arrow::ArrayData> SliceArrayData(const arrow::ArrayData& array, int64_t offset, int64_t length);

/// A buffer of `size` bytes from `pool`, their values undefined.
arrow::Result<std::shared_ptr<arrow::Buffer>> NewBuffer(int64_t size, arrow::MemoryPool* pool);

/// A buffer of the first `size` of `capacity` bytes allocated from `pool` with Arrow's default alignment, which it
/// frees there.
std::shared_ptr<arrow::Buffer> OwnMemory(uint8_t* memory, int64_t size, int64_t capacity, arrow::MemoryPool* pool);

}  // namespace calve
