#include "calve/parquet/binary_views.h"

namespace calve::parquet {

arrow::Status ViewValues::Append(std::span<const int32_t> offsets, const std::shared_ptr<arrow::Buffer>& data) {
  const auto count = static_cast<int64_t>(offsets.size()) - 1;
  ARROW_RETURN_NOT_OK(views_.Reserve(count));
  const uint32_t buffer_index = IndexOf(data);
  const auto end = static_cast<size_t>(data->size());
  for (int64_t i = 0; i < count; ++i) {
    const auto offset = static_cast<uint32_t>(offsets[i]);
    const auto size = static_cast<uint32_t>(offsets[i + 1] - offsets[i]);
    views_.UnsafeAppend(MakeView(data->data() + offset, size, end - offset, buffer_index, offset));
  }
  return arrow::Status::OK();
}

}  // namespace calve::parquet
