#include "calve/parquet/arrow_schema.h"

#include "canonical_text.h"
#include "read_parquet.h"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <arrow/extension/bool8.h>
#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/extension/json.h>
#include <arrow/extension/opaque.h>
#include <arrow/extension/uuid.h>
#include <arrow/ipc/writer.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

// Files that libparquet wrote with ARROW:schema, read by both: schemas, their metadata, and values are the same.

namespace calve::parquet {
namespace {

using arrow::field;
using calve::testing::ExpectSameTable;
using calve::testing::ReadWithCalve;
using calve::testing::ReadWithLibparquet;
using ::testing::HasSubstr;

std::shared_ptr<arrow::Buffer> Write(const arrow::Table& table, bool int96 = false) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  ::parquet::ArrowWriterProperties::Builder arrow_properties;
  arrow_properties.store_schema();
  if (int96) arrow_properties.enable_deprecated_int96_timestamps();
  const Status status = ::parquet::arrow::WriteTable(table, arrow::default_memory_pool(), sink, 1000,
                                                     ::parquet::default_writer_properties(), arrow_properties.build());
  EXPECT_TRUE(status.ok()) << status;
  return sink->Finish().ValueOrDie();
}

std::shared_ptr<arrow::Table> TableOf(
    const std::vector<std::pair<std::shared_ptr<arrow::DataType>, std::string>>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [type, json] : columns) {
    auto array = arrow::json::ArrayFromJSONString(type, json);
    EXPECT_TRUE(array.ok()) << type->ToString() << array.status();
    fields.push_back(field("c" + std::to_string(fields.size()), type));
    arrays.push_back(array.ValueOrDie());
  }
  return arrow::Table::Make(arrow::schema(fields), arrays);
}

void ExpectAgrees(const arrow::Table& table) {
  const auto bytes = Write(table);
  const auto expected = ReadWithLibparquet(std::make_shared<arrow::io::BufferReader>(bytes));
  for (int64_t rows : {65536, 2}) {
    ParquetReadOptions options;
    options.batch_rows = rows;
    const auto got = ReadWithCalve(bytes, options);
    ASSERT_TRUE(expected.ok() && got.ok()) << expected.status() << got.status();
    EXPECT_TRUE((*got)->schema()->Equals(*(*expected)->schema(), false))
        << (*got)->schema()->ToString() << "\nexpected\n"
        << (*expected)->schema()->ToString();
    for (int i = 0; i < table.num_columns(); ++i) {
      SCOPED_TRACE(table.field(i)->ToString());
      EXPECT_TRUE((*got)->ValidateFull().ok()) << (*got)->ValidateFull();
      // Dictionaries of batches are their own: compare what they stand for.
      auto left = arrow::Concatenate((*got)->column(i)->chunks()),
           right = arrow::Concatenate((*expected)->column(i)->chunks());
      ASSERT_TRUE(left.ok() && right.ok()) << left.status() << right.status();
      EXPECT_EQ((*left)->length(), (*right)->length());
      for (int64_t row = 0; row < (*left)->length(); ++row) {
        EXPECT_EQ(calve::testing::CanonicalText(**left, row), calve::testing::CanonicalText(**right, row));
      }
    }
  }
}

TEST(ArrowSchema, TypesThatParquetLacks) {
  using namespace arrow;  // NOLINT
  ExpectAgrees(*TableOf({
      {duration(arrow::TimeUnit::SECOND), "[1, null, -3]"},
      {duration(arrow::TimeUnit::MILLI), "[1, null, -3]"},
      {duration(arrow::TimeUnit::MICRO), "[1, null, -3]"},
      {duration(arrow::TimeUnit::NANO), "[1, null, -3]"},
      {timestamp(arrow::TimeUnit::SECOND), "[1, null, -3]"},
      {timestamp(arrow::TimeUnit::SECOND, "Europe/Berlin"), "[1, null, -3]"},
      {timestamp(arrow::TimeUnit::MICRO, "America/New_York"), "[1, null, -3]"},
      {timestamp(arrow::TimeUnit::NANO, "+02:00"), "[1, null, -3]"},
      {timestamp(arrow::TimeUnit::NANO), "[1, null, -3]"},
      {date64(), "[86400000, null, 0]"},
      {time32(arrow::TimeUnit::SECOND), "[1, null, 3]"},
      {decimal32(5, 2), R"(["1.25", null, "-999.99"])"},
      {decimal64(15, 2), R"(["1.25", null, "-999.99"])"},
      {decimal256(5, 2), R"(["1.25", null, "-999.99"])"},
      {decimal256(50, 2), R"(["1.25", null, "-999.99"])"},
      {float16(), "[1.5, null, -3]"},
      {null(), "[null, null, null]"},
  }));
}

TEST(ArrowSchema, FormsOfTextAndBytes) {
  using namespace arrow;  // NOLINT
  const std::string text = R"(["a", null, "a string that is longer than a view holds"])";
  ExpectAgrees(*TableOf({{large_utf8(), text},
                         {large_binary(), text},
                         {utf8_view(), text},
                         {binary_view(), text},
                         {struct_({field("l", large_utf8()), field("v", utf8_view())}),
                          R"([{"l": "x", "v": null}, null, {"l": null, "v": "y"}])"}}));
}

TEST(ArrowSchema, Dictionaries) {
  using namespace arrow;  // NOLINT
  ExpectAgrees(*TableOf({{dictionary(int32(), utf8()), R"(["a", null, "b"])"},
                         {dictionary(int8(), utf8()), R"(["a", null, "a"])"},
                         {dictionary(uint16(), binary()), R"(["a", null, "a"])"},
                         {dictionary(int8(), utf8(), true), R"(["a", null, "a"])"},
                         {dictionary(int8(), int64()), "[5, null, 6]"}}));
  ExpectAgrees(*TableOf({{struct_({field("d", dictionary(int16(), utf8()))}), R"([{"d": "x"}, null, {"d": null}])"}}));
}

TEST(ArrowSchema, KindsOfLists) {
  using namespace arrow;  // NOLINT
  const std::string lists = "[[1, 2], null, [], [3]]", pairs = "[[1, 2], null, [3, null], [4, 5]]";
  ExpectAgrees(*TableOf({{large_list(int32()), lists},
                         {list_view(int32()), lists},
                         {large_list_view(int32()), lists},
                         {fixed_size_list(int32(), 2), pairs},
                         {fixed_size_list(large_utf8(), 1), R"([["a"], null, [null], ["b"]])"},
                         {list(fixed_size_list(int64(), 2)), "[[[1, 2], [3, 4]], null, [], [[5, 6]]]"},
                         {map(utf8(), large_utf8()), R"([[["k", "v"]], null, [], [["l", null]]])"},
                         {map(utf8(), int32(), true), R"([[["k", 1]], null, [], [["l", null]]])"}}));
}

TEST(ArrowSchema, PaddedElementsOfNullListsAreNull) {
  using namespace arrow;  // NOLINT
  const auto bytes = Write(*TableOf({{fixed_size_list(int32(), 2), "[null, [1, 2], null]"}}));
  const auto got = ReadWithCalve(bytes);
  ASSERT_TRUE(got.ok()) << got.status();
  const auto& lists = static_cast<const FixedSizeListArray&>(*(*got)->column(0)->chunk(0));
  EXPECT_EQ(lists.values()->ToString(), "[\n  null,\n  null,\n  1,\n  2,\n  null,\n  null\n]");
}

TEST(ArrowSchema, ExtensionTypes) {
  using namespace arrow;  // NOLINT
  const auto wrap = [](const std::shared_ptr<DataType>& type, const std::string& json) {
    const auto& storage = static_cast<const ExtensionType&>(*type).storage_type();
    return ExtensionType::WrapArray(type, json::ArrayFromJSONString(storage, json).ValueOrDie());
  };
  const auto tensor = extension::fixed_shape_tensor(int32(), {2});
  const ArrayVector arrays = {wrap(extension::bool8(), "[1, null]"),
                              wrap(extension::opaque(binary(), "type", "vendor"), R"(["x", null])"),
                              wrap(extension::uuid(), R"(["0123456789abcdef", null])"),
                              wrap(extension::json(), R"(["{}", null])"),
                              wrap(extension::json(large_utf8()), R"(["{}", null])"),
                              wrap(tensor, "[[1, 2], [3, 4]]")};
  FieldVector fields;
  for (const auto& array : arrays) fields.push_back(field("c" + std::to_string(fields.size()), array->type()));
  ExpectAgrees(*Table::Make(arrow::schema(fields), arrays));
}

TEST(ArrowSchema, MetadataOfFieldsAndOfTheSchema) {
  using namespace arrow;  // NOLINT
  const auto schema = arrow::schema(
      {field("x", int64(), true, key_value_metadata({"PARQUET:field_id", "k"}, {"7", "v"})),
       field("g", binary(), true, key_value_metadata({"ARROW:extension:name"}, {"some.type"})),
       field("s", struct_({field("a", list(field("item", int8(), true, key_value_metadata({"in"}, {"1"}))), true,
                                 key_value_metadata({"mid"}, {"2"}))}))},
      key_value_metadata({"m"}, {"n"}));
  const auto bytes = Write(*Table::MakeEmpty(schema).ValueOrDie());
  const auto file = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x").ValueOrDie();
  const auto expected = ReadWithLibparquet(std::make_shared<arrow::io::BufferReader>(bytes)).ValueOrDie();
  EXPECT_EQ(file->schema()->ToString(true), expected->schema()->ToString(true));
}

TEST(ArrowSchema, MayBeIgnored) {
  using namespace arrow;  // NOLINT
  ParquetReadOptions options;
  options.use_arrow_schema = false;
  const auto bytes = Write(*TableOf({{duration(arrow::TimeUnit::SECOND), "[1]"}, {large_utf8(), R"(["a"])"}}));
  ExpectSameTable(ReadWithCalve(bytes, options), TableOf({{int64(), "[1]"}, {utf8(), R"(["a"])"}}));
}

TEST(ArrowSchema, Int96KeepsItsUnit) {
  using namespace arrow;  // NOLINT
  const auto bytes = Write(*TableOf({{timestamp(arrow::TimeUnit::NANO), "[1999, null]"}}), true);
  ExpectSameTable(ReadWithCalve(bytes), TableOf({{timestamp(arrow::TimeUnit::MICRO), "[1, null]"}}));
}

// ---- schemas that lie

SchemaElement Root(int children) {
  SchemaElement root;
  root.name = "root";
  root.num_children = children;
  return root;
}

std::string Encoded(const arrow::Schema& schema) {
  return arrow::util::base64_encode(arrow::ipc::SerializeSchema(schema).ValueOrDie()->ToString());
}

/// The types of a file with one INT64 column "x" and one STRING column "t" that stores `schema`.
std::string TypesUnder(const std::string& stored) {
  SchemaElement x, t;
  x.name = "x";
  x.type = PhysicalType::kInt64;
  x.repetition = Repetition::kRequired;
  t.name = "t";
  t.type = PhysicalType::kByteArray;
  t.repetition = Repetition::kOptional;
  t.logical_type.kind = LogicalType::Kind::kString;
  const auto parsed = ParseArrowSchema(stored);
  const auto schema =
      FileSchema::Make({Root(2), x, t}, {}, parsed == nullptr ? arrow::FieldVector{} : parsed->fields());
  return schema.ok() ? schema->arrow_schema->ToString() : schema.status().ToString();
}

TEST(ArrowSchema, LiesAreIgnored) {
  using namespace arrow;  // NOLINT
  const std::string plain = "x: int64 not null\nt: string";
  EXPECT_EQ(TypesUnder(""), plain);
  EXPECT_EQ(TypesUnder("no base64 !"), plain);
  EXPECT_EQ(TypesUnder("AAAA"), plain);
  const auto under = [](FieldVector fields) { return TypesUnder(Encoded(*arrow::schema(std::move(fields)))); };
  EXPECT_EQ(under({field("x", duration(arrow::TimeUnit::SECOND)), field("t", large_utf8())}),
            "x: duration[s] not null\nt: large_string");
  EXPECT_EQ(under({field("x", duration(arrow::TimeUnit::SECOND))}), plain);                            // other columns
  EXPECT_EQ(under({field("t", large_utf8()), field("x", duration(arrow::TimeUnit::SECOND))}), plain);  // another order
  EXPECT_EQ(under({field("x", large_utf8()), field("t", duration(arrow::TimeUnit::SECOND))}), plain);  // other values
  EXPECT_EQ(under({field("x", int8()), field("t", large_binary())}), plain);
  EXPECT_EQ(under({field("x", struct_({field("x", int64())})), field("t", list(utf8()))}), plain);
  EXPECT_EQ(under({field("x", timestamp(arrow::TimeUnit::MICRO, "UTC")), field("t", dictionary(int8(), int64()))}),
            plain);
  EXPECT_EQ(under({field("x", extension::uuid()), field("t", extension::bool8())}), plain);
}

TEST(ArrowSchema, TruncatedAtEveryByte) {
  const std::string whole =
      Encoded(*arrow::schema({field("x", arrow::duration(arrow::TimeUnit::SECOND)), field("t", arrow::large_utf8())}));
  const std::string bytes = arrow::util::base64_decode(whole).ValueOrDie();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string types = TypesUnder(arrow::util::base64_encode(bytes.substr(0, size)));
    EXPECT_THAT(types, ::testing::StartsWith("x: ")) << size;
  }
}

TEST(ArrowSchema, ListsThatAreNotOfTheirFixedSize) {
  using namespace arrow;  // NOLINT
  // The lists are written as such, under a schema that promises two elements each.
  const auto lists = TableOf({{list(int32()), "[[1, 2], [3]]"}});
  const auto promised = arrow::schema({field("c0", fixed_size_list(int32(), 2))});
  const auto metadata = key_value_metadata({"ARROW:schema"}, {Encoded(*promised)});
  const auto got = ReadWithCalve(Write(*lists->ReplaceSchemaMetadata(metadata)));
  EXPECT_TRUE(got.status().IsInvalid()) << got.status();
  EXPECT_THAT(got.status().message(), HasSubstr("column 'c0': value 1 is a list of 1 elements, expected 2"));
}

TEST(ArrowSchema, RequiredFixedSizeListsBelowNullStructs) {
  using namespace arrow;  // NOLINT
  // Written as lists, of which a null struct has none: its slot has no elements, required or not.
  const auto over = [](const std::shared_ptr<DataType>& lists) {
    const auto inner = struct_({field("l", lists, false)});
    return struct_({field("l", lists, false), field("s", inner, false), field("t", inner)});
  };
  const std::string rows = R"([null, {"l": [1, 2], "s": {"l": [3, 4]}, "t": null}, null,
                               {"l": [5, 6], "s": {"l": [7, null]}, "t": {"l": [8, 9]}}])";
  const auto fixed = over(fixed_size_list(int32(), 2));
  const auto lists = TableOf({{over(list(int32())), rows}});
  const auto metadata = key_value_metadata({"ARROW:schema"}, {Encoded(*arrow::schema({field("c0", fixed)}))});
  const auto got = ReadWithCalve(Write(*lists->ReplaceSchemaMetadata(metadata)));
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_TRUE((*got)->ValidateFull().ok());
  const auto expected = arrow::json::ArrayFromJSONString(fixed, rows).ValueOrDie();
  EXPECT_TRUE((*got)->column(0)->Equals(ChunkedArray(expected))) << (*got)->ToString();
}

TEST(ArrowSchema, RunEnds) {
  using namespace arrow;  // NOLINT
  // libparquet writes no run-end encoded arrays; others do, as their values.
  const auto values = TableOf({{utf8(), R"(["a", "a", null, "b"])"}});
  const auto stored = arrow::schema({field("c0", run_end_encoded(int32(), utf8()))});
  const auto metadata = key_value_metadata({"ARROW:schema"}, {Encoded(*stored)});
  const auto got = ReadWithCalve(Write(*values->ReplaceSchemaMetadata(metadata)));
  ASSERT_TRUE(got.ok()) << got.status();
  const auto& array = static_cast<const RunEndEncodedArray&>(*(*got)->column(0)->chunk(0));
  EXPECT_EQ(array.length(), 4);
  EXPECT_EQ(array.run_ends()->ToString(), "[\n  2,\n  3,\n  4\n]");
}

}  // namespace
}  // namespace calve::parquet
