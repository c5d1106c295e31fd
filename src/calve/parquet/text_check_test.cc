#include "calve/parquet/text_check.h"

#include "json_arrays.h"
#include "read_parquet.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/extension/json.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

// Files whose STRING columns hold other bytes, written by libparquet, which does not look into them.

namespace calve {
namespace {

using arrow::field;
using ::testing::HasSubstr;
using testing::ReadWithCalve;

std::shared_ptr<arrow::Array> Text(const std::vector<std::string>& values) {
  arrow::StringBuilder builder;
  EXPECT_TRUE(builder.AppendValues(values).ok());
  return builder.Finish().ValueOrDie();
}

std::shared_ptr<arrow::Buffer> Write(const std::shared_ptr<arrow::Array>& column) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto properties = ::parquet::ArrowWriterProperties::Builder().store_schema()->build();
  const auto table = arrow::Table::Make(arrow::schema({field("c", column->type())}), {column});
  EXPECT_TRUE(::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, 4,
                                           ::parquet::default_writer_properties(), properties)
                  .ok());
  return sink->Finish().ValueOrDie();
}

arrow::Status Check(const std::shared_ptr<arrow::Array>& column) {
  ParquetReadOptions options;
  options.invalid_utf8 = InvalidUtf8::kError;
  options.batch_rows = 3;
  return ReadWithCalve(Write(column), options).status();
}

TEST(InvalidUtf8, IsAnErrorThatNamesColumnAndRow) {
  EXPECT_TRUE(Check(Text({"a", "\xc3\xa4", "", "\xf0\x9f\x98\x80", "x"})).ok());
  EXPECT_THAT(Check(Text({"a", "b", "c", "d", "e", "\xff", "g"})).message(),
              HasSubstr("column 'c': row 5: text that is not UTF-8"));
}

TEST(InvalidUtf8, IsAnErrorInFilteredReadsToo) {
  const auto bytes = Write(Text({"a", "b", "c", "d", "e", "\xff", "g"}));
  ParquetReadOptions options;
  options.invalid_utf8 = InvalidUtf8::kError;
  const auto file =
      ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x.parquet", options).ValueOrDie();
  ParquetReadRequest request;
  request.leaves = {0};
  const auto read = [&](const std::vector<RowRange>& rows) {
    request.rows = rows;
    return file->Read(request).ValueOrDie()->Next().status();
  };
  EXPECT_TRUE(read({{1, 2}, {6, 7}}).ok()) << "a bad value that is not read";
  EXPECT_THAT(read({{4, 7}}).message(), HasSubstr("column 'c': row 5: text that is not UTF-8"));
}

TEST(InvalidUtf8, CharactersCutInTwoBetweenValues) {
  EXPECT_THAT(Check(Text({"a", "x\xc3", "\xa4y"})).message(), HasSubstr("row 1"));
}

TEST(InvalidUtf8, InsideListsMapsAndStructs) {
  const auto text = Text({"a", "b", "c", "\xff", "e"});
  const auto offsets = testing::Array(arrow::int32(), "[0, 0, 2, 2, 5]");
  const auto list = arrow::ListArray::FromArrays(*offsets, *text).ValueOrDie();
  EXPECT_THAT(Check(list).message(), HasSubstr("column 'c.element': row 3"));
  const auto group = arrow::StructArray::Make({list}, std::vector<std::string>{"inner"}).ValueOrDie();
  EXPECT_THAT(Check(group).message(), HasSubstr("column 'c.inner.element': row 3"));
  const auto keys = Text({"a", "b", "c", "d", "e"});
  const auto map = arrow::MapArray::FromArrays(offsets, keys, text).ValueOrDie();
  EXPECT_THAT(Check(map).message(), HasSubstr("column 'c.value': row 3"));
}

TEST(InvalidUtf8, InJson) {
  const auto json = arrow::ExtensionType::WrapArray(arrow::extension::json(), Text({"{}", "\xff"}));
  EXPECT_THAT(Check(json).message(), HasSubstr("column 'c': row 1"));
}

TEST(InvalidUtf8, PassesByDefault) {
  const auto got = ReadWithCalve(Write(Text({"a", "\xff"})));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(static_cast<const arrow::StringArray&>(*(*got)->column(0)->chunk(0)).GetView(1), "\xff");
}

TEST(InvalidUtf8, PassesAsBinary) {
  ParquetReadOptions options;
  options.invalid_utf8 = InvalidUtf8::kBinary;
  const auto got = ReadWithCalve(Write(Text({"a", "\xff"})), options);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ((*got)->field(0)->type()->id(), arrow::Type::BINARY);
  EXPECT_EQ(static_cast<const arrow::BinaryArray&>(*(*got)->column(0)->chunk(0)).GetView(1), "\xff");
}

}  // namespace
}  // namespace calve
