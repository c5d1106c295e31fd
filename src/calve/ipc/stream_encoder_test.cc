#include "calve/ipc/stream_encoder.h"

#include "json_arrays.h"
#include "random_array.h"
#include "test_data.h"

#include <arrow/array/concatenate.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>
#include <arrow/extension_type.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <gtest/gtest.h>

#include <random>

namespace calve::ipc {
namespace {

using testing::Array;

std::shared_ptr<arrow::RecordBatch> OneColumn(const std::shared_ptr<arrow::Array>& array) {
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("c", array->type())}), array->length(), {array});
}

/// Arrow's reading of a stream that must hold exactly one batch.
std::shared_ptr<arrow::RecordBatch> ReadByArrow(std::span<const uint8_t> stream) {
  arrow::io::BufferReader input(arrow::Buffer::FromString(std::string(stream.begin(), stream.end())));
  auto reader = arrow::ipc::RecordBatchStreamReader::Open(&input);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return nullptr;
  auto batch = (*reader)->Next();
  EXPECT_TRUE(batch.ok()) << batch.status();
  if (!batch.ok() || *batch == nullptr) return nullptr;
  EXPECT_TRUE((*batch)->ValidateFull().ok()) << (*batch)->ValidateFull();
  EXPECT_EQ((*reader)->Next().ValueOrDie(), nullptr);
  EXPECT_EQ(*input.Tell(), static_cast<int64_t>(stream.size())) << "bytes after the end";
  return *batch;
}

std::shared_ptr<arrow::Array> Dense(std::shared_ptr<arrow::Array> array) {
  if (array->type_id() != arrow::Type::DICTIONARY) return array;
  const auto& type = static_cast<const arrow::DictionaryType&>(*array->type());
  return arrow::compute::Cast(*array, type.value_type()).ValueOrDie();
}

/// `rows` of `array`, value by value: no kernel of Arrow's takes every type.
void ExpectRows(const arrow::Array& got, const std::vector<std::pair<std::shared_ptr<arrow::Array>, uint32_t>>& rows) {
  ASSERT_EQ(got.length(), static_cast<int64_t>(rows.size()));
  const auto equal = arrow::EqualOptions::Defaults().nans_equal(true);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto expected = rows[i].first->GetScalar(rows[i].second).ValueOrDie();
    const auto actual = got.GetScalar(static_cast<int64_t>(i)).ValueOrDie();
    ASSERT_TRUE(actual->Equals(*expected, equal)) << got.type()->ToString() << " row " << i << ": "
                                                  << actual->ToString() << ", expected " << expected->ToString();
  }
}

/// Encodes chosen rows of `arrays` (one batch each) and has Arrow read them.
void CheckRows(const std::vector<std::shared_ptr<arrow::Array>>& arrays, const std::vector<std::vector<uint32_t>>& rows,
               StreamEncoder::Options options = {}) {
  SCOPED_TRACE(arrays[0]->type()->ToString());
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  std::vector<BatchRows> some;
  std::vector<std::pair<std::shared_ptr<arrow::Array>, uint32_t>> expected;
  for (size_t b = 0; b < arrays.size(); ++b) {
    batches.push_back(OneColumn(arrays[b]));
    some.push_back({batches[b].get(), rows[b].data(), static_cast<int64_t>(rows[b].size())});
    for (const uint32_t row : rows[b]) expected.push_back({Dense(arrays[b]), row});
  }
  auto encoder = StreamEncoder::Make(batches[0]->schema(), options, arrow::default_memory_pool());
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  for (int again = 0; again < 2; ++again) {
    const auto stream = (*encoder)->Encode(some);
    ASSERT_TRUE(stream.ok()) << stream.status();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(stream->data()) % 64, 0u);
    const auto batch = ReadByArrow(*stream);
    ASSERT_NE(batch, nullptr);
    ExpectRows(*Dense(batch->column(0)), expected);
  }
}

std::vector<uint32_t> AllRows(int64_t count) {
  std::vector<uint32_t> rows;
  for (int64_t i = 0; i < count; ++i) rows.push_back(static_cast<uint32_t>(i));
  return rows;
}

/// All rows, some, some backwards and twice, none; of the array, a slice, and both with another.
void CheckType(const std::shared_ptr<arrow::Array>& array) {
  const auto slice = array->Slice(1, array->length() - 2);
  CheckRows({array}, {AllRows(array->length())});
  CheckRows({slice}, {AllRows(slice->length())});
  CheckRows({array}, {{0}});
  CheckRows({array}, {{3, 3, 1, 0}});
  CheckRows({slice, array, slice}, {{1, 0}, {}, {0, 1}});
  CheckRows({array, slice}, {{0, 3}, {1}});
  const auto batch = OneColumn(slice);
  auto encoder = StreamEncoder::Make(batch->schema(), {}, arrow::default_memory_pool()).ValueOrDie();
  const BatchRows consecutive{batch.get(), nullptr, slice->length() - 1, 1};
  const auto read = ReadByArrow(encoder->Encode({&consecutive, 1}).ValueOrDie());
  ASSERT_NE(read, nullptr);
  std::vector<std::pair<std::shared_ptr<arrow::Array>, uint32_t>> expected;
  for (int64_t i = 1; i < slice->length(); ++i) expected.push_back({Dense(slice), static_cast<uint32_t>(i)});
  ExpectRows(*Dense(read->column(0)), expected);
}

TEST(StreamEncoder, FlatTypes) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const std::string numbers = "[1, null, 3, 4, 5, null]";
  for (const auto& type :
       {arrow::int8(), arrow::uint8(), arrow::int16(), arrow::uint16(), arrow::int32(), arrow::uint32(), arrow::int64(),
        arrow::uint64(), arrow::float32(), arrow::float64(), arrow::date32(), arrow::time32(arrow::TimeUnit::SECOND),
        arrow::time64(arrow::TimeUnit::NANO), arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"),
        arrow::duration(arrow::TimeUnit::MILLI), arrow::month_interval(), arrow::float16()}) {
    CheckType(Array(type, numbers));
  }
  CheckType(Array(arrow::boolean(), "[true, null, false, true, true]"));
  CheckType(Array(arrow::date64(), "[86400000, null, 0, 172800000, 0]"));
  CheckType(Array(arrow::decimal128(20, 2), R"(["1.25", null, "-7.00", "0.01", "2.00"])"));
  CheckType(Array(arrow::decimal256(50, 1), R"(["1.2", null, "-7.0", "0.1", "2.0"])"));
  CheckType(Array(arrow::fixed_size_binary(3), R"(["abc", null, "def", "ghi", "jkl"])"));
  CheckType(Array(arrow::day_time_interval(), "[[1, 2], null, [3, 4], [5, 6]]"));
  CheckType(Array(arrow::month_day_nano_interval(), "[[1, 2, 3], null, [3, 4, 5], [5, 6, 7]]"));
  CheckType(Array(arrow::null(), "[null, null, null, null]"));
}

TEST(StreamEncoder, TextAndViews) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const std::string text =
      R"(["a", null, "", "exactly sixteen.", "seventeen letters", "a text that is longer than any that lies in a view", "twelve bytes"])";
  for (const auto& type : {arrow::utf8(), arrow::binary(), arrow::large_utf8(), arrow::large_binary(),
                           arrow::utf8_view(), arrow::binary_view()}) {
    CheckType(Array(type, text));
  }
}

TEST(StreamEncoder, NestedTypes) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const std::string lists = R"([["a", null], null, [], ["b"], ["c", "d", "e"], [null]])";
  for (const auto& type : {arrow::list(arrow::utf8()), arrow::large_list(arrow::utf8()),
                           arrow::list_view(arrow::utf8()), arrow::large_list_view(arrow::utf8())}) {
    CheckType(Array(type, lists));
  }
  CheckType(Array(arrow::list(arrow::list(arrow::int32())), "[[[1], []], null, [null, [2, 3]], [[4]], []]"));
  CheckType(Array(arrow::fixed_size_list(arrow::int16(), 2), "[[1, 2], null, [3, null], [5, 6], [7, 8]]"));
  CheckType(Array(arrow::map(arrow::utf8(), arrow::int32()),
                  R"([[["k", 1]], null, [], [["a", 2], ["b", null]], [["c", 3]]])"));
  const auto row = arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("b", arrow::list(arrow::utf8()))});
  CheckType(Array(row, R"([[1, ["x"]], null, [null, []], [4, ["y", "z"]], [5, null]])"));
  const auto sliced = Array(row, R"([[0, null], [1, ["x"]], null, [null, []], [4, ["y", "z"]], [5, null]])")->Slice(1);
  CheckType(
      Array(arrow::struct_({arrow::field("deep", row)}), R"([[[1, ["x"]]], null, [null], [[4, []]], [[5, null]]])"));
  CheckType(sliced);
}

TEST(StreamEncoder, UnionsAndRunEnds) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const arrow::FieldVector fields = {arrow::field("i", arrow::int32()), arrow::field("s", arrow::utf8())};
  const std::string values = R"([[5, 1], [8, "a"], [8, null], [5, 4], [8, "b"], [5, null]])";
  CheckType(Array(arrow::dense_union(fields, {5, 8}), values));
  CheckType(Array(arrow::sparse_union(fields, {5, 8}), values));
  const auto plain = Array(arrow::utf8(), R"(["a", "a", null, null, "b", "b", "b", "a"])");
  for (const auto& type : {arrow::int16(), arrow::int32(), arrow::int64()}) {
    CheckType(arrow::compute::RunEndEncode(plain, arrow::compute::RunEndEncodeOptions(type)).ValueOrDie().make_array());
  }
}

TEST(StreamEncoder, RunsStayRuns) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto plain = Array(arrow::utf8(), R"(["a", "a", "a", "a", "b", "b"])");
  const auto batch = OneColumn(arrow::compute::RunEndEncode(plain).ValueOrDie().make_array());
  auto encoder = StreamEncoder::Make(batch->schema(), {}, arrow::default_memory_pool()).ValueOrDie();
  const std::vector<uint32_t> rows = {0, 2, 3, 5};
  const BatchRows some{batch.get(), rows.data(), 4};
  const auto read = ReadByArrow(encoder->Encode({&some, 1}).ValueOrDie());
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->column_data(0)->child_data[0]->length, 2);
}

TEST(StreamEncoder, DictionariesKeepOnlyWhatIsUsed) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  std::string json = "[";
  for (int i = 0; i < 4000; ++i) json += fmt::format("{}\"value number {} of a dictionary\"", i ? ", " : "", i % 40);
  const auto encoded = arrow::compute::DictionaryEncode(Array(arrow::utf8(), json + "]")).ValueOrDie().make_array();
  const auto batch = OneColumn(encoded);
  auto encoder = StreamEncoder::Make(batch->schema(), {}, arrow::default_memory_pool()).ValueOrDie();
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < 4000; ++i) {
    if (i % 40 < 5) rows.push_back(3999 - i);
  }
  const BatchRows some{batch.get(), rows.data(), static_cast<int64_t>(rows.size())};
  const auto read = ReadByArrow(encoder->Encode({&some, 1}).ValueOrDie());
  ASSERT_NE(read, nullptr);
  ASSERT_EQ(read->column(0)->type_id(), arrow::Type::DICTIONARY);
  EXPECT_EQ(static_cast<const arrow::DictionaryArray&>(*read->column(0)).dictionary()->length(), 5);
  CheckRows({encoded}, {rows});
  CheckRows({encoded}, {rows}, {.keep_dictionaries = false});
  // Few rows of a large dictionary are smaller as values.
  const BatchRows few{batch.get(), rows.data(), 3};
  EXPECT_EQ(ReadByArrow(encoder->Encode({&few, 1}).ValueOrDie())->column(0)->type_id(), arrow::Type::STRING);
  EXPECT_FALSE(encoder->has_dictionaries());
}

TEST(StreamEncoder, DictionariesOfEveryIndexTypeAndOfSeveralBatches) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  for (const auto& index : {arrow::int8(), arrow::uint8(), arrow::int16(), arrow::uint16(), arrow::int32(),
                            arrow::uint32(), arrow::int64(), arrow::uint64()}) {
    const auto type = arrow::dictionary(index, arrow::utf8());
    std::string entries = R"("a rather long text, so that keeping is better")";
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < 60; ++i) rows.push_back(i % 6);
    const auto indices = Array(index, "[0, 1, null, 2, 1, 0]");
    const auto first = arrow::DictionaryArray::FromArrays(
        type, indices,
        Array(arrow::utf8(), "[" + entries + R"(, "second, which is no shorter than the first one", null])"));
    const auto other = arrow::DictionaryArray::FromArrays(
        type, indices,
        Array(arrow::utf8(), R"(["another text, as long as those of the first", )" + entries + R"(, "c"])"));
    ASSERT_TRUE(first.ok() && other.ok());
    CheckRows({*first, *other, *first}, {rows, rows, rows});
    CheckRows({*first, *other}, {rows, rows}, {.keep_dictionaries = false});
  }
}

TEST(StreamEncoder, EqualTextsOfSeveralDictionariesAreOneEntry) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto type = arrow::dictionary(arrow::int32(), arrow::utf8());
  const auto indices = Array(arrow::int32(), "[0, 1]");
  const std::string a = R"("the first of the texts, of some length")",
                    b = R"("the second of the texts, of some length")";
  const auto first = arrow::DictionaryArray::FromArrays(type, indices, Array(arrow::utf8(), "[" + a + ", " + b + "]"));
  const auto other = arrow::DictionaryArray::FromArrays(type, indices, Array(arrow::utf8(), "[" + b + ", " + a + "]"));
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < 50; ++i) rows.push_back(i % 2);
  const auto one = OneColumn(*first), two = OneColumn(*other);
  auto encoder = StreamEncoder::Make(one->schema(), {}, arrow::default_memory_pool()).ValueOrDie();
  const BatchRows some[] = {{one.get(), rows.data(), 50}, {two.get(), rows.data(), 50}};
  const auto read = ReadByArrow(encoder->Encode(some).ValueOrDie());
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(static_cast<const arrow::DictionaryArray&>(*read->column(0)).dictionary()->length(), 2);
}

// Slices at every level, bytes under nulls, null lists over ranges that are not empty.
TEST(StreamEncoder, RandomRowsOfRandomArrays) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto row = arrow::struct_({arrow::field("a", arrow::utf8()), arrow::field("b", arrow::list(arrow::int64())),
                                   arrow::field("c", arrow::boolean())});
  const arrow::DataTypeVector types = {arrow::boolean(),
                                       arrow::int32(),
                                       arrow::float64(),
                                       arrow::decimal128(38, 4),
                                       arrow::utf8(),
                                       arrow::large_binary(),
                                       arrow::utf8_view(),
                                       arrow::fixed_size_binary(5),
                                       arrow::list(arrow::utf8()),
                                       arrow::large_list(row),
                                       row,
                                       arrow::map(arrow::utf8(), arrow::int32()),
                                       arrow::fixed_size_list(arrow::utf8(), 3),
                                       arrow::list(arrow::list(row))};
  const int rounds = testing::LongTests() ? 300 : 6;
  for (int seed = 0; seed < rounds; ++seed) {
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    testing::RandomArrays arrays(static_cast<uint64_t>(seed), {.null_probability = seed % 3 * 0.2});
    for (const auto& type : types) {
      std::vector<std::shared_ptr<arrow::Array>> batches;
      std::vector<std::vector<uint32_t>> rows;
      for (int batch = 0; batch < 3; ++batch) {
        batches.push_back(arrays.Make(*arrow::field("c", type), 40));
        rows.push_back({});
        for (uint32_t i = 0; i < 40; ++i) {
          if (random() % 3 == 0) rows.back().push_back(i);
        }
      }
      CheckRows(batches, rows);
    }
  }
}

// A dictionary column with more entries than its index type can number, from several batches, is written as values.
TEST(StreamEncoder, DictionariesThatOutgrowTheirIndexType) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  std::vector<std::vector<uint32_t>> rows;
  for (int batch = 0; batch < 3; ++batch) {
    std::string entries = "[", indices = "[";
    for (int i = 0; i < 100; ++i) {
      entries += fmt::format("{}\"entry {} of batch {}, long enough to be kept\"", i ? ", " : "", i, batch);
      indices += fmt::format("{}{}", i ? ", " : "", i);
    }
    arrays.push_back(arrow::DictionaryArray::FromArrays(type, Array(arrow::int8(), indices + "]"),
                                                        Array(arrow::utf8(), entries + "]"))
                         .ValueOrDie());
    rows.push_back({});
    for (uint32_t i = 0; i < 1000; ++i) rows.back().push_back(i % 100);
  }
  CheckRows(arrays, rows);
}

TEST(StreamEncoder, NestedDictionaries) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto inner = arrow::dictionary(arrow::int32(), arrow::utf8());
  const auto lists = arrow::list(inner);
  const auto values = Array(inner, R"(["a", "b", "a", null, "c"])");
  const auto array = arrow::ListArray::FromArrays(*Array(arrow::int32(), "[0, 2, 2, 3, 5]"), *values).ValueOrDie();
  const auto batch = OneColumn(array);
  auto encoder = StreamEncoder::Make(batch->schema(), {}, arrow::default_memory_pool()).ValueOrDie();
  const std::vector<uint32_t> rows = {3, 0};
  const BatchRows some{batch.get(), rows.data(), 2};
  const auto read = ReadByArrow(encoder->Encode({&some, 1}).ValueOrDie());
  ASSERT_NE(read, nullptr);
  const auto& read_lists = static_cast<const arrow::ListArray&>(*read->column(0));
  testing::ExpectArray(*read_lists.offsets(), arrow::int32(), "[0, 2, 4]");
  testing::ExpectArray(*Dense(read_lists.values()), arrow::utf8(), R"([null, "c", "a", "b"])");
  // Dictionaries of structs with dictionaries: the inner one comes first.
  const auto row = arrow::struct_({arrow::field("d", inner)});
  const auto entries = arrow::StructArray::Make({Array(inner, R"(["x", "y", "z"])")}, row->fields()).ValueOrDie();
  const auto outer = arrow::DictionaryArray::FromArrays(arrow::dictionary(arrow::int32(), row),
                                                        Array(arrow::int32(), "[2, 1, 2, null]"), entries)
                         .ValueOrDie();
  const auto outer_batch = OneColumn(outer);
  auto outer_encoder = StreamEncoder::Make(outer_batch->schema(), {}, arrow::default_memory_pool()).ValueOrDie();
  const BatchRows all{outer_batch.get(), nullptr, 4};
  const auto outer_read = ReadByArrow(outer_encoder->Encode({&all, 1}).ValueOrDie());
  ASSERT_NE(outer_read, nullptr);
  const auto& got = static_cast<const arrow::DictionaryArray&>(*outer_read->column(0));
  EXPECT_EQ(got.dictionary()->length(), 2);
  const auto& d =
      static_cast<const arrow::DictionaryArray&>(*static_cast<const arrow::StructArray&>(*got.dictionary()).field(0));
  EXPECT_EQ(static_cast<const arrow::StringArray&>(*d.dictionary()).GetString(d.GetValueIndex(got.GetValueIndex(0))),
            "z");
}

TEST(StreamEncoder, ValidityOfValidRowsIsLeftOut) {
  const auto batch = OneColumn(Array(arrow::int32(), "[1, null, 3]"));
  auto encoder = StreamEncoder::Make(batch->schema(), {}, arrow::default_memory_pool()).ValueOrDie();
  const std::vector<uint32_t> valid = {0, 2}, with_null = {0, 1};
  const BatchRows some{batch.get(), valid.data(), 2}, others{batch.get(), with_null.data(), 2};
  EXPECT_EQ(ReadByArrow(encoder->Encode({&some, 1}).ValueOrDie())->column_data(0)->buffers[0], nullptr);
  EXPECT_EQ(ReadByArrow(encoder->Encode({&others, 1}).ValueOrDie())->column(0)->null_count(), 1);
}

TEST(StreamEncoder, NoColumnsAndNoRows) {
  const auto empty = arrow::RecordBatch::Make(arrow::schema(arrow::FieldVector{}), 7, arrow::ArrayVector{});
  auto encoder = StreamEncoder::Make(empty->schema(), {}, arrow::default_memory_pool()).ValueOrDie();
  const BatchRows all{empty.get(), nullptr, 7};
  EXPECT_EQ(ReadByArrow(encoder->Encode({&all, 1}).ValueOrDie())->num_rows(), 7);
  const auto text = OneColumn(Array(arrow::utf8(), "[]"));
  auto text_encoder = StreamEncoder::Make(text->schema(), {}, arrow::default_memory_pool()).ValueOrDie();
  EXPECT_EQ(ReadByArrow(text_encoder->Encode({}).ValueOrDie())->num_rows(), 0);
}

// Specification: every message and every buffer on 64 bytes, metadata of fields left out.
TEST(StreamEncoder, LayoutAndMetadata) {
  const auto schema = arrow::schema({testing::IdField("a", arrow::int32(), 1), testing::IdField("b", arrow::utf8(), 2)},
                                    arrow::key_value_metadata({{"k", "v"}}));
  const auto batch = testing::Batch(schema, R"([[1, "x"], [2, null]])");
  auto encoder = StreamEncoder::Make(schema, {}, arrow::default_memory_pool()).ValueOrDie();
  const BatchRows all{batch.get(), nullptr, 2};
  const auto stream = encoder->Encode({&all, 1}).ValueOrDie();
  const auto read = ReadByArrow(stream);
  EXPECT_TRUE(read->schema()->Equals(*schema, false));
  EXPECT_EQ(read->schema()->metadata(), nullptr);
  EXPECT_EQ(read->schema()->field(0)->metadata(), nullptr);
  size_t at = 0;
  for (int message = 0; message < 2; ++message) {
    uint32_t words[2];
    std::memcpy(words, stream.data() + at, 8);
    EXPECT_EQ(words[0], 0xffffffffu);
    EXPECT_EQ((words[1] + 8) % 64, 0u);
    at += words[1] + 8;
  }
  EXPECT_EQ((stream.size() - at) % 64, 8u);  // the body, and the end marker
  ASSERT_EQ(encoder->offsets().size(), 1u);
  int32_t offsets[3];
  std::memcpy(offsets, stream.data() + encoder->offsets()[0].position, 12);
  EXPECT_EQ(encoder->offsets()[0].values, 3);
  EXPECT_EQ(offsets[2], 1);
}

}  // namespace
}  // namespace calve::ipc
