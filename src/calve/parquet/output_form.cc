#include "calve/parquet/output_form.h"

#include "calve/parquet/value_conversion.h"
#include "calve/parquet/variant_shredding.h"

#include "calve/array/array_data.h"
#include "calve/base/status.h"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/initialize.h>
#include <arrow/datum.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/checked_cast.h>

#include <limits>

namespace calve::parquet {
namespace {

using arrow::ArrayData;
using arrow::Type;
using arrow::internal::checked_cast;
using DataPtr = std::shared_ptr<ArrayData>;
using DataResult = Result<DataPtr>;
using BitmapPtr = std::shared_ptr<arrow::Buffer>;
using TypePtr = std::shared_ptr<arrow::DataType>;

const TypePtr& StorageOf(const TypePtr& type) {
  return type->id() == Type::EXTENSION ? checked_cast<const arrow::ExtensionType&>(*type).storage_type() : type;
}

DataPtr Retyped(DataPtr data, const TypePtr& type) {
  if (data.use_count() != 1) data = SliceArrayData(*data, 0, data->length);
  data->type = type;
  return data;
}

Status InitializeCompute() {
  static const Status status = arrow::compute::Initialize();
  return status;
}

/// Dictionary and indices are found by hashing; the indices then take the width that is asked for.
DataResult Encode(const DataPtr& values, const TypePtr& to, arrow::compute::ExecContext* context) {
  const auto& type = checked_cast<const arrow::DictionaryType&>(*to);
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum encoded,
                        arrow::compute::DictionaryEncode(arrow::Datum(values),
                                                         arrow::compute::DictionaryEncodeOptions::Defaults(), context));
  const auto array = encoded.make_array();
  const auto& dictionary = checked_cast<const arrow::DictionaryArray&>(*array);
  auto indices =
      arrow::compute::Cast(*dictionary.indices(), type.index_type(), arrow::compute::CastOptions::Safe(), context);
  if (!indices.ok()) {
    return Invalid("{} distinct values do not fit {}", dictionary.dictionary()->length(), to->ToString());
  }
  DataPtr result = Retyped((*indices)->data(), to);
  result->dictionary = dictionary.dictionary()->data();
  return result;
}

DataResult CastLeaf(DataPtr values, const TypePtr& to, arrow::MemoryPool* pool) {
  const TypePtr& storage = StorageOf(to);
  if (StorageOf(values->type)->Equals(*storage)) return Retyped(std::move(values), to);
  const TypePtr own = StorageOf(values->type);
  values = Retyped(std::move(values), own);
  ARROW_RETURN_NOT_OK(InitializeCompute());
  arrow::compute::ExecContext context(pool);
  if (storage->id() == Type::DICTIONARY) {
    ARROW_ASSIGN_OR_RAISE(values, Encode(values, storage, &context));
  } else if (storage->id() == Type::RUN_END_ENCODED) {
    const auto& type = checked_cast<const arrow::RunEndEncodedType&>(*storage);
    ARROW_ASSIGN_OR_RAISE(values, CastLeaf(values, type.value_type(), pool));
    ARROW_ASSIGN_OR_RAISE(
        const arrow::Datum encoded,
        arrow::compute::RunEndEncode(arrow::Datum(values), arrow::compute::RunEndEncodeOptions(type.run_end_type()),
                                     &context));
    values = encoded.array();
  } else {
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast, arrow::compute::Cast(arrow::Datum(values), storage,
                                                                        arrow::compute::CastOptions::Safe(), &context));
    values = cast.array();
  }
  return Retyped(std::move(values), to);
}

template <typename T>
Result<std::shared_ptr<arrow::Buffer>> Sizes(const ArrayData& list, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> sizes, arrow::AllocateBuffer(list.length * sizeof(T), pool));
  const auto* offsets = list.GetValues<int32_t>(1);
  for (int64_t i = 0; i < list.length; ++i) sizes->mutable_data_as<T>()[i] = offsets[i + 1] - offsets[i];
  return sizes;
}

/// PaddedElements for types that nothing can be taken of by index, such as views inside of structs.
DataResult ElementsRunByRun(const ArrayData& list, int64_t size, arrow::MemoryPool* pool) {
  const auto elements = arrow::MakeArray(list.child_data[0]);
  const auto* offsets = list.GetValues<int32_t>(1);
  arrow::ArrayVector runs;
  for (int64_t i = 0; i < list.length;) {
    int64_t end = i + 1;
    const bool is_null = list.IsNull(i);
    while (end < list.length && list.IsNull(end) == is_null) ++end;
    if (is_null) {
      ARROW_ASSIGN_OR_RAISE(runs.emplace_back(), arrow::MakeArrayOfNull(elements->type(), (end - i) * size, pool));
    } else {
      runs.push_back(elements->Slice(offsets[i], offsets[end] - offsets[i]));
    }
    i = end;
  }
  ARROW_ASSIGN_OR_RAISE(const auto padded, arrow::Concatenate(runs, pool));
  return padded->data();
}

/// Null lists have no elements in Parquet, and as many as the others in Arrow.
DataResult PaddedElements(const ArrayData& list, int64_t size, arrow::MemoryPool* pool) {
  if (list.length > std::numeric_limits<int64_t>::max() / std::max<int64_t>(size, 1)) {
    return Invalid("{} lists of {} elements", list.length, size);
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> indices, arrow::AllocateBuffer(list.length * size * 4, pool));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> valid, arrow::AllocateBitmap(list.length * size, pool));
  const auto* offsets = list.GetValues<int32_t>(1);
  int64_t out = 0, nulls = 0;
  for (int64_t i = 0; i < list.length; ++i) {
    const bool is_null = list.IsNull(i);
    nulls += is_null ? size : 0;
    for (int64_t e = 0; e < size; ++e, ++out) {
      indices->mutable_data_as<int32_t>()[out] = is_null ? 0 : offsets[i] + static_cast<int32_t>(e);
      arrow::bit_util::SetBitTo(valid->mutable_data(), out, !is_null);
    }
  }
  ARROW_RETURN_NOT_OK(InitializeCompute());
  arrow::compute::ExecContext context(pool);
  const auto taken = arrow::compute::Take(arrow::Datum(list.child_data[0]),
                                          arrow::Datum(ArrayData::Make(arrow::int32(), out, {valid, indices}, nulls)),
                                          arrow::compute::TakeOptions::NoBoundsCheck(), &context);
  if (taken.status().IsNotImplemented()) return ElementsRunByRun(list, size, pool);
  ARROW_RETURN_NOT_OK(taken.status());
  return taken->array();
}

/// The bits of slots that are set in both; a null bitmap has all set.
Result<BitmapPtr> BothOf(const BitmapPtr& left, const BitmapPtr& right, int64_t length, arrow::MemoryPool* pool) {
  if (left == nullptr || right == nullptr) return left == nullptr ? right : left;
  return arrow::internal::BitmapAnd(pool, left->data(), 0, right->data(), 0, length, 0);
}

/// Lists below null structs have no elements either, though they be required.
DataResult ToFixedSizeList(const ArrayData& list, const BitmapPtr& above, const TypePtr& to, arrow::MemoryPool* pool) {
  const int64_t size = checked_cast<const arrow::FixedSizeListType&>(*to).list_size();
  ArrayData present = list;
  ARROW_ASSIGN_OR_RAISE(present.buffers[0], BothOf(list.buffers[0], above, list.length, pool));
  present.null_count = present.buffers[0] == nullptr ? 0 : arrow::kUnknownNullCount;
  const auto* offsets = list.GetValues<int32_t>(1);
  for (int64_t i = 0; i < list.length; ++i) {
    const int64_t elements = offsets[i + 1] - offsets[i];
    if (elements == size || present.IsNull(i)) continue;
    return Invalid("value {} is a list of {} elements, expected {}", i, elements, size);
  }
  DataPtr elements = list.child_data[0];
  if (present.GetNullCount() > 0 && size > 0) {
    ARROW_ASSIGN_OR_RAISE(elements, PaddedElements(present, size, pool));
  }
  return ArrayData::Make(to, list.length, {list.buffers[0]}, {std::move(elements)}, list.null_count);
}

/// `list` has its children in their final form.
DataResult ConvertList(DataPtr data, const BitmapPtr& above, const TypePtr& to, arrow::MemoryPool* pool) {
  const ArrayData& list = *data;
  DataPtr result = Retyped(data, to);
  switch (to->id()) {
    case Type::LARGE_LIST: {
      ARROW_ASSIGN_OR_RAISE(result->buffers[1], WideOffsets(list.GetValues<int32_t>(1), list.length + 1, pool));
      return result;
    }
    case Type::FIXED_SIZE_LIST:
      return ToFixedSizeList(list, above, to, pool);
    case Type::LIST_VIEW: {
      ARROW_ASSIGN_OR_RAISE(auto sizes, Sizes<int32_t>(list, pool));
      result->buffers.push_back(std::move(sizes));
      return result;
    }
    case Type::LARGE_LIST_VIEW: {
      ARROW_ASSIGN_OR_RAISE(result->buffers[1], WideOffsets(list.GetValues<int32_t>(1), list.length, pool));
      ARROW_ASSIGN_OR_RAISE(auto sizes, Sizes<int64_t>(list, pool));
      result->buffers.push_back(std::move(sizes));
      return result;
    }
    default:
      return result;
  }
}

DataResult FinishBelow(const BitmapPtr& above, const ArrowNode& node, DataPtr assembled, arrow::MemoryPool* pool);

/// `above` has the slots that no struct above makes null; null: all.
DataResult Finish(const BitmapPtr& above, const ArrowNode& node, DataPtr data, arrow::MemoryPool* pool) {
  if (node.output == nullptr) return data;
  if (IsPutTogether(node)) return PutVariantsTogether(*data, pool);
  const TypePtr& type = node.output->type();
  if (node.leaf_index >= 0) return CastLeaf(std::move(data), type, pool);
  const TypePtr& storage = StorageOf(type);
  std::vector<DataPtr>* children = &data->child_data;
  if (storage->id() == Type::MAP) {
    data->child_data[0] = Retyped(std::move(data->child_data[0]), storage->field(0)->type());
    children = &data->child_data[0]->child_data;
  }
  BitmapPtr below;
  if (storage->id() == Type::STRUCT) {
    ARROW_ASSIGN_OR_RAISE(below, BothOf(data->buffers[0], above, data->length, pool));
  }
  for (size_t i = 0; i < node.children.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE((*children)[i], FinishBelow(below, node.children[i], std::move((*children)[i]), pool));
  }
  ARROW_ASSIGN_OR_RAISE(data, ConvertList(std::move(data), above, storage, pool));
  return Retyped(std::move(data), type);
}

DataResult FinishBelow(const BitmapPtr& above, const ArrowNode& node, DataPtr assembled, arrow::MemoryPool* pool) {
  if (node.output == nullptr) return assembled;
  return WithContext(Finish(above, node, std::move(assembled), pool), fmt::format("column '{}'", node.field->name()));
}

}  // namespace

bool IsPutTogether(const ArrowNode& node) {
  return node.output != nullptr && node.leaf_index < 0 && node.field->type()->id() == Type::EXTENSION;
}

TypePtr TypeOver(const arrow::DataType& like, const arrow::FieldVector& children) {
  switch (like.id()) {
    case Type::LIST:
      return arrow::list(children[0]);
    case Type::LARGE_LIST:
      return arrow::large_list(children[0]);
    case Type::LIST_VIEW:
      return arrow::list_view(children[0]);
    case Type::LARGE_LIST_VIEW:
      return arrow::large_list_view(children[0]);
    case Type::FIXED_SIZE_LIST:
      return arrow::fixed_size_list(children[0], checked_cast<const arrow::FixedSizeListType&>(like).list_size());
    case Type::MAP:
      return std::make_shared<arrow::MapType>(children[0], children[1],
                                              checked_cast<const arrow::MapType&>(like).keys_sorted());
    case Type::EXTENSION: {
      const auto& extension = checked_cast<const arrow::ExtensionType&>(like);
      TypePtr storage = TypeOver(*extension.storage_type(), children);
      if (!storage->Equals(*extension.storage_type())) return storage;
      auto made = extension.Deserialize(storage, extension.Serialize());
      return made.ok() ? *made : storage;
    }
    default:
      return arrow::struct_(children);
  }
}

void UpdateTypes(ArrowNode* group) {
  if (IsPutTogether(*group)) return;
  arrow::FieldVector fields, outputs;
  bool differs = group->output != nullptr;
  for (const ArrowNode& child : group->children) {
    fields.push_back(child.field);
    outputs.push_back(OutputOf(child));
    differs |= child.output != nullptr;
  }
  const auto output = OutputOf(*group);
  group->field = group->field->WithType(TypeOver(*group->field->type(), fields));
  if (differs) group->output = output->WithType(TypeOver(*output->type(), outputs));
}

DataResult FinishField(const ArrowNode& node, DataPtr assembled, arrow::MemoryPool* pool) {
  return FinishBelow(nullptr, node, std::move(assembled), pool);
}

}  // namespace calve::parquet
