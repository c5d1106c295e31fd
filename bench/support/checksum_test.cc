#include "support/checksum.h"

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::bench {
namespace {

using Arrays = std::vector<std::shared_ptr<arrow::Array>>;

std::shared_ptr<arrow::Array> FromJson(const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

std::shared_ptr<arrow::RecordBatch> BatchOf(const Arrays& columns) {
  arrow::FieldVector fields;
  for (const auto& column : columns) fields.push_back(arrow::field("c", column->type()));
  return arrow::RecordBatch::Make(arrow::schema(fields), columns.front()->length(), columns);
}

Checksum Of(const Arrays& batches) {
  Checksum checksum;
  for (const auto& array : batches) EXPECT_TRUE(checksum.Add(*BatchOf({array})).ok());
  return checksum;
}

uint64_t SumOf(const Arrays& batches) { return Of(batches).sum(); }

/// The finalizer of splitmix64 and the slot's formula, as the header states them.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
uint64_t Slot(uint64_t array, uint64_t slot, uint64_t hash) { return Mix(Mix((array << 40) + slot) ^ hash); }
uint64_t NullSlot(uint64_t array, uint64_t slot) { return Mix(Mix((array << 40) + slot) + 0x9e3779b97f4a7c15); }

TEST(Checksum, IsTheStatedSum) {
  EXPECT_EQ(SumOf({FromJson(arrow::int32(), "[7, null, -1]")}), Slot(0, 0, 7) + NullSlot(0, 1) + Slot(0, 2, ~0ull));
  EXPECT_EQ(SumOf({FromJson(arrow::utf8(), R"(["abcdefghi"])")}), Slot(0, 0, Mix(Mix(9 ^ 0x6867666564636261) ^ 0x69)));
}

TEST(Checksum, CountsPlainBytes) {
  EXPECT_EQ(Of({FromJson(arrow::int32(), "[7, null, -1]")}).bytes(), 12);
  EXPECT_EQ(Of({FromJson(arrow::utf8(), R"(["abc", null, ""])")}).bytes(), 15);
}

TEST(Checksum, DoesNotDependOnBatches) {
  const auto type = arrow::list(arrow::struct_({arrow::field("a", arrow::int64()), arrow::field("b", arrow::utf8())}));
  const auto whole = FromJson(type, R"([[{"a":1,"b":"x"},null],null,[],[{"a":null,"b":"yy"}],[{"a":3,"b":null}]])");
  for (int64_t cut = 0; cut <= whole->length(); ++cut) {
    EXPECT_EQ(SumOf({whole}), SumOf({whole->Slice(0, cut), whole->Slice(cut)})) << cut;
  }
}

TEST(Checksum, DoesNotDependOnTheForm) {
  const std::string strings = R"(["a", null, "", "a string longer than a view holds", "a"])";
  const uint64_t expected = SumOf({FromJson(arrow::utf8(), strings)});
  for (const auto& type : {arrow::large_utf8(), arrow::utf8_view(), arrow::dictionary(arrow::int32(), arrow::utf8())}) {
    EXPECT_EQ(SumOf({FromJson(type, strings)}), expected) << type->ToString();
  }
  EXPECT_EQ(SumOf({FromJson(arrow::list(arrow::int8()), "[[1],null,[2,3]]")}),
            SumOf({FromJson(arrow::large_list(arrow::int64()), "[[1],null,[2,3]]")}));
  EXPECT_EQ(SumOf({FromJson(arrow::decimal32(9, 2), R"(["-1.50", null])")}),
            SumOf({FromJson(arrow::decimal128(20, 2), R"(["-1.50", null])")}));
}

TEST(Checksum, ChildrenOfNullParentsDoNotCount) {
  const auto values = FromJson(arrow::int64(), "[1, 2, 3]");
  const auto hidden = FromJson(arrow::int64(), "[1, 99, 3]");
  const auto validity = FromJson(arrow::boolean(), "[true, false, true]")->data()->buffers[1];
  const auto struct_of = [&](const std::shared_ptr<arrow::Array>& child) {
    return arrow::StructArray::Make({child}, {std::string("a")}, validity).ValueOrDie();
  };
  EXPECT_EQ(SumOf({struct_of(values)}), SumOf({struct_of(hidden)}));
  const auto offsets = FromJson(arrow::int32(), "[0, 1, 2, 3]");
  const auto list_of = [&](const std::shared_ptr<arrow::Array>& child) {
    return std::make_shared<arrow::ListArray>(arrow::list(arrow::int64()), 3, offsets->data()->buffers[1], child,
                                              validity);
  };
  EXPECT_EQ(SumOf({list_of(values)}), SumOf({list_of(hidden)}));
  EXPECT_EQ(SumOf({list_of(values)}), SumOf({FromJson(arrow::list(arrow::int64()), "[[1], null, [3]]")}));
}

TEST(Checksum, TellsApart) {
  const auto sum = [](const std::string& json) { return SumOf({FromJson(arrow::list(arrow::int64()), json)}); };
  EXPECT_NE(sum("[[1, 2], [3]]"), sum("[[1], [2, 3]]"));
  EXPECT_NE(sum("[[]]"), sum("[null]"));
  EXPECT_NE(sum("[[0]]"), sum("[[null]]"));
  EXPECT_NE(sum("[[1, 2]]"), sum("[[2, 1]]"));
}

TEST(Checksum, RefusesWhatNoCaseReads) {
  EXPECT_TRUE(Checksum().Add(*BatchOf({FromJson(arrow::null(), "[null]")})).IsNotImplemented());
}

}  // namespace
}  // namespace calve::bench
