#include "calve/parquet/output_types.h"

#include "calve/parquet_reader.h"

#include "random_array.h"
#include "read_parquet.h"

#include <arrow/array.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/extension_type.h>
#include <arrow/io/memory.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

namespace calve::parquet {
namespace {

using arrow::field;
using testing::ReadWithCalve;

std::shared_ptr<arrow::Schema> MixedSchema() {
  return arrow::schema({
      field("few", arrow::utf8()),
      field("many", arrow::utf8(), false),
      field("bytes", arrow::binary()),
      field("list", arrow::list(field("element", arrow::utf8()))),
      field("group", arrow::struct_({field("text", arrow::utf8()), field("number", arrow::int32())})),
      field("map", arrow::map(arrow::utf8(), arrow::utf8())),
      field("number", arrow::int64()),
      field("decimal", arrow::decimal128(20, 2)),
      field("time", arrow::timestamp(arrow::TimeUnit::MICRO)),
      field("flag", arrow::boolean()),
  });
}

struct Layout {
  bool dictionary = true;
  int64_t dictionary_bytes = 1 << 20;
  int64_t page_bytes = 300;
  ::parquet::ParquetDataPageVersion pages = ::parquet::ParquetDataPageVersion::V1;
  ::parquet::Encoding::type encoding = ::parquet::Encoding::PLAIN;
};

std::shared_ptr<arrow::Buffer> Written(const arrow::Table& table, const Layout& layout) {
  ::parquet::WriterProperties::Builder properties;
  properties.data_pagesize(layout.page_bytes)->write_batch_size(8)->data_page_version(layout.pages);
  properties.dictionary_pagesize_limit(layout.dictionary_bytes)->compression(arrow::Compression::SNAPPY);
  if (!layout.dictionary) properties.disable_dictionary();
  for (const char* name : {"few", "many", "bytes"}) {
    if (!layout.dictionary) properties.encoding(name, layout.encoding);
  }
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto status = ::parquet::arrow::WriteTable(table, arrow::default_memory_pool(), sink, 400, properties.build());
  EXPECT_TRUE(status.ok()) << status;
  return sink->Finish().ValueOrDie();
}

std::shared_ptr<arrow::Array> Plain(const std::shared_ptr<arrow::Array>& array);

/// The same array with the children that `make` gives.
std::shared_ptr<arrow::Array> Rebuilt(const arrow::Array& array, const std::shared_ptr<arrow::DataType>& type,
                                      std::vector<std::shared_ptr<arrow::ArrayData>> children) {
  auto data = array.data()->Copy();
  data->type = type;
  data->child_data = std::move(children);
  return arrow::MakeArray(data);
}

/// Large strings, views and dictionaries as plain offsets and bytes, at any depth.
std::shared_ptr<arrow::Array> Plain(const std::shared_ptr<arrow::Array>& array) {
  const auto& type = *array->type();
  switch (type.id()) {
    case arrow::Type::DICTIONARY: {
      const auto& encoded = static_cast<const arrow::DictionaryArray&>(*array);
      EXPECT_TRUE(encoded.ValidateFull().ok()) << encoded.ValidateFull();
      return arrow::compute::Take(*encoded.dictionary(), *encoded.indices()).ValueOrDie();
    }
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
      return arrow::compute::Cast(*array, arrow::utf8()).ValueOrDie();
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      return arrow::compute::Cast(*array, arrow::binary()).ValueOrDie();
    case arrow::Type::LIST: {
      const auto child = Plain(arrow::MakeArray(array->data()->child_data[0]));
      return Rebuilt(*array, arrow::list(type.field(0)->WithType(child->type())), {child->data()});
    }
    case arrow::Type::STRUCT: {
      arrow::FieldVector fields;
      std::vector<std::shared_ptr<arrow::ArrayData>> children;
      for (int i = 0; i < type.num_fields(); ++i) {
        const auto child = Plain(arrow::MakeArray(array->data()->child_data[static_cast<size_t>(i)]));
        fields.push_back(type.field(i)->WithType(child->type()));
        children.push_back(child->data());
      }
      return Rebuilt(*array, arrow::struct_(fields), children);
    }
    case arrow::Type::MAP: {
      const auto entries = Plain(arrow::MakeArray(array->data()->child_data[0]));
      return Rebuilt(*array, std::make_shared<arrow::MapType>(entries->type()->field(0), entries->type()->field(1)),
                     {entries->data()});
    }
    default:
      return array;
  }
}

std::shared_ptr<arrow::Table> Plain(const arrow::Table& table) {
  arrow::FieldVector fields;
  std::vector<std::shared_ptr<arrow::ChunkedArray>> columns;
  for (int i = 0; i < table.num_columns(); ++i) {
    arrow::ArrayVector chunks;
    for (const auto& chunk : table.column(i)->chunks()) chunks.push_back(Plain(chunk));
    columns.push_back(std::make_shared<arrow::ChunkedArray>(chunks));
    fields.push_back(table.field(i)->WithType(columns.back()->type()));
  }
  return arrow::Table::Make(arrow::schema(fields), columns);
}

class OutputTypesTest : public ::testing::TestWithParam<Layout> {
 protected:
  void SetUp() override {
    testing::RandomArrays arrays(17, {.null_probability = 0.2, .distinct = 40});
    const auto schema = MixedSchema();
    arrow::ArrayVector columns;
    for (const auto& f : schema->fields()) columns.push_back(arrays.Make(*f, 1000));
    bytes_ = Written(*arrow::Table::Make(schema, columns), GetParam());
    plain_ = ReadWithCalve(bytes_).ValueOrDie();
  }

  void ExpectSameValues(ParquetReadOptions options) {
    for (const int64_t batch_rows : {100000, 100, 7}) {
      options.batch_rows = batch_rows;
      const auto got = ReadWithCalve(bytes_, options);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_TRUE(Plain(**got)->Equals(*plain_)) << batch_rows;
    }
  }

  std::shared_ptr<arrow::Buffer> bytes_;
  std::shared_ptr<arrow::Table> plain_;
};

TEST_P(OutputTypesTest, AreTheSameValuesInEveryForm) {
  for (const StringOutput strings :
       {StringOutput::kUtf8, StringOutput::kLargeUtf8, StringOutput::kUtf8View, StringOutput::kDictionary}) {
    SCOPED_TRACE(static_cast<int>(strings));
    ParquetReadOptions options;
    options.strings = strings;
    ExpectSameValues(options);
  }
}

TEST_P(OutputTypesTest, DictionariesOfAnyColumnByName) {
  ParquetReadOptions options;
  options.dictionary_columns = {"few", "list.element", "group.number", "map.value", "number", "decimal", "time"};
  ExpectSameValues(options);
}

Layout With(void (*change)(Layout*)) {
  Layout layout;
  change(&layout);
  return layout;
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, OutputTypesTest,
    ::testing::Values(Layout{}, With([](Layout* l) { l->pages = ::parquet::ParquetDataPageVersion::V2; }),
                      With([](Layout* l) { l->dictionary_bytes = 100; }),  // given up after some pages
                      With([](Layout* l) {
                        l->dictionary_bytes = 60;
                        l->pages = ::parquet::ParquetDataPageVersion::V2;
                      }),
                      With([](Layout* l) { l->dictionary = false; }), With([](Layout* l) {
                        l->dictionary = false;
                        l->encoding = ::parquet::Encoding::DELTA_LENGTH_BYTE_ARRAY;
                      }),
                      With([](Layout* l) {
                        l->dictionary = false;
                        l->encoding = ::parquet::Encoding::DELTA_BYTE_ARRAY;
                      })));

TEST(OutputTypes, AreTheOnesAskedFor) {
  testing::RandomArrays arrays(3, {});
  const auto schema = MixedSchema();
  arrow::ArrayVector columns;
  for (const auto& f : schema->fields()) columns.push_back(arrays.Make(*f, 10));
  const auto bytes = Written(*arrow::Table::Make(schema, columns), {});
  const auto type_of = [&](const ParquetReadOptions& options, const std::string& name) {
    auto file = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x", options).ValueOrDie();
    const auto read = ReadWithCalve(bytes, options).ValueOrDie();
    EXPECT_TRUE(file->schema()->Equals(*read->schema(), false));
    return read->schema()->GetFieldByName(name)->type()->ToString();
  };
  ParquetReadOptions options;
  options.strings = StringOutput::kUtf8View;
  EXPECT_EQ(type_of(options, "few"), "string_view");
  EXPECT_EQ(type_of(options, "bytes"), "binary_view");
  EXPECT_EQ(type_of(options, "map"), "map<string_view, string_view>");
  EXPECT_EQ(type_of(options, "number"), "int64");
  options.strings = StringOutput::kLargeUtf8;
  EXPECT_EQ(type_of(options, "list"), "list<element: large_string>");
  options.strings = StringOutput::kDictionary;
  EXPECT_EQ(type_of(options, "bytes"), "dictionary<values=binary, indices=int32, ordered=0>");
  options.strings = StringOutput::kStored;
  options.dictionary_columns = {"decimal", "group.number", "flag"};
  EXPECT_EQ(type_of(options, "few"), "string");
  EXPECT_EQ(type_of(options, "decimal"), "dictionary<values=decimal128(20, 2), indices=int32, ordered=0>");
  EXPECT_EQ(type_of(options, "group"),
            "struct<text: string, number: dictionary<values=int32, indices=int32, ordered=0>>");
  EXPECT_EQ(type_of(options, "flag"), "dictionary<values=bool, indices=int32, ordered=0>");
}

TEST(OutputTypes, ADictionaryIsSharedByTheBatchesOfItsChunk) {
  arrow::StringBuilder builder;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(builder.Append(std::to_string(i % 9)).ok());
  const auto array = builder.Finish().ValueOrDie();
  const auto bytes = Written(*arrow::Table::Make(arrow::schema({field("s", arrow::utf8())}), {array}), {});
  ParquetReadOptions options;
  options.strings = StringOutput::kDictionary;
  options.batch_rows = 100;
  const auto table = ReadWithCalve(bytes, options).ValueOrDie();
  std::vector<const arrow::ArrayData*> dictionaries;
  for (const auto& chunk : table->column(0)->chunks()) {
    EXPECT_EQ(static_cast<const arrow::DictionaryArray&>(*chunk).dictionary()->length(), 9);
    dictionaries.push_back(chunk->data()->dictionary.get());
  }
  dictionaries.erase(std::unique(dictionaries.begin(), dictionaries.end()), dictionaries.end());
  EXPECT_EQ(dictionaries.size(), 3u) << "one a row group";
}

}  // namespace
}  // namespace calve::parquet
