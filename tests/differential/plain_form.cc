#include "plain_form.h"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/extension_type.h>
#include <arrow/table.h>
#include <arrow/type.h>

namespace calve::differential {
namespace {

using arrow::ArrayData;
using arrow::Result;
using arrow::Type;
using TypePtr = std::shared_ptr<arrow::DataType>;
using DataPtr = std::shared_ptr<ArrayData>;

/// Null when the type is plain already.
TypePtr PlainLeaf(const arrow::DataType& type) {
  switch (type.id()) {
    case Type::LARGE_STRING:
    case Type::STRING_VIEW:
      return arrow::utf8();
    case Type::LARGE_BINARY:
    case Type::BINARY_VIEW:
      return arrow::binary();
    case Type::DECIMAL32:
    case Type::DECIMAL64: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      return arrow::decimal128(decimal.precision(), decimal.scale());
    }
    case Type::DECIMAL256: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      return decimal.precision() > 38 ? nullptr : arrow::decimal128(decimal.precision(), decimal.scale());
    }
    case Type::DATE64:
      return arrow::date32();
    case Type::TIME32:
      return static_cast<const arrow::TimeType&>(type).unit() == arrow::TimeUnit::SECOND
                 ? arrow::time32(arrow::TimeUnit::MILLI)
                 : nullptr;
    case Type::TIMESTAMP: {
      const auto& timestamp = static_cast<const arrow::TimestampType&>(type);
      if (timestamp.unit() != arrow::TimeUnit::SECOND) return nullptr;
      return arrow::timestamp(arrow::TimeUnit::MILLI, timestamp.timezone());
    }
    default:
      return nullptr;
  }
}

class Plain {
 public:
  explicit Plain(const PlainOptions& options) : options_(options) {}

  std::shared_ptr<arrow::Field> Renamed(const arrow::Field& field, const std::string& name, TypePtr type) const {
    return arrow::field(name, std::move(type), !options_.nullability || field.nullable());
  }

  Result<DataPtr> Convert(DataPtr data) const {
    if (data->type->id() == Type::EXTENSION) {
      data = data->Copy();
      data->type = static_cast<const arrow::ExtensionType&>(*data->type).storage_type();
      return Convert(std::move(data));
    }
    if (const TypePtr leaf = PlainLeaf(*data->type)) {
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast, arrow::compute::Cast(data, leaf));
      return Convert(cast.array());
    }
    switch (data->type->id()) {
      case Type::DICTIONARY:
        return Decoded(*data);
      case Type::RUN_END_ENCODED: {
        ARROW_ASSIGN_OR_RAISE(const arrow::Datum decoded, arrow::compute::RunEndDecode(data));
        return Convert(decoded.array());
      }
      case Type::FIXED_SIZE_LIST:
        return List(*WithOffsets(*data));
      case Type::LIST_VIEW: {
        ARROW_ASSIGN_OR_RAISE(data, InOrder(*data));
        return List(*data);
      }
      case Type::LARGE_LIST:
        return Convert(WithShortOffsets(*data));
      case Type::LIST:
        return List(*data);
      case Type::MAP:
        return Map(*data);
      case Type::STRUCT:
        return Struct(*data);
      default:
        return data;
    }
  }

 private:
  static DataPtr WithChild(const ArrayData& data, TypePtr type, DataPtr child) {
    DataPtr result = data.Copy();
    result->type = std::move(type);
    result->child_data = {std::move(child)};
    return result;
  }

  Result<DataPtr> Decoded(const ArrayData& data) const {
    ARROW_ASSIGN_OR_RAISE(const DataPtr values, Convert(data.dictionary));
    DataPtr indices = data.Copy();
    indices->type = static_cast<const arrow::DictionaryType&>(*data.type).index_type();
    indices->dictionary = nullptr;
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum taken, arrow::compute::Take(values, indices));
    return taken.array();
  }

  static DataPtr WithShortOffsets(const ArrayData& data) {
    DataPtr result = data.Copy();
    result->type = arrow::list(data.type->field(0));
    const int64_t count = data.offset + data.length + 1;
    auto offsets = arrow::AllocateBuffer(count * 4).ValueOrDie();
    const auto* wide = data.GetValues<int64_t>(1, 0);
    std::copy(wide, wide + count, offsets->mutable_data_as<int32_t>());
    result->buffers[1] = std::move(offsets);
    return result;
  }

  /// A fixed-size list as one of any size.
  static DataPtr WithOffsets(const ArrayData& data) {
    const int32_t size = static_cast<const arrow::FixedSizeListType&>(*data.type).list_size();
    DataPtr result = data.Copy();
    result->type = arrow::list(data.type->field(0));
    const int64_t count = data.offset + data.length + 1;
    auto offsets = arrow::AllocateBuffer(count * 4).ValueOrDie();
    for (int64_t i = 0; i < count; ++i) offsets->mutable_data_as<int32_t>()[i] = static_cast<int32_t>(i) * size;
    result->buffers.push_back(std::move(offsets));
    return result;
  }

  /// List views, of which the elements may lie in any order, as lists.
  static Result<DataPtr> InOrder(const ArrayData& data) {
    const auto elements = arrow::MakeArray(data.child_data[0]);
    const int64_t count = data.offset + data.length;
    auto buffer = arrow::AllocateBuffer((count + 1) * 4).ValueOrDie();
    auto* offsets = buffer->mutable_data_as<int32_t>();
    std::fill(offsets, offsets + count + 1, 0);
    arrow::ArrayVector parts = {elements->Slice(0, 0)};
    for (int64_t i = data.offset; i < count; ++i) {
      const int32_t size = data.IsNull(i - data.offset) ? 0 : data.GetValues<int32_t>(2, 0)[i];
      if (size > 0) parts.push_back(elements->Slice(data.GetValues<int32_t>(1, 0)[i], size));
      offsets[i + 1] = offsets[i] + size;
    }
    DataPtr result = data.Copy();
    result->type = arrow::list(data.type->field(0));
    result->buffers.resize(2);
    result->buffers[1] = std::move(buffer);
    ARROW_ASSIGN_OR_RAISE(const auto together, arrow::Concatenate(parts));
    result->child_data = {together->data()};
    return result;
  }

  Result<DataPtr> List(const ArrayData& data) const {
    ARROW_ASSIGN_OR_RAISE(DataPtr child, Convert(data.child_data[0]));
    TypePtr type = arrow::list(Renamed(*data.type->field(0), "element", child->type));
    return WithChild(data, std::move(type), std::move(child));
  }

  Result<DataPtr> Map(const ArrayData& data) const {
    const auto& map = static_cast<const arrow::MapType&>(*data.type);
    ARROW_ASSIGN_OR_RAISE(DataPtr entries, Struct(*data.child_data[0]));
    TypePtr type = std::make_shared<arrow::MapType>(arrow::field("key", entries->child_data[0]->type, false),
                                                    Renamed(*map.item_field(), "value", entries->child_data[1]->type));
    entries->type = static_cast<const arrow::MapType&>(*type).value_type();
    if (options_.maps_are_lists) {
      entries = entries->Copy();
      arrow::FieldVector fields;
      for (const auto& child : entries->type->fields()) fields.push_back(Renamed(*child, child->name(), child->type()));
      entries->type = arrow::struct_(fields);
      type = arrow::list(arrow::field("element", entries->type));
    }
    return WithChild(data, std::move(type), std::move(entries));
  }

  Result<DataPtr> Struct(const ArrayData& data) const {
    DataPtr result = data.Copy();
    arrow::FieldVector fields;
    for (int i = 0; i < data.type->num_fields(); ++i) {
      ARROW_ASSIGN_OR_RAISE(result->child_data[static_cast<size_t>(i)],
                            Convert(data.child_data[static_cast<size_t>(i)]));
      const arrow::Field& field = *data.type->field(i);
      fields.push_back(Renamed(field, field.name(), result->child_data[static_cast<size_t>(i)]->type));
    }
    result->type = arrow::struct_(fields);
    return result;
  }

  PlainOptions options_;
};

}  // namespace

Result<std::shared_ptr<arrow::Table>> PlainForm(const arrow::Table& table, const PlainOptions& options) {
  const Plain plain(options);
  arrow::FieldVector fields;
  arrow::ChunkedArrayVector columns;
  for (int i = 0; i < table.num_columns(); ++i) {
    arrow::ArrayVector chunks;
    for (const auto& chunk : table.column(i)->chunks()) {
      ARROW_ASSIGN_OR_RAISE(DataPtr data, plain.Convert(chunk->data()));
      chunks.push_back(arrow::MakeArray(data));
    }
    if (chunks.empty()) {
      ARROW_ASSIGN_OR_RAISE(auto none, arrow::MakeArrayOfNull(table.field(i)->type(), 0));
      ARROW_ASSIGN_OR_RAISE(DataPtr data, plain.Convert(none->data()));
      chunks.push_back(arrow::MakeArray(data));
    }
    const arrow::Field& field = *table.field(i);
    fields.push_back(plain.Renamed(field, field.name(), chunks[0]->type()));
    columns.push_back(std::make_shared<arrow::ChunkedArray>(chunks, chunks[0]->type()));
  }
  return arrow::Table::Make(arrow::schema(fields), columns, table.num_rows());
}

}  // namespace calve::differential
