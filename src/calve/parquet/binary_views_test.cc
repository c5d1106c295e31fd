#include "calve/parquet/binary_views.h"

#include <arrow/array.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include <string>

namespace calve::parquet {
namespace {

TEST(BinaryViews, HoldValuesOfEverySize) {
  std::string text;
  std::vector<int32_t> offsets = {0};
  for (int size = 0; size < 40; ++size) {
    for (int i = 0; i < size; ++i) text += static_cast<char>('a' + (size + i) % 26);
    offsets.push_back(static_cast<int32_t>(text.size()));
  }
  // A buffer of the exact size, so that the sanitizer sees a byte too many.
  const std::shared_ptr<arrow::Buffer> data = arrow::Buffer::FromString(text);
  ViewValues views(arrow::default_memory_pool());
  ASSERT_EQ(views.IndexOf(arrow::Buffer::FromString("first")), 0u);
  ASSERT_TRUE(views.Append(offsets, data).ok());
  const auto first = views.views().Finish().ValueOrDie();
  const arrow::StringViewArray array(arrow::ArrayData::Make(
      arrow::utf8_view(), 40, arrow::BufferVector{nullptr, first, views.buffers()[0], views.buffers()[1]}));
  ASSERT_TRUE(array.ValidateFull().ok()) << array.ValidateFull();
  for (int64_t i = 0; i < 40; ++i) {
    const auto begin = static_cast<size_t>(offsets[static_cast<size_t>(i)]);
    EXPECT_EQ(array.GetView(i), text.substr(begin, static_cast<size_t>(i)));
  }
}

TEST(BinaryViews, ABufferIsAddedOnce) {
  ViewValues views(arrow::default_memory_pool());
  const auto a = arrow::Buffer::FromString("a"), b = arrow::Buffer::FromString("b");
  EXPECT_EQ(views.IndexOf(a), 0u);
  EXPECT_EQ(views.IndexOf(b), 1u);
  EXPECT_EQ(views.IndexOf(a), 0u);
  EXPECT_EQ(views.buffers_bytes(), 2);
  EXPECT_EQ(views.TakeBuffers().size(), 2u);
  EXPECT_EQ(views.IndexOf(b), 0u);
}

}  // namespace
}  // namespace calve::parquet
