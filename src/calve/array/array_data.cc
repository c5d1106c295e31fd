#include "calve/array/array_data.h"

#include "calve/array/recycled_allocator.h"

#include <mutex>
#include <vector>

namespace calve {
namespace {

using arrow::ArrayData;

class IdleArrayData {
 public:
  ArrayData* Take() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) return nullptr;
    ArrayData* array = idle_.back();
    idle_.pop_back();
    return array;
  }
  /// False when there are enough.
  bool Give(ArrayData* array) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.size() >= kMostIdle) return false;
    idle_.push_back(array);
    return true;
  }

 private:
  static constexpr size_t kMostIdle = 4096;
  std::mutex mutex_;
  std::vector<ArrayData*> idle_;
};

IdleArrayData& IdleObjects() {
  // Never destroyed: arrays may live till the very end.
  static auto* const idle = new IdleArrayData();
  return *idle;
}

void Recycle(ArrayData* array) {
  constexpr size_t kMostKept = 16;  // of room in a vector
  if (array->buffers.capacity() > kMostKept || array->child_data.capacity() > kMostKept) {
    delete array;
    return;
  }
  array->type.reset();
  array->buffers.clear();
  array->child_data.clear();
  array->dictionary.reset();
  array->statistics.reset();
  array->length = array->offset = 0;
  array->null_count = 0;
  if (!IdleObjects().Give(array)) delete array;
}

class OwnedBuffer final : public arrow::MutableBuffer {
 public:
  OwnedBuffer(uint8_t* memory, int64_t size, int64_t capacity, arrow::MemoryPool* pool)
      : MutableBuffer(memory, size), memory_(memory), pool_(pool) {
    capacity_ = capacity;
  }
  ~OwnedBuffer() override { pool_->Free(memory_, capacity_); }

 private:
  uint8_t* memory_;
  arrow::MemoryPool* pool_;
};

}  // namespace

std::shared_ptr<ArrayData> NewArrayData() {
  ArrayData* array = IdleObjects().Take();
  if (array == nullptr) array = new ArrayData();
  return {array, &Recycle, RecycledAllocator<ArrayData>()};
}

std::shared_ptr<ArrayData> SliceArrayData(const ArrayData& array, int64_t offset, int64_t length) {
  auto slice = NewArrayData();
  slice->type = array.type;
  slice->length = length;
  slice->offset = array.offset + offset;
  slice->null_count = array.null_count == array.length ? length : array.null_count == 0 ? 0 : arrow::kUnknownNullCount;
  slice->buffers = array.buffers;
  slice->child_data = array.child_data;
  slice->dictionary = array.dictionary;
  return slice;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> NewBuffer(int64_t size, arrow::MemoryPool* pool) {
  uint8_t* memory = nullptr;
  ARROW_RETURN_NOT_OK(pool->Allocate(size, &memory));
  return OwnMemory(memory, size, size, pool);
}

std::shared_ptr<arrow::Buffer> OwnMemory(uint8_t* memory, int64_t size, int64_t capacity, arrow::MemoryPool* pool) {
  return std::allocate_shared<OwnedBuffer>(RecycledAllocator<OwnedBuffer>(), memory, size, capacity, pool);
}

}  // namespace calve
