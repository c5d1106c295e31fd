#include "calve/parquet/array_assembly.h"

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::parquet {
namespace {

SchemaElement Element(std::string name, Repetition repetition, std::optional<PhysicalType> type, int children = 0) {
  SchemaElement element;
  element.name = std::move(name);
  element.repetition = repetition;
  element.type = type;
  element.num_children = children;
  return element;
}

/// optional list l of optional struct { optional int32 x; optional int32 y }
FileSchema ListOfStruct() {
  auto list = Element("l", Repetition::kOptional, {}, 1);
  list.converted_type = ConvertedType::kList;
  return FileSchema::Make({Element("root", Repetition::kRequired, {}, 1), list,
                           Element("list", Repetition::kRepeated, {}, 1),
                           Element("element", Repetition::kOptional, {}, 2),
                           Element("x", Repetition::kOptional, PhysicalType::kInt32),
                           Element("y", Repetition::kOptional, PhysicalType::kInt32)})
      .ValueOrDie();
}

/// A leaf of ListOfStruct: its levels, and a value for each level of 4.
LeafBatch Leaf(const std::vector<uint8_t>& definition, const std::vector<uint8_t>& repetition,
               std::vector<int32_t> values) {
  LeafBatch batch;
  ValidityBuilder validity(arrow::default_memory_pool());
  std::string slots;
  size_t next = 0;
  for (uint8_t level : definition) {
    if (level < 2) continue;
    const int32_t value = level == 4 ? values[next++] : 0;
    slots.append(reinterpret_cast<const char*>(&value), 4);
    EXPECT_TRUE(validity.AppendRun(level == 4, 1).ok());
  }
  batch.slots = validity.size();
  batch.null_count = validity.null_count();
  batch.validity = validity.Finish().ValueOrDie();
  batch.values = arrow::Buffer::FromString(slots);
  batch.levels_count = static_cast<int64_t>(definition.size());
  batch.definition_levels = arrow::Buffer::FromString(std::string(definition.begin(), definition.end()));
  batch.repetition_levels = arrow::Buffer::FromString(std::string(repetition.begin(), repetition.end()));
  return batch;
}

Result<std::shared_ptr<arrow::Array>> Assemble(std::vector<LeafBatch> batches) {
  const FileSchema schema = ListOfStruct();
  ARROW_ASSIGN_OR_RAISE(auto data, AssembleField(schema, schema.fields[0], 0, &batches, arrow::default_memory_pool()));
  auto array = arrow::MakeArray(data);
  ARROW_RETURN_NOT_OK(array->ValidateFull());
  return array;
}

TEST(ArrayAssembly, TheWorkedExample) {
  // null, [], [null, {x: null, y: 5}], [{x: 7, y: null}]
  auto got = Assemble({Leaf({0, 1, 2, 3, 4}, {0, 0, 0, 1, 0}, {7}), Leaf({0, 1, 2, 4, 3}, {0, 0, 0, 1, 0}, {5})});
  ASSERT_TRUE(got.ok()) << got.status();
  auto expected = arrow::json::ArrayFromJSONString((*got)->type(),
                                                   R"([null, [], [null, {"x": null, "y": 5}], [{"x": 7, "y": null}]])");
  EXPECT_TRUE((*got)->Equals(*expected)) << (*got)->ToString();
}

TEST(ArrayAssembly, RefusesLeavesThatDisagree) {
  const LeafBatch x = Leaf({0, 1, 2, 3, 4}, {0, 0, 0, 1, 0}, {7});
  // The same number of slots each time, but another row boundary, another null list, another null struct.
  for (const LeafBatch& y : {Leaf({0, 1, 2, 4, 3}, {0, 0, 0, 0, 1}, {5}), Leaf({1, 1, 2, 4, 3}, {0, 0, 0, 1, 0}, {5}),
                             Leaf({0, 1, 3, 4, 3}, {0, 0, 0, 1, 0}, {5}), Leaf({0, 1, 2, 4}, {0, 0, 0, 1}, {5})}) {
    const auto got = Assemble({x, y});
    EXPECT_TRUE(got.status().IsInvalid());
    EXPECT_THAT(got.status().message(), ::testing::HasSubstr("disagree about how many values it has"));
  }
}

}  // namespace
}  // namespace calve::parquet
