#include "calve/pipeline/unified_schema.h"

#include "json_arrays.h"

#include <arrow/extension/json.h>
#include <arrow/extension/uuid.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::pipeline {
namespace {

using arrow::field;
using arrow::list;
using arrow::struct_;
using ::testing::HasSubstr;
using testing::IdField;
using TypePtr = std::shared_ptr<arrow::DataType>;

std::string Unified(const std::vector<arrow::FieldVector>& files, FileSchemas how = FileSchemas::kUnionByName) {
  std::vector<SchemaOfFile> schemas;
  for (const auto& fields : files) {
    schemas.push_back({std::string(1, static_cast<char>('a' + schemas.size())), arrow::schema(fields)});
  }
  const auto unified = UnifySchemas(schemas, how);
  return unified.ok() ? (*unified)->ToString() : unified.status().message();
}

/// Of both orders, which have to agree.
std::string Types(const TypePtr& a, const TypePtr& b) {
  const auto one = [](const TypePtr& x, const TypePtr& y) {
    const std::string text = Unified({{field("x", x)}, {field("x", y)}});
    return text.find("no type holds both") == std::string::npos ? text : "none";
  };
  const std::string text = one(a, b);
  EXPECT_EQ(text, one(b, a));
  return text;
}

TEST(UnifiedSchema, Integers) {
  using namespace arrow;  // NOLINT
  EXPECT_EQ(Types(int32(), int64()), "x: int64");
  EXPECT_EQ(Types(int8(), int16()), "x: int16");
  EXPECT_EQ(Types(uint8(), uint32()), "x: uint32");
  EXPECT_EQ(Types(uint8(), int8()), "x: int16");
  EXPECT_EQ(Types(uint8(), int64()), "x: int64");
  EXPECT_EQ(Types(uint32(), int32()), "x: int64");
  EXPECT_EQ(Types(uint64(), int8()), "none");
}

TEST(UnifiedSchema, OtherNumbers) {
  using namespace arrow;  // NOLINT
  EXPECT_EQ(Types(float32(), float64()), "x: double");
  EXPECT_EQ(Types(float16(), float32()), "x: float");
  EXPECT_EQ(Types(int32(), float64()), "none");
  EXPECT_EQ(Types(decimal128(9, 2), decimal128(20, 2)), "x: decimal128(20, 2)");
  EXPECT_EQ(Types(decimal128(9, 2), decimal256(50, 2)), "x: decimal256(50, 2)");
  EXPECT_EQ(Types(decimal128(9, 2), decimal128(9, 3)), "none");
}

TEST(UnifiedSchema, Times) {
  using namespace arrow;  // NOLINT
  EXPECT_EQ(Types(timestamp(TimeUnit::MILLI), timestamp(TimeUnit::NANO)), "x: timestamp[ns]");
  EXPECT_EQ(Types(timestamp(TimeUnit::MILLI, "UTC"), timestamp(TimeUnit::MICRO, "UTC")), "x: timestamp[us, tz=UTC]");
  EXPECT_EQ(Types(timestamp(TimeUnit::MICRO, "UTC"), timestamp(TimeUnit::MICRO)), "none");
  EXPECT_EQ(Types(time32(TimeUnit::MILLI), time64(TimeUnit::MICRO)), "x: time64[us]");
  EXPECT_EQ(Types(date32(), timestamp(TimeUnit::MICRO)), "none");
}

TEST(UnifiedSchema, TextAndTheRest) {
  using namespace arrow;  // NOLINT
  EXPECT_EQ(Types(utf8(), extension::json()), "x: string");
  EXPECT_EQ(Types(utf8(), binary()), "none");
  EXPECT_EQ(Types(extension::uuid(), fixed_size_binary(16)), "none");
  EXPECT_EQ(Types(fixed_size_binary(3), fixed_size_binary(4)), "none");
  EXPECT_EQ(Types(null(), int32()), "x: int32");
  EXPECT_EQ(Types(null(), list(int32())), "x: list<item: int32>");
  EXPECT_EQ(Types(boolean(), int8()), "none");
}

TEST(UnifiedSchema, Nested) {
  using namespace arrow;  // NOLINT
  EXPECT_EQ(Types(list(int32()), list(int64())), "x: list<item: int64>");
  EXPECT_EQ(Types(map(utf8(), int32()), map(utf8(), int64())), "x: map<string, int64>");
  EXPECT_EQ(Types(list(int32()), int32()), "none");
  EXPECT_EQ(Types(struct_({field("a", int32())}), int32()), "none");
  EXPECT_EQ(Unified({{field("s", struct_({field("a", int32(), false)}))},
                     {field("s", struct_({field("b", utf8(), false), field("a", int64(), false)}))}}),
            "s: struct<a: int64 not null, b: string>");
}

TEST(UnifiedSchema, ColumnsInTheOrderOfTheirFirstAppearance) {
  using namespace arrow;  // NOLINT
  EXPECT_EQ(Unified({{field("a", int32(), false), field("b", int32(), false)},
                     {field("c", int32(), false), field("a", int32(), false)},
                     {field("a", int32()), field("c", int32())}}),
            "a: int32\nb: int32\nc: int32");
}

TEST(UnifiedSchema, RequiredOnlyWhereAllFilesRequire) {
  using namespace arrow;  // NOLINT
  EXPECT_EQ(Unified({{field("a", int32(), false)}, {field("a", int32(), false)}}), "a: int32 not null");
  EXPECT_EQ(Unified({{field("a", int32(), false)}, {field("a", int32())}}), "a: int32");
}

TEST(UnifiedSchema, ErrorsNameFileAndColumn) {
  using namespace arrow;  // NOLINT
  EXPECT_EQ(Unified({{field("s", struct_({field("a", int32())}))}, {field("s", struct_({field("a", utf8())}))}}),
            "file b: column 's.a' is string, and int32 in the files before: no type holds both");
}

TEST(UnifiedSchema, ByFieldId) {
  using namespace arrow;  // NOLINT
  const std::string unified = Unified(
      {{IdField("a", int32(), 1), IdField("b", utf8(), 2)}, {IdField("b", int64(), 1), IdField("c", utf8(), 3)}},
      FileSchemas::kUnionById);
  EXPECT_THAT(unified, HasSubstr("a: int64"));
  EXPECT_THAT(unified, HasSubstr("b: string"));
  EXPECT_THAT(unified, HasSubstr("c: string"));
  EXPECT_EQ(Unified({{IdField("a", int32(), 1)}, {field("a", int32())}}, FileSchemas::kUnionById),
            "file b: column 'a' has no field id");
  EXPECT_EQ(Unified({{IdField("a", int32(), 1), IdField("b", int32(), 1)}}, FileSchemas::kUnionById),
            "file a: columns 'a' and 'b' both have field id 1");
}

}  // namespace
}  // namespace calve::pipeline
