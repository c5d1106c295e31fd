#include "calve/parquet/run_ends.h"

#include "calve/parquet/schema_writer.h"

#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace calve::parquet {
namespace {

/// Fills `runs` with the run of each row.
template <typename RunEnd>
Status FillRuns(const arrow::ArrayData& array, int32_t* runs) {
  const arrow::ArrayData& ends = *array.child_data[0];
  const RunEnd* end = ends.GetValues<RunEnd>(1);
  int64_t row = 0;
  int64_t run = std::upper_bound(end, end + ends.length, array.offset) - end;
  for (; row < array.length && run < ends.length; ++run) {
    const int64_t run_end = std::min<int64_t>(end[run] - array.offset, array.length);
    if (run_end > row) std::fill(runs + row, runs + run_end, static_cast<int32_t>(run));
    row = std::max(row, run_end);
  }
  if (row < array.length) return Invalid("run ends stop at row {} of {}", row, array.length);
  return Status::OK();
}

Status FillRuns(const arrow::ArrayData& array, arrow::Type::type run_end_type, int32_t* runs) {
  switch (run_end_type) {
    case arrow::Type::INT16:
      return FillRuns<int16_t>(array, runs);
    case arrow::Type::INT32:
      return FillRuns<int32_t>(array, runs);
    default:
      return FillRuns<int64_t>(array, runs);
  }
}

/// The same values as a run-end encoded array has, without runs: a dictionary's array whose dictionary are the values
/// of the runs, none of which is copied; nested values and dictionaries are taken apart row by row.
Result<std::shared_ptr<arrow::ArrayData>> WithoutRunEnds(const arrow::ArrayData& array, arrow::MemoryPool* pool) {
  const auto& type = static_cast<const arrow::RunEndEncodedType&>(StorageType(*array.type));
  const std::shared_ptr<arrow::ArrayData>& values = array.child_data[1];
  if (values->length > std::numeric_limits<int32_t>::max()) {
    return NotImplemented("writing a run-end encoded array of {} runs to Parquet", values->length);
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> runs,
                        arrow::AllocateBuffer(array.length * static_cast<int64_t>(sizeof(int32_t)), pool));
  ARROW_RETURN_NOT_OK(FillRuns(array, type.run_end_type()->id(), reinterpret_cast<int32_t*>(runs->mutable_data())));
  const arrow::DataType& value_type = StorageType(*type.value_type());
  if (!arrow::is_nested(value_type.id()) && value_type.id() != arrow::Type::DICTIONARY &&
      value_type.id() != arrow::Type::NA) {
    const auto dictionary_type = arrow::dictionary(arrow::int32(), type.value_type());
    auto result = arrow::ArrayData::Make(dictionary_type, array.length, {nullptr, std::move(runs)}, 0);
    result->dictionary = values;
    return result;
  }
  const auto indices = arrow::MakeArray(arrow::ArrayData::Make(arrow::int32(), array.length, {nullptr, runs}, 0));
  arrow::compute::ExecContext context(pool);
  ARROW_ASSIGN_OR_RAISE(auto taken, arrow::compute::Take(*arrow::MakeArray(values), *indices,
                                                         arrow::compute::TakeOptions::NoBoundsCheck(), &context));
  return taken->data();
}

/// The values that a dictionary's array stands for, row by row. Invalid when an index is out of range.
Result<std::shared_ptr<arrow::ArrayData>> WithoutDictionary(const arrow::ArrayData& array, arrow::MemoryPool* pool) {
  const auto& type = static_cast<const arrow::DictionaryType&>(StorageType(*array.type));
  auto indices = array.Copy();
  indices->type = type.index_type();
  indices->dictionary = nullptr;
  arrow::compute::ExecContext context(pool);
  ARROW_ASSIGN_OR_RAISE(auto taken,
                        arrow::compute::Take(*arrow::MakeArray(array.dictionary), *arrow::MakeArray(indices),
                                             arrow::compute::TakeOptions::Defaults(), &context));
  return taken->data();
}

/// An array without values. Arrow's own function has none for dictionaries of nested values.
std::shared_ptr<arrow::ArrayData> EmptyArray(const std::shared_ptr<arrow::DataType>& type) {
  static constexpr uint8_t kZeros[64] = {};  // the first offset
  const arrow::DataType& storage = StorageType(*type);
  const auto zeros = std::make_shared<arrow::Buffer>(kZeros, sizeof(kZeros));
  std::vector<std::shared_ptr<arrow::Buffer>> buffers(storage.layout().buffers.size(), zeros);
  if (!buffers.empty()) buffers[0] = nullptr;
  auto result = arrow::ArrayData::Make(type, 0, std::move(buffers), 0);
  for (const auto& field : storage.fields()) result->child_data.push_back(EmptyArray(field->type()));
  if (storage.id() == arrow::Type::DICTIONARY) {
    result->dictionary = EmptyArray(static_cast<const arrow::DictionaryType&>(storage).value_type());
  }
  return result;
}

bool HasRunEnds(const arrow::DataType& type) { return StorageType(type).id() == arrow::Type::RUN_END_ENCODED; }

}  // namespace

bool IsWrapped(const arrow::DataType& type) {
  if (HasRunEnds(type) || IsNestedDictionary(type)) return true;
  const arrow::FieldVector& fields = StorageType(type).fields();
  return std::any_of(fields.begin(), fields.end(), [](const auto& field) { return IsWrapped(*field->type()); });
}

Result<std::shared_ptr<arrow::ArrayData>> Unwrap(std::shared_ptr<arrow::ArrayData> array, arrow::MemoryPool* pool) {
  while (HasRunEnds(*array->type) || IsNestedDictionary(*array->type)) {
    ARROW_ASSIGN_OR_RAISE(array,
                          HasRunEnds(*array->type) ? WithoutRunEnds(*array, pool) : WithoutDictionary(*array, pool));
  }
  for (size_t i = 0; i < array->child_data.size(); ++i) {
    if (!IsWrapped(*array->child_data[i]->type)) continue;
    ARROW_ASSIGN_OR_RAISE(auto child, Unwrap(array->child_data[i], pool));
    array = array->Copy();
    array->child_data[i] = std::move(child);
  }
  return array;
}

Status CheckUnwrap(const std::shared_ptr<arrow::DataType>& type) {
  if (!IsWrapped(*type)) return Status::OK();
  const auto unwrapped = Unwrap(EmptyArray(type), arrow::default_memory_pool());
  return unwrapped.ok() ? Status::OK() : NotImplemented("writing {} to Parquet", type->ToString());
}

}  // namespace calve::parquet
