#include "calve/array/array_data.h"

#include <arrow/array/array_primitive.h>
#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace calve {
namespace {

TEST(NewArrayData, IsAsMadeByArrowWhateverWasThereBefore) {
  const auto buffer = arrow::Buffer::FromString(std::string(64, '\1'));
  for (int round = 0; round < 3; ++round) {
    auto list = NewArrayData(arrow::list(arrow::int8()), 1, {nullptr, buffer}, 0);
    list->child_data.push_back(NewArrayData(arrow::int8(), 64, {nullptr, buffer}, 0));
    list->offset = 7;
    list->dictionary = NewArrayData(arrow::utf8(), 0, {nullptr, nullptr, nullptr}, 0);
    list.reset();
    const auto fresh = NewArrayData();
    EXPECT_EQ(fresh->type, nullptr);
    EXPECT_EQ(fresh->length, 0);
    EXPECT_EQ(fresh->offset, 0);
    EXPECT_EQ(fresh->null_count, 0);
    EXPECT_TRUE(fresh->buffers.empty());
    EXPECT_TRUE(fresh->child_data.empty());
    EXPECT_EQ(fresh->dictionary, nullptr);
    EXPECT_EQ(fresh->statistics, nullptr);
  }
  EXPECT_EQ(buffer.use_count(), 1) << "a dropped array holds its buffers";
}

TEST(NewArrayData, ObjectsGoBetweenThreads) {
  std::vector<std::shared_ptr<arrow::ArrayData>> arrays(1000);
  std::thread maker([&] {
    for (auto& array : arrays) array = NewArrayData(arrow::int32(), 5, {nullptr, nullptr}, 0);
  });
  std::thread other([] {
    for (int i = 0; i < 1000; ++i) NewArrayData(arrow::int64(), i, {nullptr}, 0);
  });
  maker.join();
  for (const auto& array : arrays) EXPECT_EQ(array->length, 5);
  arrays.clear();
  other.join();
}

TEST(SliceArrayData, EqualsArrowsOwn) {
  arrow::Int32Builder builder;
  ASSERT_TRUE(builder.AppendValues({1, 2, 3, 4, 5, 6}, {true, false, true, true, false, true}).ok());
  const auto array = builder.Finish().ValueOrDie()->Slice(1);
  for (int64_t offset = 0; offset <= 5; ++offset) {
    for (int64_t length = 0; offset + length <= 5; ++length) {
      const auto slice = arrow::MakeArray(SliceArrayData(*array->data(), offset, length));
      ASSERT_TRUE(slice->ValidateFull().ok()) << slice->ValidateFull();
      EXPECT_TRUE(slice->Equals(array->Slice(offset, length)));
      EXPECT_EQ(slice->null_count(), array->Slice(offset, length)->null_count());
    }
  }
}

TEST(OwnMemory, GoesBackToItsPool) {
  arrow::ProxyMemoryPool pool(arrow::default_memory_pool());
  uint8_t* memory = nullptr;
  ASSERT_TRUE(pool.Allocate(128, &memory).ok());
  auto buffer = OwnMemory(memory, 100, 128, &pool);
  EXPECT_EQ(buffer->size(), 100);
  EXPECT_EQ(buffer->capacity(), 128);
  EXPECT_TRUE(buffer->is_mutable());
  EXPECT_EQ(pool.bytes_allocated(), 128);
  buffer.reset();
  EXPECT_EQ(pool.bytes_allocated(), 0);
}

}  // namespace
}  // namespace calve
