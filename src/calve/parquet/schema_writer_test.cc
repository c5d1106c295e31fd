#include "calve/parquet/schema_writer.h"

#include <arrow/extension/json.h>
#include <arrow/extension/uuid.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

namespace calve::parquet {
namespace {

using arrow::field;
using Kind = LogicalType::Kind;

SchemaElement LeafOf(const std::shared_ptr<arrow::DataType>& type) {
  auto elements = ElementsFromArrow(*arrow::schema({field("c", type)}));
  EXPECT_TRUE(elements.ok()) << elements.status();
  EXPECT_EQ(elements->size(), 2u);
  return elements->back();
}

void ExpectLeaf(const std::shared_ptr<arrow::DataType>& type, PhysicalType physical, Kind kind,
                std::optional<ConvertedType> converted, int length = 0) {
  SCOPED_TRACE(type->ToString());
  const SchemaElement leaf = LeafOf(type);
  EXPECT_EQ(leaf.type, physical);
  EXPECT_EQ(leaf.logical_type.kind, kind);
  EXPECT_EQ(leaf.converted_type, converted);
  EXPECT_EQ(leaf.type_length, length);
  EXPECT_EQ(leaf.repetition, Repetition::kOptional);
}

TEST(ElementsFromArrow, PhysicalAndLogicalTypes) {
  using namespace arrow;  // NOLINT
  ExpectLeaf(boolean(), PhysicalType::kBoolean, Kind::kNone, {});
  ExpectLeaf(int8(), PhysicalType::kInt32, Kind::kInteger, ConvertedType::kInt8);
  ExpectLeaf(uint16(), PhysicalType::kInt32, Kind::kInteger, ConvertedType::kUint16);
  ExpectLeaf(int32(), PhysicalType::kInt32, Kind::kNone, {});
  ExpectLeaf(uint32(), PhysicalType::kInt32, Kind::kInteger, ConvertedType::kUint32);
  ExpectLeaf(int64(), PhysicalType::kInt64, Kind::kNone, {});
  ExpectLeaf(uint64(), PhysicalType::kInt64, Kind::kInteger, ConvertedType::kUint64);
  ExpectLeaf(float16(), PhysicalType::kFixedLenByteArray, Kind::kFloat16, {}, 2);
  ExpectLeaf(float32(), PhysicalType::kFloat, Kind::kNone, {});
  ExpectLeaf(float64(), PhysicalType::kDouble, Kind::kNone, {});
  ExpectLeaf(date32(), PhysicalType::kInt32, Kind::kDate, ConvertedType::kDate);
  ExpectLeaf(date64(), PhysicalType::kInt32, Kind::kDate, ConvertedType::kDate);
  ExpectLeaf(time32(arrow::TimeUnit::SECOND), PhysicalType::kInt32, Kind::kTime, ConvertedType::kTimeMillis);
  ExpectLeaf(time64(arrow::TimeUnit::MICRO), PhysicalType::kInt64, Kind::kTime, ConvertedType::kTimeMicros);
  ExpectLeaf(time64(arrow::TimeUnit::NANO), PhysicalType::kInt64, Kind::kTime, {});
  ExpectLeaf(timestamp(arrow::TimeUnit::SECOND), PhysicalType::kInt64, Kind::kTimestamp,
             ConvertedType::kTimestampMillis);
  ExpectLeaf(timestamp(arrow::TimeUnit::MICRO), PhysicalType::kInt64, Kind::kTimestamp,
             ConvertedType::kTimestampMicros);
  ExpectLeaf(timestamp(arrow::TimeUnit::NANO), PhysicalType::kInt64, Kind::kTimestamp, {});
  ExpectLeaf(utf8(), PhysicalType::kByteArray, Kind::kString, ConvertedType::kUtf8);
  ExpectLeaf(large_utf8(), PhysicalType::kByteArray, Kind::kString, ConvertedType::kUtf8);
  ExpectLeaf(utf8_view(), PhysicalType::kByteArray, Kind::kString, ConvertedType::kUtf8);
  ExpectLeaf(binary_view(), PhysicalType::kByteArray, Kind::kNone, {});
  ExpectLeaf(fixed_size_binary(7), PhysicalType::kFixedLenByteArray, Kind::kNone, {}, 7);
  ExpectLeaf(extension::uuid(), PhysicalType::kFixedLenByteArray, Kind::kUuid, {}, 16);
  ExpectLeaf(extension::json(), PhysicalType::kByteArray, Kind::kJson, ConvertedType::kJson);
  ExpectLeaf(dictionary(int8(), utf8()), PhysicalType::kByteArray, Kind::kString, ConvertedType::kUtf8);
  ExpectLeaf(null(), PhysicalType::kInt32, Kind::kUnknown, {});
  ExpectLeaf(month_day_nano_interval(), PhysicalType::kFixedLenByteArray, Kind::kNone, ConvertedType::kInterval, 12);
}

TEST(ElementsFromArrow, TimestampsSayWhetherTheyAreUtc) {
  EXPECT_FALSE(LeafOf(arrow::timestamp(arrow::TimeUnit::MICRO)).logical_type.is_adjusted_to_utc);
  EXPECT_TRUE(LeafOf(arrow::timestamp(arrow::TimeUnit::NANO, "UTC")).logical_type.is_adjusted_to_utc);
  EXPECT_EQ(LeafOf(arrow::timestamp(arrow::TimeUnit::NANO, "UTC")).logical_type.unit, TimeUnit::kNanos);
}

// Iceberg, Appendix A: int32 for a precision up to 9, int64 up to 18, fixed of minimal length beyond.
TEST(ElementsFromArrow, Decimals) {
  const int lengths[][2] = {{19, 9}, {21, 9}, {22, 10}, {28, 12}, {29, 13}, {35, 15}, {36, 16}, {37, 16}, {38, 16}};
  for (const auto& [precision, bytes] : lengths) {
    ExpectLeaf(arrow::decimal128(precision, 2), PhysicalType::kFixedLenByteArray, Kind::kDecimal,
               ConvertedType::kDecimal, bytes);
  }
  ExpectLeaf(arrow::decimal256(76, 2), PhysicalType::kFixedLenByteArray, Kind::kDecimal, ConvertedType::kDecimal, 32);
  ExpectLeaf(arrow::decimal128(9, 2), PhysicalType::kInt32, Kind::kDecimal, ConvertedType::kDecimal);
  ExpectLeaf(arrow::decimal256(10, 2), PhysicalType::kInt64, Kind::kDecimal, ConvertedType::kDecimal);
  ExpectLeaf(arrow::decimal128(18, 2), PhysicalType::kInt64, Kind::kDecimal, ConvertedType::kDecimal);
  const SchemaElement leaf = LeafOf(arrow::decimal128(18, 4));
  EXPECT_EQ(leaf.precision, 18);
  EXPECT_EQ(leaf.scale, 4);
  EXPECT_EQ(leaf.logical_type.precision, 18);
  EXPECT_EQ(leaf.logical_type.scale, 4);
}

std::shared_ptr<arrow::Field> WithId(const std::shared_ptr<arrow::Field>& f, const std::string& id) {
  return f->WithMetadata(arrow::key_value_metadata({"PARQUET:field_id"}, {id}));
}

TEST(ElementsFromArrow, FieldIdsAtEveryLevel) {
  const auto list = WithId(field("l", arrow::list(WithId(field("item", arrow::int32(), false), "3"))), "1");
  const auto map = WithId(field("m",
                                std::make_shared<arrow::MapType>(WithId(field("k", arrow::utf8(), false), "4"),
                                                                 WithId(field("v", arrow::int64()), "5")),
                                false),
                          "2");
  auto elements = ElementsFromArrow(*arrow::schema({list, map, field("none", arrow::int32())}));
  ASSERT_TRUE(elements.ok()) << elements.status();
  std::string text;
  for (const auto& e : *elements) {
    text += e.name + ":" + (e.field_id ? std::to_string(*e.field_id) : "-") + ":" +
            (e.repetition ? std::to_string(static_cast<int>(*e.repetition)) : "root") + ":" +
            std::to_string(e.num_children) + " ";
  }
  EXPECT_EQ(
      text,
      "schema:-:root:3 l:1:1:1 list:-:2:1 element:3:0:0 m:2:0:1 key_value:-:2:2 key:4:0:0 value:5:1:0 none:-:1:0 ");
}

TEST(ElementsFromArrow, FieldIdThatIsNoNumber) {
  const auto schema = arrow::schema({field("s", arrow::struct_({WithId(field("x", arrow::int32()), "7x")}))});
  EXPECT_EQ(ElementsFromArrow(*schema).status().ToString(),
            "Invalid: column 's.x': PARQUET:field_id is no 32-bit integer: '7x'");
}

TEST(ElementsFromArrow, WhatParquetCannotHold) {
  const auto error = [](const std::shared_ptr<arrow::DataType>& type) {
    return ElementsFromArrow(*arrow::schema({field("a", arrow::struct_({field("b", type)}))})).status().ToString();
  };
  EXPECT_EQ(error(arrow::duration(arrow::TimeUnit::MICRO)),
            "Invalid: column 'a.b': Parquet has no type for duration[us]");
  EXPECT_EQ(error(arrow::struct_({})), "Invalid: column 'a.b': Parquet has no struct without fields");
  EXPECT_EQ(error(arrow::decimal128(5, -2)),
            "Invalid: column 'a.b': Parquet decimals have a scale between 0 and the precision, not decimal128(5, -2)");
  EXPECT_EQ(error(arrow::fixed_size_binary(0)), "Invalid: column 'a.b': Parquet has no fixed_size_binary of 0 bytes");
  EXPECT_TRUE(ElementsFromArrow(*arrow::schema({field("a", arrow::dense_union({field("x", arrow::int32())}))}))
                  .status()
                  .IsInvalid());
}

// The levels that the writer makes are those that a reader derives from the elements.
TEST(WrittenSchema, LevelsAgreeWithTheReaders) {
  const auto inner = arrow::struct_({field("x", arrow::int32(), false), field("y", arrow::list(arrow::utf8()), false)});
  const auto schema =
      arrow::schema({field("a", arrow::int32(), false), field("b", arrow::large_list(field("item", inner, false))),
                     field("c", std::make_shared<arrow::MapType>(field("k", inner, false),
                                                                 field("v", arrow::fixed_size_list(inner, 2)))),
                     field("d", arrow::struct_({field("e", inner)}))});
  auto written = WrittenSchema::Make(*schema);
  ASSERT_TRUE(written.ok()) << written.status();
  auto read = FileSchema::Make(written->elements);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->leaves.size(), written->leaves.size());
  for (size_t i = 0; i < read->leaves.size(); ++i) {
    const LeafColumn& ours = written->leaves[i].column;
    EXPECT_EQ(ours.path, read->leaves[i].path);
    EXPECT_EQ(ours.max_definition_level, read->leaves[i].max_definition_level);
    EXPECT_EQ(ours.max_repetition_level, read->leaves[i].max_repetition_level);
    EXPECT_EQ(written->leaves[i].steps.back().present_level, ours.max_definition_level);
  }
}

}  // namespace
}  // namespace calve::parquet
