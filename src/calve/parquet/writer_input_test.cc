// Arrow arrays of all layouts. What is written must be what the plain layout of the same values is, read by libparquet.

#include "calve/parquet_writer.h"

#include "calve/parquet/geometry_type.h"
#include "calve/parquet/schema_writer.h"

#include "random_array.h"
#include "written_parquet.h"

#include <arrow/array/array_run_end.h>
#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <arrow/extension/parquet_variant.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/schema.h>

#include <random>

namespace calve {
namespace {

using arrow::field;
using testing::ExpectRoundTrip;
using testing::FromJson;
using testing::OneColumn;
using testing::RandomArrays;
using testing::WrittenParquet;

using ArrayPtr = std::shared_ptr<arrow::Array>;

ArrayPtr RunEnds(const std::string& ends, const ArrayPtr& values, int64_t length, int64_t offset = 0) {
  return arrow::RunEndEncodedArray::Make(length, FromJson(arrow::int32(), ends), values, offset).ValueOrDie();
}

/// `array`, written, is what `plain` is.
void ExpectSame(const ArrayPtr& array, const ArrayPtr& plain, const ParquetWriteOptions& options = {}) {
  const auto file = WrittenParquet::Make(arrow::schema({field("c", array->type())}), {OneColumn(array)}, options);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto table = file->Read().ValueOrDie();
  EXPECT_EQ(testing::CanonicalColumn(*table->column(0)),
            testing::CanonicalColumn(arrow::ChunkedArray(arrow::ArrayVector{plain})));
}

TEST(WriterInput, RunEndEncoded) {
  for (bool dictionary : {true, false}) {
    ParquetWriteOptions options;
    options.dictionary = dictionary;
    options.page_rows = 4;
    const auto text = RunEnds("[3, 4, 9]", FromJson(arrow::utf8(), R"(["a", null, "b"])"), 9);
    ExpectSame(text, FromJson(arrow::utf8(), R"(["a","a","a",null,"b","b","b","b","b"])"), options);
    ExpectSame(text->Slice(2, 4), FromJson(arrow::utf8(), R"(["a",null,"b","b"])"), options);
    ExpectSame(text->Slice(4, 0), FromJson(arrow::utf8(), "[]"), options);
    ExpectSame(RunEnds("[2, 5]", FromJson(arrow::boolean(), "[true, false]"), 5),
               FromJson(arrow::boolean(), "[true, true, false, false, false]"), options);
    ExpectSame(RunEnds("[2, 5]", FromJson(arrow::int32(), "[null, 4]"), 5),
               FromJson(arrow::int32(), "[null, null, 4, 4, 4]"), options);
    ExpectSame(RunEnds("[2]", FromJson(arrow::null(), "[null]"), 2), FromJson(arrow::null(), "[null, null]"), options);
  }
}

TEST(WriterInput, RunEndEncodedNested) {
  const auto lists = arrow::list(arrow::int32());
  ExpectSame(RunEnds("[2, 3, 4]", FromJson(lists, "[[1, null], null, []]"), 4),
             FromJson(lists, "[[1, null], [1, null], null, []]"));
  const auto runs = RunEnds("[2, 5]", FromJson(arrow::utf8(), R"(["x", null])"), 5);
  ExpectSame(arrow::ListArray::FromArrays(*FromJson(arrow::int32(), "[0, 1, 1, 4]"), *runs).ValueOrDie(),
             FromJson(arrow::list(arrow::utf8()), R"([["x"], [], ["x", null, null]])"));
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto dictionary = arrow::DictionaryArray::FromArrays(type, FromJson(arrow::int8(), "[1, null, 0]"),
                                                             FromJson(arrow::utf8(), R"(["p", "q"])"))
                              .ValueOrDie();
  ExpectSame(RunEnds("[1, 3, 4]", dictionary, 4), FromJson(arrow::utf8(), R"(["q", null, null, "p"])"));
}

ArrayPtr Coded(const std::string& indices, const ArrayPtr& values) {
  const auto type = arrow::dictionary(arrow::int16(), values->type());
  return arrow::DictionaryArray::FromArrays(type, FromJson(arrow::int16(), indices), values).ValueOrDie();
}

TEST(WriterInput, DictionariesOfNestedValues) {
  const auto lists = arrow::list(arrow::int32());
  const auto coded = Coded("[1, null, 0, 2, 1]", FromJson(lists, "[[1, null], [], null]"));
  ExpectSame(coded, FromJson(lists, "[[], null, [1, null], null, []]"));
  ExpectSame(coded->Slice(1, 3), FromJson(lists, "[null, [1, null], null]"));
  const auto pairs = arrow::struct_({field("a", arrow::utf8()), field("b", lists)});
  const std::string first = R"({"a": "x", "b": [1]})", second = R"({"a": null, "b": null})";
  ExpectSame(Coded("[0, 1, 0]", FromJson(pairs, "[" + first + "," + second + "]")),
             FromJson(pairs, "[" + first + "," + second + "," + first + "]"));
  // Inside a list, of dictionaries, and with runs of their indices.
  ExpectSame(arrow::ListArray::FromArrays(*FromJson(arrow::int32(), "[0, 2, 5]"), *coded).ValueOrDie(),
             FromJson(arrow::list(lists), "[[[], null], [[1, null], null, []]]"));
  const auto words = arrow::list(arrow::utf8());
  ExpectSame(Coded("[1, 0, 1]", Coded("[1, 0]", FromJson(words, R"([["p"], ["q", null]])"))),
             FromJson(words, R"([["p"], ["q", null], ["p"]])"));
  ExpectSame(RunEnds("[2, 5, 6]", coded->Slice(2, 3), 6),
             FromJson(lists, "[[1, null], [1, null], null, null, null, []]"));
  const auto bad = Coded("[0, 0]", FromJson(lists, "[[1]]"))->data()->Copy();
  bad->buffers[1] = arrow::Buffer::FromString(std::string("\0\0\x07\0", 4));
  const auto file = WrittenParquet::Make(arrow::schema({field("c", bad->type)}), {OneColumn(arrow::MakeArray(bad))});
  EXPECT_TRUE(file.status().IsIndexError()) << file.status();
  EXPECT_NE(file.status().ToString().find("column 'c"), std::string::npos) << file.status();
}

TEST(WriterInput, RunsStayRuns) {
  arrow::Int64Builder ends, values;
  for (int64_t i = 1; i <= 1000; ++i) ASSERT_TRUE(ends.Append(i * 1000).ok() && values.Append(i % 3 * 1000003).ok());
  const ArrayPtr array = arrow::RunEndEncodedArray::Make(1000000, *ends.Finish(), *values.Finish()).ValueOrDie();
  ParquetWriteOptions options;
  options.compression = ParquetCompression::kUncompressed;
  const auto file = WrittenParquet::Make(arrow::schema({field("c", array->type())}), {OneColumn(array)}, options);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_LT(file->bytes->size(), 12000);  // three bytes a run, pages and footer
}

TEST(WriterInput, ListViews) {
  // Out of order, shared, with bytes under a null.
  const auto values = FromJson(arrow::int32(), "[1, 2, 3, null, 5]");
  const auto expected = FromJson(arrow::list(arrow::int32()), "[[3, null], [1, 2], null, [], [2, 3], [5]]");
  const auto check = [&](const ArrayPtr& offsets, const ArrayPtr& sizes, const std::shared_ptr<arrow::DataType>& type) {
    const auto data = arrow::ArrayData::Make(
        type, 6, {arrow::Buffer::FromString("\x3B"), offsets->data()->buffers[1], sizes->data()->buffers[1]},
        {values->data()}, 1);
    const auto array = arrow::MakeArray(data);
    ExpectSame(array, expected);
    ExpectSame(array->Slice(1, 4), expected->Slice(1, 4));
  };
  const std::string offsets = "[2, 0, 1, 4, 1, 4]", sizes = "[2, 2, 3, 0, 2, 1]";
  check(FromJson(arrow::int32(), offsets), FromJson(arrow::int32(), sizes), arrow::list_view(arrow::int32()));
  check(FromJson(arrow::int64(), offsets), FromJson(arrow::int64(), sizes), arrow::large_list_view(arrow::int32()));
}

TEST(WriterInput, GeometryKeepsItsCoordinateSystem) {
  const auto kind_of = [](parquet::LogicalType::Kind kind, std::string crs, int algorithm) {
    parquet::LogicalType logical;
    logical.kind = kind;
    logical.crs = std::move(crs);
    logical.algorithm = algorithm;
    const auto type = parquet::GeometryType(logical, nullptr);
    const auto elements = parquet::ElementsFromArrow(*arrow::schema({field("g", type)})).ValueOrDie();
    const auto& written = elements.at(1).logical_type;
    EXPECT_EQ(written.kind, kind);
    EXPECT_EQ(written.algorithm, algorithm);
    return written.crs;
  };
  using Kind = parquet::LogicalType::Kind;
  EXPECT_EQ(kind_of(Kind::kGeometry, "", 0), "");
  EXPECT_EQ(kind_of(Kind::kGeometry, "EPSG:3857", 0), "EPSG:3857");
  EXPECT_EQ(kind_of(Kind::kGeography, "srid:4326", 2), "srid:4326");
  EXPECT_EQ(kind_of(Kind::kGeometry, R"({"type":"x"})", 0), R"({"type":"x"})");

  const auto type = parquet::GeometryType({.kind = Kind::kGeometry, .crs = "EPSG:3857"}, nullptr);
  auto data = FromJson(arrow::binary(), R"(["ab", null, "c"])")->data()->Copy();
  data->type = type;
  const auto file =
      WrittenParquet::Make(arrow::schema({field("c", type)}), {OneColumn(arrow::MakeArray(data))}).ValueOrDie();
  const auto logical = file.metadata()->schema()->Column(0)->logical_type();
  ASSERT_TRUE(logical->is_geometry());
  EXPECT_EQ(static_cast<const ::parquet::GeometryLogicalType&>(*logical).crs(), "EPSG:3857");
  EXPECT_FALSE(file.statistics() != nullptr && file.statistics()->HasMinMax());
}

TEST(WriterInput, VariantsAreAnnotated) {
  const auto storage =
      arrow::struct_({field("metadata", arrow::binary(), false), field("value", arrow::binary(), false)});
  const auto type = arrow::extension::variant(storage);
  auto data = FromJson(storage, R"([{"metadata": "m", "value": "v"}, null])")->data()->Copy();
  data->type = type;
  const auto file =
      WrittenParquet::Make(arrow::schema({field("c", type)}), {OneColumn(arrow::MakeArray(data))}).ValueOrDie();
  const auto& node = file.metadata()->schema()->group_node()->field(0);
  EXPECT_TRUE(node->logical_type()->is_variant()) << node->logical_type()->ToString();
}

TEST(WriterInput, ThreadsWriteTheSameBytes) {
  const auto schema = arrow::schema({field("a", arrow::list(arrow::struct_({field("x", arrow::utf8())}))),
                                     field("b", arrow::dictionary(arrow::int16(), arrow::int64())),
                                     field("c", arrow::struct_({field("y", arrow::boolean())})),
                                     field("d", arrow::decimal128(30, 2)), field("e", arrow::utf8_view())});
  RandomArrays arrays(21, {.null_probability = 0.3});
  arrow::ArrayVector columns;
  for (const auto& f : schema->fields()) columns.push_back(arrays.Make(*f, 40000));
  const testing::Batches batches(3, arrow::RecordBatch::Make(schema, 40000, columns));
  ParquetWriteOptions options;
  options.row_group_rows = 50000;
  std::shared_ptr<arrow::Buffer> expected;
  for (int threads : {1, 2, 5}) {
    Context context;
    context.threads = threads;
    const auto file = WrittenParquet::Make(schema, batches, options, context);
    ASSERT_TRUE(file.ok()) << file.status();
    if (expected == nullptr) expected = file->bytes;
    EXPECT_TRUE(file->bytes->Equals(*expected)) << threads;
  }
}

// Every slot once, in batches of many sizes and with rounds that end inside them.
TEST(WriterInput, LargeBatchesOfArrowDictionaries) {
  const auto type = arrow::dictionary(arrow::int32(), arrow::utf8());
  RandomArrays arrays(8, {.null_probability = 0.2, .distinct = 15});
  const auto f = field("c", type);
  ParquetWriteOptions options;
  options.row_group_rows = 70000;
  ExpectRoundTrip(arrow::schema({f}), {OneColumn(arrays.Make(*f, 150000)), OneColumn(arrays.Make(*f, 10))}, options);
}

/// Whether every data page of the only chunk is made of ids.
bool AllPagesAreIds(const WrittenParquet& file) {
  const auto chunk = file.metadata()->RowGroup(0)->ColumnChunk(0);
  for (const auto& stats : chunk->encoding_stats()) {
    const bool is_ids = stats.encoding == ::parquet::Encoding::RLE_DICTIONARY;
    if (stats.page_type == ::parquet::PageType::DATA_PAGE && !is_ids) return false;
  }
  return chunk->has_dictionary_page();
}

// 200 values of 100 bytes are more than 4 KiB. As runs of three they do not pay for a larger dictionary, as runs of
// twenty they do; an array of runs as much as one of strings.
TEST(WriterInput, LargerDictionaryOfFrequentValues) {
  for (const int64_t run : {3, 20}) {
    arrow::StringBuilder values, rows;
    arrow::Int32Builder ends;
    for (int64_t v = 0; v < 200; ++v) {
      const std::string value = std::to_string(1000 + v) + std::string(96, 'x');
      ASSERT_TRUE(values.Append(value).ok());
      ASSERT_TRUE(ends.Append(static_cast<int32_t>((v + 1) * run)).ok());
      for (int64_t i = 0; i < run; ++i) ASSERT_TRUE(rows.Append(value).ok());
    }
    const auto plain = rows.Finish().ValueOrDie();
    const auto runs =
        arrow::RunEndEncodedArray::Make(200 * run, ends.Finish().ValueOrDie(), values.Finish().ValueOrDie());
    ASSERT_TRUE(runs.ok()) << runs.status();
    const ParquetWriteOptions options{.page_rows = 100, .dictionary_bytes = 4096};
    for (const ArrayPtr& array : {plain, ArrayPtr(*runs)}) {
      ExpectSame(array, plain, options);
      const auto schema = arrow::schema({field("c", array->type())});
      const auto file = WrittenParquet::Make(schema, {OneColumn(array)}, options).ValueOrDie();
      EXPECT_EQ(AllPagesAreIds(file), run == 20) << run;
    }
  }
}

// Of what the dictionary has all values of: not of a chunk that fell back, nor of reals.
TEST(WriterInput, DistinctCounts) {
  const auto counts = [](const ArrayPtr& array, bool wanted, int64_t dictionary_bytes) {
    ParquetWriteOptions options{.page_rows = 5, .dictionary_bytes = dictionary_bytes};
    options.distinct_counts = wanted;
    const auto schema = arrow::schema({field("c", array->type())});
    const auto file = WrittenParquet::Make(schema, {OneColumn(array)}, options).ValueOrDie();
    const auto statistics = file.metadata()->RowGroup(0)->ColumnChunk(0)->statistics();
    return statistics->HasDistinctCount() ? statistics->distinct_count() : -1;
  };
  const auto words = FromJson(arrow::utf8(), R"(["a","a","b","a","b", null,null,null,null,null, "c","a","c","b","c"])");
  EXPECT_EQ(counts(words, true, 1000), 3);
  EXPECT_EQ(counts(words, false, 1000), -1);
  EXPECT_EQ(counts(words, true, 10), -1);
  EXPECT_EQ(counts(FromJson(arrow::int32(), "[7,7,7,8,7,8,8,8]"), true, 1000), 2);
  EXPECT_EQ(counts(FromJson(arrow::float64(), "[0.0,-0.0,0.0,-0.0,0.0,0.0]"), true, 1000), -1);
}

// Of a batch without values only the levels are looked at; what the batch before left is not.
TEST(WriterInput, BatchesWithoutValues) {
  const std::pair<std::shared_ptr<arrow::DataType>, std::string> cases[] = {
      {arrow::int32(), "[1, null, 3]"},
      {arrow::utf8(), R"(["a", null, "b"])"},
      {arrow::dictionary(arrow::int8(), arrow::utf8()), R"(["a", null, "b"])"},
      {arrow::list(arrow::int32()), "[[1, null], [], [2]]"},
      {arrow::struct_({field("x", arrow::int64(), false)}), R"([{"x": 1}, null, {"x": 2}])"},
  };
  for (const auto& [type, json] : cases) {
    const auto schema = arrow::schema({field("c", type)});
    for (const int64_t page_rows : {2, 100}) {
      std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
      for (const int64_t nulls : {0, 5, 0, 7, 9}) {
        const auto array = nulls == 0 ? FromJson(type, json) : arrow::MakeArrayOfNull(type, nulls).ValueOrDie();
        batches.push_back(arrow::RecordBatch::Make(schema, array->length(), {array}));
      }
      ExpectRoundTrip(schema, batches, {.page_rows = page_rows});
    }
  }
}

// Where it says nothing that Parquet's schema does not: libparquet has the same schema without.
TEST(WriterInput, NoArrowSchemaOfManyPlainFields) {
  const auto id = arrow::key_value_metadata({"PARQUET:field_id"}, {"7"});
  const arrow::FieldVector plain = {field("b", arrow::boolean()),
                                    field("i8", arrow::int8()),
                                    field("u16", arrow::uint16(), false),
                                    field("u32", arrow::uint32()),
                                    field("i64", arrow::int64())->WithMetadata(id),
                                    field("f", arrow::float32()),
                                    field("s", arrow::utf8()),
                                    field("y", arrow::binary(), false),
                                    field("x", arrow::fixed_size_binary(3)),
                                    field("d", arrow::date32())};
  const auto written = [&](int count, const std::shared_ptr<arrow::Field>& last) {
    arrow::FieldVector fields;
    for (int i = 0; i + 1 < count; ++i) {
      const auto& like = plain[static_cast<size_t>(i) % plain.size()];
      fields.push_back(like->WithName(like->name() + std::to_string(i)));
    }
    fields.push_back(last);
    return WrittenParquet::Make(arrow::schema(fields), {}, {}).ValueOrDie();
  };
  const auto has_schema = [](const WrittenParquet& file) {
    const auto pairs = file.metadata()->key_value_metadata();
    return pairs != nullptr && pairs->Contains("ARROW:schema");
  };
  EXPECT_TRUE(has_schema(written(255, plain[0])));
  EXPECT_TRUE(has_schema(written(256, field("l", arrow::large_utf8()))));
  EXPECT_TRUE(has_schema(written(256, plain[0]->WithMetadata(arrow::key_value_metadata({"k"}, {"v"})))));
  const auto file = written(256, plain[0]);
  EXPECT_FALSE(has_schema(file));
  std::shared_ptr<arrow::Schema> read;
  ASSERT_TRUE(::parquet::arrow::FromParquetSchema(file.metadata()->schema(), &read).ok());
  for (int i = 0; i < read->num_fields(); ++i) {
    const auto& like = i == 255 ? plain[0] : plain[static_cast<size_t>(i) % plain.size()];
    EXPECT_TRUE(read->field(i)->type()->Equals(like->type())) << read->field(i)->ToString();
    EXPECT_EQ(read->field(i)->nullable(), like->nullable());
  }
}

}  // namespace
}  // namespace calve
