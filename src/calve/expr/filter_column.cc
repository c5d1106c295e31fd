#include "calve/expr/filter_column.h"

#include <arrow/array.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include <algorithm>

// A column with views is filtered as one of the same shape that has plain 16-byte values in their place.

namespace calve::expr {
namespace {

using arrow::ArrayData;
using arrow::Type;
using DataPtr = std::shared_ptr<ArrayData>;
using TypePtr = std::shared_ptr<arrow::DataType>;

const TypePtr& StorageOf(const TypePtr& type) {
  if (type->id() != Type::EXTENSION) return type;
  return static_cast<const arrow::ExtensionType&>(*type).storage_type();
}

bool HoldsViews(const TypePtr& type) {
  const TypePtr& storage = StorageOf(type);
  if (arrow::is_binary_view_like(storage->id())) return true;
  const auto& fields = storage->fields();
  return std::any_of(fields.begin(), fields.end(), [](const auto& field) { return HoldsViews(field->type()); });
}

TypePtr WithBytes(const TypePtr& type);

arrow::FieldVector FieldsWithBytes(const arrow::DataType& type) {
  arrow::FieldVector fields;
  for (const auto& field : type.fields()) fields.push_back(field->WithType(WithBytes(field->type())));
  return fields;
}

/// `type` with values of 16 bytes for views, and storage for extensions. The nested types that a column may have.
TypePtr WithBytes(const TypePtr& type) {
  const TypePtr& storage = StorageOf(type);
  if (!HoldsViews(type)) return storage;
  if (arrow::is_binary_view_like(storage->id())) return arrow::fixed_size_binary(16);
  const arrow::FieldVector fields = FieldsWithBytes(*storage);
  switch (storage->id()) {
    case Type::LIST:
      return arrow::list(fields[0]);
    case Type::LARGE_LIST:
      return arrow::large_list(fields[0]);
    case Type::FIXED_SIZE_LIST:
      return arrow::fixed_size_list(fields[0], static_cast<const arrow::FixedSizeListType&>(*storage).list_size());
    case Type::MAP:
      return std::make_shared<arrow::MapType>(fields[0]);
    case Type::STRUCT:
      return arrow::struct_(fields);
    default:
      return storage;
  }
}

DataPtr ViewsAsBytes(const ArrayData& data, const TypePtr& type) {
  DataPtr result = data.Copy();
  result->type = type;
  if (arrow::is_binary_view_like(StorageOf(data.type)->id())) result->buffers.resize(2);
  const auto& fields = type->fields();
  for (size_t i = 0; i < data.child_data.size() && i < fields.size(); ++i) {
    result->child_data[i] = ViewsAsBytes(*data.child_data[i], fields[i]->type());
  }
  return result;
}

/// The inverse, into the buffers of `original`.
DataPtr BytesAsViews(const ArrayData& bytes, const ArrayData& original) {
  DataPtr result = bytes.Copy();
  result->type = original.type;
  if (arrow::is_binary_view_like(StorageOf(original.type)->id())) {
    result->buffers.insert(result->buffers.end(), original.buffers.begin() + 2, original.buffers.end());
  }
  for (size_t i = 0; i < result->child_data.size(); ++i) {
    result->child_data[i] = BytesAsViews(*bytes.child_data[i], *original.child_data[i]);
  }
  return result;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Array>> FilterColumn(const std::shared_ptr<arrow::Array>& column,
                                                          const std::shared_ptr<arrow::BooleanArray>& mask,
                                                          arrow::compute::ExecContext* context) {
  const bool holds_views = HoldsViews(column->type());
  const auto values = holds_views ? ViewsAsBytes(*column->data(), WithBytes(column->type())) : column->data();
  const auto options = arrow::compute::FilterOptions::Defaults();
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum filtered, arrow::compute::Filter(values, mask, options, context));
  return arrow::MakeArray(holds_views ? BytesAsViews(*filtered.array(), *column->data()) : filtered.array());
}

}  // namespace calve::expr
