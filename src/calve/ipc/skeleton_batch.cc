// What a consumer sees of a skeleton: an arrow::RecordBatch.
#include "calve/ipc/skeleton_batch.h"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/type.h>

namespace calve::ipc {

std::shared_ptr<arrow::ArrayData> Skeleton::column_data(int i) const {
  const PlanNode& node = plan_.nodes[static_cast<size_t>(plan_.columns[static_cast<size_t>(i)])];
  return {first_level_, &first_level_[node.index_in_level]};
}

const arrow::ArrayDataVector& Skeleton::column_data() const {
  const std::lock_guard lock(mutex_);
  if (columns_.empty()) {
    columns_.reserve(plan_.columns.size());
    for (int i = 0; i < num_columns(); ++i) columns_.push_back(column_data(i));
  }
  return columns_;
}

std::shared_ptr<arrow::Array> Skeleton::column(int i) const {
  const std::lock_guard lock(mutex_);
  if (boxed_.empty()) boxed_.resize(plan_.columns.size());
  auto& array = boxed_[static_cast<size_t>(i)];
  if (array == nullptr) array = arrow::MakeArray(column_data(i));
  return array;
}

const std::vector<std::shared_ptr<arrow::Array>>& Skeleton::columns() const {
  for (int i = 0; i < num_columns(); ++i) column(i);
  return boxed_;
}

/// The same arrays, in a batch of Arrow's own kind.
std::shared_ptr<arrow::RecordBatch> Skeleton::Plain() const {
  return arrow::RecordBatch::Make(schema_, num_rows_, column_data());
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Skeleton::AddColumn(
    int i, const std::shared_ptr<arrow::Field>& field, const std::shared_ptr<arrow::Array>& column) const {
  return Plain()->AddColumn(i, field, column);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Skeleton::SetColumn(
    int i, const std::shared_ptr<arrow::Field>& field, const std::shared_ptr<arrow::Array>& column) const {
  return Plain()->SetColumn(i, field, column);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Skeleton::RemoveColumn(int i) const {
  return Plain()->RemoveColumn(i);
}

std::shared_ptr<arrow::RecordBatch> Skeleton::ReplaceSchemaMetadata(
    const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) const {
  return Plain()->ReplaceSchemaMetadata(metadata);
}

std::shared_ptr<arrow::RecordBatch> Skeleton::Slice(int64_t offset, int64_t length) const {
  return Plain()->Slice(offset, length);
}

const std::shared_ptr<arrow::Device::SyncEvent>& Skeleton::GetSyncEvent() const {
  static const std::shared_ptr<arrow::Device::SyncEvent> none;
  return none;
}

}  // namespace calve::ipc
