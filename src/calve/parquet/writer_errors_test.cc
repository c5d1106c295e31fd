// What cannot be written, and what is said of it.

#include "calve/parquet_writer.h"

#include "random_array.h"
#include "written_parquet.h"

#include <arrow/builder.h>

namespace calve {
namespace {

using arrow::field;
using testing::ExpectRoundTrip;
using testing::FromJson;
using testing::OneColumn;
using testing::RandomArrays;
using testing::WrittenParquet;

TEST(ParquetWriterErrors, NullFromADictionaryInARequiredField) {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto array = arrow::DictionaryArray::FromArrays(type, FromJson(arrow::int8(), "[0, 1]"),
                                                        FromJson(arrow::utf8(), R"(["a", null])"))
                         .ValueOrDie();
  auto written = WrittenParquet::Make(arrow::schema({field("c", type, false)}), {OneColumn(array, false)});
  EXPECT_EQ(written.status().ToString(), "Invalid: column 'c': null in a required field");
}

TEST(ParquetWriterErrors, WhatCannotBeTakenApartIsRefusedAtOnce) {
  const auto views = arrow::struct_({field("a", arrow::utf8_view())});
  for (const auto& type : {arrow::dictionary(arrow::int32(), views), arrow::run_end_encoded(arrow::int32(), views)}) {
    const auto written = WrittenParquet::Make(arrow::schema({field("c", arrow::list(type))}), {});
    EXPECT_TRUE(written.status().IsNotImplemented()) << written.status();
    EXPECT_EQ(written.status().message().find("column 'c': writing list<"), 0U) << written.status();
  }
}

TEST(ParquetWriterErrors, DeeplyWrappedTypesTakeNoTime) {
  auto type = arrow::list(arrow::int32());
  for (int depth = 0; depth < 60; ++depth) {
    type = depth % 2 == 0 ? arrow::dictionary(arrow::int32(), type) : arrow::run_end_encoded(arrow::int32(), type);
  }
  const auto written = WrittenParquet::Make(arrow::schema({field("c", type)}), {});
  EXPECT_TRUE(written.ok() || written.status().IsNotImplemented()) << written.status();
}

TEST(ParquetWriterErrors, DictionaryIndexOutOfRange) {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  auto data = arrow::ArrayData::Make(type, 1, {nullptr, arrow::Buffer::FromString(std::string(1, '\x05'))}, 0);
  data->dictionary = FromJson(arrow::utf8(), R"(["a"])")->data();
  auto written = WrittenParquet::Make(arrow::schema({field("c", type)}), {OneColumn(arrow::MakeArray(data))});
  EXPECT_EQ(written.status().ToString(),
            "Invalid: column 'c': dictionary index 5 out of range (dictionary has 1 values)");
}

TEST(ParquetWriterErrors, NullInARequiredFieldNamesTheColumn) {
  const auto check = [](const std::shared_ptr<arrow::Field>& f, const std::string& json, const std::string& message) {
    // The array's own type is nullable everywhere; the writer's schema is not.
    auto written = WrittenParquet::Make(arrow::schema({f}),
                                        {arrow::RecordBatch::Make(arrow::schema({f}), 2, {FromJson(f->type(), json)})});
    EXPECT_EQ(written.status().ToString(), "Invalid: " + message);
  };
  check(field("c", arrow::int32(), false), "[1, null]", "column 'c': null in a required field");
  check(field("c", arrow::list(field("item", arrow::utf8(), false))), R"([["a"], ["b", null]])",
        "column 'c.element': null in a required field");
  check(field("c", arrow::struct_({field("x", arrow::int32(), false)})), R"([{"x": 1}, {"x": null}])",
        "column 'c.x': null in a required field");
  check(field("c", arrow::struct_({field("x", arrow::int32())}), false), R"([{"x": 1}, null])",
        "column 'c': null in a required field");
}

TEST(ParquetWriterErrors, NullsUnderNullsAreNoNullsOfARequiredField) {
  const auto type = arrow::struct_({field("x", arrow::int32(), false)});
  auto data = FromJson(type, R"([{"x": 1}, null, {"x": 3}])")->data()->Copy();
  data->child_data[0] = FromJson(arrow::int32(), "[1, null, 3]")->data();
  ExpectRoundTrip(arrow::schema({field("c", type)}), {OneColumn(arrow::MakeArray(data))});
}

TEST(ParquetWriterErrors, BatchOfAnotherSchema) {
  const auto schema = arrow::schema({field("a", arrow::int32())});
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto writer = ParquetWriter::Make(sink.get(), schema).ValueOrDie();
  EXPECT_EQ(writer->Write(*OneColumn(FromJson(arrow::int64(), "[1]"))).ToString(),
            "Invalid: a batch does not have the writer's schema: column 'a' is int64, expected int32");
  // Nothing is lost by it, and another name is no other schema.
  EXPECT_TRUE(writer->Write(*OneColumn(FromJson(arrow::int32(), "[1]"))).ok());
  EXPECT_EQ(writer->Close()->rows, 1);
  EXPECT_FALSE(writer->Write(*OneColumn(FromJson(arrow::int32(), "[1]"))).ok());
  EXPECT_FALSE(writer->Close().ok());
}

TEST(ParquetWriterErrors, FailureOfTheSinkIsKept) {
  auto buffer = arrow::AllocateResizableBuffer(64).ValueOrDie();
  arrow::io::FixedSizeBufferWriter sink(std::shared_ptr<arrow::Buffer>(std::move(buffer)));
  ParquetWriteOptions options;
  options.row_group_rows = 10;
  auto writer = ParquetWriter::Make(&sink, arrow::schema({field("c", arrow::int64())}), options).ValueOrDie();
  RandomArrays arrays(1, {});
  const auto batch = OneColumn(arrays.Make(*field("c", arrow::int64()), 100));
  EXPECT_FALSE(writer->Write(*batch).ok());
  EXPECT_FALSE(writer->Close().ok());
}

TEST(ParquetWriterErrors, OptionsThatMakeNoSense) {
  ParquetWriteOptions options;
  options.page_rows = 0;
  auto written = WrittenParquet::Make(arrow::schema({field("c", arrow::int64())}), {}, options);
  EXPECT_EQ(written.status().ToString(), "Invalid: page_rows must be positive, got 0");
}

}  // namespace
}  // namespace calve
