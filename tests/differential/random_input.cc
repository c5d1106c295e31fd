#include "random_input.h"

#include "random_table.h"

#include <arrow/array.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include <algorithm>
#include <random>
#include <vector>

namespace calve::differential {
namespace {

using arrow::ArrayData;
using arrow::Result;
using arrow::Type;
using TypePtr = std::shared_ptr<arrow::DataType>;
using DataPtr = std::shared_ptr<ArrayData>;

/// Arrow encodes the runs of these.
bool CanHaveRuns(Type::type id) {
  return arrow::is_primitive(id) || id == Type::STRING || id == Type::BINARY || id == Type::DECIMAL128 ||
         id == Type::FIXED_SIZE_BINARY;
}

/// Gives some leaves run ends, and some lists sizes.
class Dressing {
 public:
  explicit Dressing(uint64_t seed) : random_(seed) {}

  Result<DataPtr> Dress(const DataPtr& data) {
    if (data->child_data.empty()) return Chance(5) && CanHaveRuns(data->type->id()) ? WithRuns(data) : data;
    DataPtr result = data->Copy();
    std::vector<TypePtr> types;
    for (DataPtr& child : result->child_data) {
      ARROW_ASSIGN_OR_RAISE(child, Dress(child));
      types.push_back(child->type);
    }
    result->type = Over(*data->type, types);
    if (data->type->id() == Type::LIST && Chance(4)) AddSizes(result.get());
    return result;
  }

 private:
  bool Chance(uint64_t one_in) { return random_() % one_in == 0; }

  Result<DataPtr> WithRuns(const DataPtr& values) {
    const TypePtr ends[] = {arrow::int32(), arrow::int64()};
    const arrow::compute::RunEndEncodeOptions options(ends[random_() % 2]);
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum encoded, arrow::compute::RunEndEncode(values, options));
    return encoded.array();
  }

  static void AddSizes(ArrayData* list) {
    const int64_t count = list->offset + list->length;
    auto sizes = arrow::AllocateBuffer(count * 4).ValueOrDie();
    const auto* offsets = list->GetValues<int32_t>(1, 0);
    for (int64_t i = 0; i < count; ++i) sizes->mutable_data_as<int32_t>()[i] = offsets[i + 1] - offsets[i];
    list->buffers.push_back(std::move(sizes));
    list->type = arrow::list_view(list->type->field(0));
  }

  static TypePtr Over(const arrow::DataType& type, const std::vector<TypePtr>& children) {
    const auto child = [&](int i) { return type.field(i)->WithType(children[static_cast<size_t>(i)]); };
    switch (type.id()) {
      case Type::LIST:
        return arrow::list(child(0));
      case Type::LARGE_LIST:
        return arrow::large_list(child(0));
      case Type::FIXED_SIZE_LIST:
        return arrow::fixed_size_list(child(0), static_cast<const arrow::FixedSizeListType&>(type).list_size());
      case Type::MAP:
        return std::make_shared<arrow::MapType>(child(0));
      default: {
        arrow::FieldVector fields;
        for (int i = 0; i < type.num_fields(); ++i) fields.push_back(child(i));
        return arrow::struct_(fields);
      }
    }
  }

  std::mt19937_64 random_;
};

/// Cuts rows into batches, some of them empty.
arrow::RecordBatchVector Cut(const std::shared_ptr<arrow::RecordBatch>& whole, std::mt19937_64* random) {
  const auto below = [&](int64_t end) { return static_cast<int64_t>((*random)() % static_cast<uint64_t>(end)); };
  const int64_t rows = whole->num_rows();
  if (below(3) == 0) return {whole};
  arrow::RecordBatchVector batches;
  for (int64_t first = 0; first < rows;) {
    const int64_t count = std::min(rows - first, below(8) == 0 ? 0 : 1 + below(std::max<int64_t>(rows / 2, 1)));
    batches.push_back(whole->Slice(first, count));
    first += count;
  }
  return batches;
}

}  // namespace

Result<std::shared_ptr<arrow::Table>> RandomInput::Table() const {
  return arrow::Table::FromRecordBatches(schema, batches);
}

Result<RandomInput> MakeRandomInput(uint64_t seed, int64_t index) {
  RandomInput input;
  input.plain_types = index % 4 == 0;
  ARROW_ASSIGN_OR_RAISE(const auto table, RandomTable(seed, index, input.plain_types ? "duckdb" : "calve"));
  std::mt19937_64 random((seed * 1000003 + static_cast<uint64_t>(index)) ^ 0x5DEECE66D);
  Dressing dressing(random());
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (int i = 0; i < table->num_columns(); ++i) {
    DataPtr data = table->column(i)->chunk(0)->data();
    if (!input.plain_types) {
      ARROW_ASSIGN_OR_RAISE(data, dressing.Dress(data));
    }
    fields.push_back(table->field(i)->WithType(data->type));
    columns.push_back(arrow::MakeArray(data));
  }
  input.schema = arrow::schema(fields);
  input.batches = Cut(arrow::RecordBatch::Make(input.schema, table->num_rows(), columns), &random);
  return input;
}

bool HasNestedDictionary(const arrow::DataType& type) {
  return std::any_of(type.fields().begin(), type.fields().end(), [](const auto& child) {
    return child->type()->id() == Type::DICTIONARY || HasNestedDictionary(*child->type());
  });
}

bool HasRequiredFixedSizeListInStruct(const arrow::DataType& type) {
  return std::any_of(type.fields().begin(), type.fields().end(), [&](const auto& child) {
    const bool is_one = child->type()->id() == Type::FIXED_SIZE_LIST && !child->nullable();
    return (type.id() == Type::STRUCT && is_one) || HasRequiredFixedSizeListInStruct(*child->type());
  });
}

}  // namespace calve::differential
