#include "calve/array/referenced_bytes.h"

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include <string>

namespace calve {
namespace {

int64_t BytesOf(const std::shared_ptr<arrow::DataType>& type, const std::string& json, int64_t offset, int64_t length,
                int64_t sliced = 0) {
  const auto array = arrow::json::ArrayFromJSONString(type, json).ValueOrDie()->Slice(sliced);
  return ReferencedBytes(*array->data(), offset, length);
}

TEST(ReferencedBytes, OfSlotsAlone) {
  EXPECT_EQ(BytesOf(arrow::int32(), "[1, 2, null, 4]", 1, 2), 8);
  EXPECT_EQ(BytesOf(arrow::boolean(), "[true, true, true, true, true, true, true, true, true, true]", 0, 9), 2);
  EXPECT_EQ(BytesOf(arrow::decimal128(20, 1), R"(["1.0", "2.0"])", 0, 1), 16);
  EXPECT_EQ(BytesOf(arrow::null(), "[null, null]", 0, 2), 0);
  const std::string words = R"(["a", "bcd", null, "efghi", ""])";
  EXPECT_EQ(BytesOf(arrow::utf8(), words, 1, 3), 3 * 4 + 8);
  EXPECT_EQ(BytesOf(arrow::utf8(), words, 0, 2, /*sliced=*/2), 2 * 4 + 5);
  EXPECT_EQ(BytesOf(arrow::large_binary(), words, 4, 1), 8);
  EXPECT_EQ(BytesOf(arrow::utf8(), "[]", 0, 0), 0);
}

TEST(ReferencedBytes, OfNestedSlots) {
  const std::string lists = "[[1, 2], null, [], [3, 4, 5]]";
  EXPECT_EQ(BytesOf(arrow::list(arrow::int16()), lists, 0, 3), 3 * 4 + 2 * 2);
  EXPECT_EQ(BytesOf(arrow::large_list(arrow::int16()), lists, 0, 1, /*sliced=*/3), 8 + 3 * 2);
  const auto pairs = arrow::fixed_size_list(arrow::utf8(), 2);
  EXPECT_EQ(BytesOf(pairs, R"([["a", "b"], ["cd", "efg"]])", 0, 1, /*sliced=*/1), 2 * 4 + 5);
  const auto many = arrow::json::ArrayFromJSONString(pairs, R"([["a", "b"], ["cd", "efg"], ["h", "i"]])").ValueOrDie();
  EXPECT_EQ(ReferencedBytes(*many->Slice(0, 1)->data(), 0, 1), 2 * 4 + 2);
  EXPECT_EQ(ReferencedBytes(*many->Slice(1, 1)->data(), 0, 1), 2 * 4 + 5);
  const auto fields = arrow::struct_({arrow::field("a", arrow::int8()), arrow::field("b", arrow::utf8())});
  EXPECT_EQ(BytesOf(fields, R"([{"a": 1, "b": "x"}, {"a": 2, "b": "yz"}])", 0, 1, /*sliced=*/1), 1 + 4 + 2);
}

TEST(ReferencedBytes, WhatIsSharedCountsWhole) {
  EXPECT_EQ(BytesOf(arrow::dictionary(arrow::int8(), arrow::utf8()), R"(["ab", "c", "ab", "c"])", 0, 3), 3 + 2 * 4 + 3);
  const std::string lists = "[[1, 2], null, [3, 4, 5]]";
  EXPECT_EQ(BytesOf(arrow::list_view(arrow::int32()), lists, 0, 1), 8 + 5 * 4);
  const auto views = arrow::json::ArrayFromJSONString(arrow::utf8_view(), R"(["short", "longer than twelve bytes"])");
  ASSERT_TRUE(views.ok()) << views.status();
  EXPECT_GE(ReferencedBytes(*(*views)->data(), 0, 1), 16 + 24);
}

}  // namespace
}  // namespace calve
