#include "calve/parquet/arrow_schema_peek.h"

#include <arrow/buffer.h>
#include <arrow/extension/uuid.h>
#include <arrow/ipc/writer.h>
#include <arrow/type.h>
#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

// The flatbuffers are Arrow's own.

namespace calve::parquet {
namespace {

using arrow::field;
using Unit = arrow::TimeUnit;
using TypePtr = std::shared_ptr<arrow::DataType>;

std::string Encoded(const arrow::FieldVector& fields) {
  const auto message = arrow::ipc::SerializeSchema(*arrow::schema(fields)).ValueOrDie();
  return arrow::util::base64_encode(message->ToString());
}

bool IsPlain(const TypePtr& type) {
  // Between others, of which one is not plain.
  const std::string text = Encoded({field("a", arrow::int8()), field("b", type), field("c", arrow::large_utf8())});
  ArrowSchemaPeek peek(text);
  EXPECT_TRUE(peek.IsPlain(0));
  const bool plain = peek.IsPlain(1);
  EXPECT_FALSE(peek.IsPlain(2));
  EXPECT_FALSE(peek.IsPlain(3));
  return plain;
}

TEST(ArrowSchemaPeek, TypesThatParquetHolds) {
  using namespace arrow;  // NOLINT
  for (const auto& type :
       {null(), boolean(), int8(), uint64(), float16(), float64(), utf8(), binary(), date32(), date64(),
        time32(Unit::SECOND), time64(Unit::NANO), timestamp(Unit::SECOND), decimal128(5, 2), fixed_size_binary(3)}) {
    EXPECT_TRUE(IsPlain(type)) << type->ToString();
    EXPECT_TRUE(IsPlain(list(type))) << type->ToString();
    EXPECT_TRUE(IsPlain(struct_({field("x", int32()), field("y", list(type))}))) << type->ToString();
    EXPECT_TRUE(IsPlain(map(utf8(), type))) << type->ToString();
  }
}

TEST(ArrowSchemaPeek, TypesThatItLacks) {
  using namespace arrow;  // NOLINT
  for (const auto& type :
       {duration(Unit::SECOND), large_utf8(), large_binary(), utf8_view(), binary_view(), timestamp(Unit::MICRO, "UTC"),
        decimal32(5, 2), decimal64(5, 2), decimal256(5, 2), dictionary(int8(), utf8()), large_list(int8()),
        list_view(int8()), fixed_size_list(int8(), 2), run_end_encoded(int32(), utf8()), map(utf8(), int8(), true),
        extension::uuid()}) {
    EXPECT_FALSE(IsPlain(type)) << type->ToString();
    EXPECT_FALSE(IsPlain(list(type))) << type->ToString();
    EXPECT_FALSE(IsPlain(struct_({field("x", int32()), field("y", list(type))}))) << type->ToString();
    EXPECT_FALSE(IsPlain(map(utf8(), type))) << type->ToString();
  }
}

TEST(ArrowSchemaPeek, Metadata) {
  const auto metadata = arrow::key_value_metadata({"k"}, {"v"});
  const std::string text = Encoded({field("a", arrow::int8(), true, metadata), field("b", arrow::int8()),
                                    field("c", arrow::list(field("item", arrow::int8(), true, metadata)))});
  ArrowSchemaPeek peek(text);
  EXPECT_FALSE(peek.IsPlain(0));
  EXPECT_TRUE(peek.IsPlain(1));
  EXPECT_FALSE(peek.IsPlain(2));
}

TEST(ArrowSchemaPeek, TruncatedAtEveryByteAndChanged) {
  // Whatever the text, it is looked at within its bounds. What is cut off is not plain.
  const std::string text = Encoded({field("a", arrow::list(arrow::int8())), field("b", arrow::utf8())});
  for (size_t size = 0; size < text.size(); ++size) {
    ArrowSchemaPeek peek(std::string_view(text).substr(0, size));
    peek.IsPlain(0);
    peek.IsPlain(1);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char value : {'A', '/', '8', '='}) {
      std::string changed = text;
      changed[i] = value;
      ArrowSchemaPeek peek(changed);
      peek.IsPlain(0);
      peek.IsPlain(1);
    }
  }
}

TEST(ArrowSchemaPeek, WhatIsNoSchemaIsNotPlain) {
  for (const char* text : {"", "AAAA", "!!!!!!!!!!!!", "/////wAAAAAAAAAA"})
    EXPECT_FALSE(ArrowSchemaPeek(text).IsPlain(0)) << text;
}

}  // namespace
}  // namespace calve::parquet
