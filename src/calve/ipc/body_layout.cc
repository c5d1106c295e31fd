#include "calve/ipc/body_layout.h"

#include <arrow/extension_type.h>

namespace calve::ipc {

namespace {

size_t BuffersOf(arrow::Type::type id) {
  switch (id) {
    case arrow::Type::NA:
    case arrow::Type::RUN_END_ENCODED:
      return 0;
    case arrow::Type::STRUCT:
    case arrow::Type::FIXED_SIZE_LIST:
    case arrow::Type::SPARSE_UNION:
      return 1;
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
    case arrow::Type::LIST_VIEW:
    case arrow::Type::LARGE_LIST_VIEW:
      return 3;
    default:
      return 2;
  }
}

std::shared_ptr<arrow::Field> WithoutMetadata(const arrow::Field& field);

std::shared_ptr<arrow::DataType> WithoutMetadata(const std::shared_ptr<arrow::DataType>& type) {
  switch (type->id()) {
    case arrow::Type::LIST:
      return arrow::list(WithoutMetadata(*type->field(0)));
    case arrow::Type::LARGE_LIST:
      return arrow::large_list(WithoutMetadata(*type->field(0)));
    case arrow::Type::FIXED_SIZE_LIST:
      return arrow::fixed_size_list(WithoutMetadata(*type->field(0)),
                                    static_cast<const arrow::FixedSizeListType&>(*type).list_size());
    case arrow::Type::MAP: {
      const auto& map = static_cast<const arrow::MapType&>(*type);
      return std::make_shared<arrow::MapType>(WithoutMetadata(*map.value_field()), map.keys_sorted());
    }
    case arrow::Type::STRUCT: {
      arrow::FieldVector fields;
      for (const auto& field : type->fields()) fields.push_back(WithoutMetadata(*field));
      return arrow::struct_(std::move(fields));
    }
    default:
      return type;
  }
}

std::shared_ptr<arrow::Field> WithoutMetadata(const arrow::Field& field) {
  return arrow::field(field.name(), WithoutMetadata(field.type()), field.nullable());
}

}  // namespace

void AddLayoutOf(const arrow::DataType& type, BodyLayout* layout) {
  if (type.id() == arrow::Type::EXTENSION) {
    return AddLayoutOf(*static_cast<const arrow::ExtensionType&>(type).storage_type(), layout);
  }
  ++layout->nodes;
  layout->buffers += BuffersOf(type.id());
  if (type.id() == arrow::Type::STRING_VIEW || type.id() == arrow::Type::BINARY_VIEW) ++layout->variadic_counts;
  for (const auto& field : type.fields()) AddLayoutOf(*field->type(), layout);
}

std::shared_ptr<arrow::Schema> WithoutMetadata(const arrow::Schema& schema) {
  arrow::FieldVector fields;
  for (const auto& field : schema.fields()) fields.push_back(WithoutMetadata(*field));
  return arrow::schema(std::move(fields));
}

}  // namespace calve::ipc
