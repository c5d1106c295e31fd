#include "calve/parquet/batch_reader.h"

#include "calve/parquet/footer.h"

#include "calve/base/memory_budget.h"

#include "random_array.h"
#include "read_parquet.h"
#include "test_data.h"

#include <arrow/builder.h>
#include <arrow/json/from_string.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <numeric>

// Files that no writer makes: pages put together by hand, and limits that real data does not reach.

namespace calve::parquet {
namespace {

using arrow::field;
using testing::ExpectSameTable;

/// A file of one row group, its chunks made of hand-made pages.
class RawFile {
 public:
  RawFile(std::vector<SchemaElement> fields, int64_t num_rows) {
    SchemaElement root;
    root.name = "root";
    root.num_children = static_cast<int32_t>(fields.size());
    metadata.version = 1;
    metadata.num_rows = num_rows;
    metadata.schema = std::move(fields);
    metadata.schema.insert(metadata.schema.begin(), root);
    metadata.row_groups.emplace_back().num_rows = num_rows;
  }

  void BeginChunk(PhysicalType type, int64_t num_values) {
    ColumnMetadata& column = metadata.row_groups[0].columns.emplace_back().metadata.emplace();
    column.type = type;
    column.encodings = {Encoding::kPlain, Encoding::kRle};
    column.num_values = num_values;
    column.data_page_offset = static_cast<int64_t>(bytes_.size());
  }
  void AddPage(const std::string& body, int32_t num_values, Encoding encoding = Encoding::kPlain,
               Encoding levels = Encoding::kRle) {
    PageHeader header;
    header.compressed_page_size = header.uncompressed_page_size = static_cast<int32_t>(body.size());
    header.data_page = DataPageHeader{num_values, encoding, levels, levels, {}};
    Append(header, body);
  }
  void AddDictionary(const std::string& body, int32_t num_values) {
    PageHeader header;
    header.type = PageType::kDictionaryPage;
    header.compressed_page_size = header.uncompressed_page_size = static_cast<int32_t>(body.size());
    header.dictionary_page = DictionaryPageHeader{num_values, Encoding::kPlain, false};
    Append(header, body);
  }
  std::shared_ptr<arrow::Buffer> Finish() const {
    const std::string footer = Serialize(metadata);
    const uint32_t size = static_cast<uint32_t>(footer.size());
    return arrow::Buffer::FromString(bytes_ + footer + std::string(reinterpret_cast<const char*>(&size), 4) + "PAR1");
  }
  std::string error() const {
    const auto got = testing::ReadWithCalve(Finish());
    return got.ok() ? "ok" : got.status().message();
  }

  FileMetadata metadata;

 private:
  void Append(const PageHeader& header, const std::string& body) {
    const std::string page = Serialize(header) + body;
    bytes_ += page;
    metadata.row_groups[0].columns.back().metadata->total_compressed_size += static_cast<int64_t>(page.size());
    metadata.row_groups[0].columns.back().metadata->total_uncompressed_size += static_cast<int64_t>(page.size());
  }
  std::string bytes_ = "PAR1";
};

SchemaElement Leaf(std::string name, PhysicalType type, Repetition repetition = Repetition::kRequired) {
  SchemaElement element;
  element.name = std::move(name);
  element.type = type;
  element.repetition = repetition;
  return element;
}

std::string Ints(std::initializer_list<int32_t> values) {
  return {reinterpret_cast<const char*>(std::data(values)), values.size() * 4};
}

RawFile OneIntColumn(int64_t num_rows, int64_t num_values, Repetition repetition = Repetition::kRequired) {
  RawFile file({Leaf("a", PhysicalType::kInt32, repetition)}, num_rows);
  file.BeginChunk(PhysicalType::kInt32, num_values);
  return file;
}

TEST(ParquetFile, DeprecatedBitPackedLevels) {
  RawFile file = OneIntColumn(10, 10, Repetition::kOptional);
  file.AddPage(std::string("\xB6\x40", 2) + Ints({1, 2, 3, 4, 5, 6}), 10, Encoding::kPlain, Encoding::kBitPacked);
  auto got = testing::ReadWithCalve(file.Finish());
  ASSERT_TRUE(got.ok()) << got.status();
  auto expected = arrow::json::ArrayFromJSONString(arrow::int32(), "[1, null, 2, 3, null, 4, 5, null, null, 6]");
  EXPECT_TRUE((*got)->column(0)->chunk(0)->Equals(*expected)) << (*got)->ToString();
}

/// Repeated ints, rows [1, 2, 3], [], [4]: the first row goes over three pages. One level of each kind, in runs.
RawFile RowsOverPages() {
  RawFile file = OneIntColumn(3, 5, Repetition::kRepeated);
  const auto levels = [](char repetition, char definition, int count) {
    const char runs[] = {2, 0, 0, 0, static_cast<char>(count << 1), repetition,
                         2, 0, 0, 0, static_cast<char>(count << 1), definition};
    return std::string(runs, sizeof(runs));
  };
  file.AddPage(levels(0, 1, 1) + Ints({1}), 1);
  file.AddPage(levels(1, 1, 1) + Ints({2}), 1);
  file.AddPage(levels(1, 1, 1) + Ints({3}), 1);
  file.AddPage(levels(0, 0, 1), 1);
  file.AddPage(levels(0, 1, 1) + Ints({4}), 1);
  return file;
}

TEST(ParquetFile, RowsThatSpanPages) {
  RawFile file = RowsOverPages();
  for (int64_t batch_rows : {1, 2, 3}) {
    ParquetReadOptions options;
    options.batch_rows = batch_rows;
    auto got = testing::ReadWithCalve(file.Finish(), options);
    ASSERT_TRUE(got.ok()) << got.status();
    auto expected = arrow::json::ArrayFromJSONString((*got)->field(0)->type(), "[[1, 2, 3], [], [4]]");
    EXPECT_TRUE((*got)->column(0)->Equals(arrow::ChunkedArray(*expected))) << (*got)->ToString();
  }
}

TEST(ParquetFile, RowsThatSpanPagesArePassedOver) {
  const auto bytes = RowsOverPages().Finish();
  const auto file = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x.parquet").ValueOrDie();
  const std::pair<std::vector<RowRange>, const char*> cases[] = {
      {{{1, 3}}, "[[], [4]]"}, {{{2, 3}}, "[[4]]"}, {{{0, 1}, {2, 3}}, "[[1, 2, 3], [4]]"}, {{{1, 2}}, "[[]]"}};
  for (const auto& [rows, json] : cases) {
    ParquetReadRequest request;
    request.leaves = {0};
    request.rows = rows;
    const auto batch = file->Read(request).ValueOrDie()->Next().ValueOrDie();
    const auto expected = arrow::json::ArrayFromJSONString(batch->schema()->field(0)->type(), json).ValueOrDie();
    EXPECT_TRUE(batch->column(0)->Equals(*expected)) << batch->ToString() << json;
  }
}

TEST(ParquetFile, ErrorsSayWhere) {
  RawFile file({Leaf("ok", PhysicalType::kInt32), Leaf("a.b", PhysicalType::kInt32)}, 3);
  file.BeginChunk(PhysicalType::kInt32, 3);
  file.AddPage(Ints({1, 2, 3}), 3);
  file.BeginChunk(PhysicalType::kInt32, 3);
  file.AddDictionary(Ints({7, 8}), 2);
  file.AddPage(std::string("\x03\x06\x05", 3), 3, Encoding::kRleDictionary);
  EXPECT_THAT(file.error(),
              ::testing::MatchesRegex("x.parquet: column 'a.b': row group 0: page 1 at byte [0-9]+: dictionary "
                                      "index 5 out of range \\(dictionary has 2 values\\)"));
}

TEST(ParquetFile, RefusesRowsThatDoNotAddUp) {
  RawFile few = OneIntColumn(3, 2);
  few.AddPage(Ints({1, 2}), 2);
  EXPECT_EQ(few.error(), "x.parquet: column 'a': row group 0: the column chunk has 2 values, the row group 3 rows");
  RawFile many = OneIntColumn(3, 4, Repetition::kRepeated);
  // Four rows of one value each.
  many.AddPage(std::string("\2\0\0\0\x08\0\2\0\0\0\x08\1", 12) + Ints({1, 2, 3, 4}), 4);
  EXPECT_EQ(many.error(), "x.parquet: column 'a': row group 0: the column chunk has more rows than the row group");
  RawFile fewer = OneIntColumn(3, 4, Repetition::kRepeated);
  // Rows [1], [2, 3, 4].
  fewer.AddPage(std::string("\3\0\0\0\x03\x0C\0\2\0\0\0\x08\1", 13) + Ints({1, 2, 3, 4}), 4);
  EXPECT_EQ(fewer.error(), "x.parquet: column 'a': row group 0: the column chunk ends before its rows do");
  RawFile middle = OneIntColumn(1, 1, Repetition::kRepeated);
  middle.AddPage(std::string("\2\0\0\0\x02\1\2\0\0\0\x02\1", 12) + Ints({1}), 1);
  EXPECT_EQ(middle.error(),
            "x.parquet: column 'a': row group 0: page 0 at byte 4: a row begins with repetition level 1");
}

TEST(ParquetFile, RefusesValuesInARowGroupWithoutRows) {
  for (const Repetition repetition : {Repetition::kRequired, Repetition::kOptional, Repetition::kRepeated}) {
    RawFile file = OneIntColumn(0, 1, repetition);
    file.AddPage(Ints({1}), 1);
    EXPECT_EQ(file.error(), "x.parquet: column 'a': row group 0: the column chunk has 1 values, the row group no rows");
    EXPECT_EQ(OneIntColumn(0, 0, repetition).error(), "ok");
  }
}

TEST(ParquetFile, RefusesDictionariesOutOfPlace) {
  RawFile twice = OneIntColumn(1, 1);
  twice.AddDictionary(Ints({7}), 1);
  twice.AddDictionary(Ints({7}), 1);
  EXPECT_THAT(twice.error(), ::testing::EndsWith("a second dictionary page"));
  RawFile late = OneIntColumn(2, 2);
  late.AddPage(Ints({1}), 1);
  late.AddDictionary(Ints({7}), 1);
  EXPECT_THAT(late.error(), ::testing::EndsWith("a dictionary page behind a data page"));
}

TEST(ParquetFile, RefusesChunksOutsideTheFile) {
  RawFile file = OneIntColumn(1, 1);
  file.AddPage(Ints({1}), 1);
  ColumnMetadata& column = *file.metadata.row_groups[0].columns[0].metadata;
  const int64_t size = column.total_compressed_size;
  for (int64_t offset : {int64_t{-1}, int64_t{0}, int64_t{5}, int64_t{1} << 40, std::numeric_limits<int64_t>::max()}) {
    column.data_page_offset = offset;
    EXPECT_THAT(file.error(), ::testing::HasSubstr("does not lie before the footer")) << offset;
  }
  column.data_page_offset = 4;
  for (int64_t lie : {int64_t{-1}, size + 1, std::numeric_limits<int64_t>::max()}) {
    column.total_compressed_size = lie;
    EXPECT_THAT(file.error(), ::testing::HasSubstr("does not lie before the footer")) << lie;
  }
}

TEST(ParquetFile, RefusesWhatItCannotDecodeByName) {
  RawFile file = OneIntColumn(1, 1);
  file.AddPage(Ints({1}), 1);
  ColumnChunk& chunk = file.metadata.row_groups[0].columns[0];
  chunk.metadata->codec = CompressionCodec::kLzo;
  EXPECT_EQ(file.error(), "x.parquet: column 'a': row group 0: compression codec LZO (3)");
  chunk.metadata->codec = CompressionCodec::kUncompressed;
  chunk.metadata->encodings = {Encoding::kAlp};
  EXPECT_EQ(file.error(), "x.parquet: column 'a': row group 0: encoding ALP");
  chunk.metadata->encodings = {static_cast<Encoding>(11)};
  EXPECT_EQ(file.error(), "x.parquet: column 'a': row group 0: encoding 11");
  chunk.metadata->encodings.clear();
  chunk.file_path = "other.parquet";
  EXPECT_EQ(file.error(), "x.parquet: column 'a': row group 0: column chunk in another file ('other.parquet')");
  chunk.file_path.reset();
  chunk.metadata->type = PhysicalType::kInt64;
  EXPECT_EQ(file.error(),
            "x.parquet: column 'a': row group 0: the column chunk is of type INT64, the schema says INT32");
  file.metadata.row_groups[0].columns.clear();
  EXPECT_EQ(file.error(), "x.parquet: row group 0 has 0 column chunks, the schema has 1 columns");
}

TEST(ParquetFile, RefusesWhatIsNoFile) {
  const auto error = [](const std::string& bytes) {
    return testing::ReadWithCalve(arrow::Buffer::FromString(bytes)).status().message();
  };
  EXPECT_EQ(error(""), "x.parquet: no Parquet file: 0 bytes");
  EXPECT_EQ(error("PAR1PAR1"), "x.parquet: no Parquet file: 8 bytes");
  EXPECT_EQ(error("hello, this is no Parquet file"),
            "x.parquet: no Parquet file, or one cut short: it does not end with PAR1");
  EXPECT_EQ(error(std::string("PAR1\xff\xff\0\0PAR1", 12)), "x.parquet: a footer of 65535 bytes in a file of 12");
  EXPECT_EQ(error(std::string("PAR1\0\0\0\0PARE", 12)),
            "x.parquet: footer at byte 4: encrypted Parquet file, and no keys were given");
}

TEST(ParquetFile, ValuesThatTheTypeCannotHold) {
  SchemaElement element = Leaf("a", PhysicalType::kInt32);
  element.converted_type = ConvertedType::kInt8;
  RawFile narrow({element}, 1);
  narrow.BeginChunk(PhysicalType::kInt32, 1);
  narrow.AddPage(Ints({300}), 1);
  EXPECT_EQ(narrow.error(),
            "x.parquet: column 'a': row group 0: page 0 at byte 4: value 300 does not fit an INTEGER of 8 bits");
  element = Leaf("a", PhysicalType::kInt32);
  element.logical_type.kind = LogicalType::Kind::kUnknown;
  RawFile unknown({element}, 1);
  unknown.BeginChunk(PhysicalType::kInt32, 1);
  unknown.AddPage(Ints({1}), 1);
  EXPECT_THAT(unknown.error(), ::testing::EndsWith("a value in a column of type UNKNOWN, which holds nulls only"));
}

// Limits.

std::shared_ptr<arrow::Buffer> WriteTable(const arrow::Table& table) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  EXPECT_TRUE(::parquet::arrow::WriteTable(table, arrow::default_memory_pool(), sink, table.num_rows()).ok());
  return sink->Finish().ValueOrDie();
}

std::shared_ptr<OpenFile> Open(const std::shared_ptr<arrow::Buffer>& bytes, int64_t batch_rows = 65536) {
  auto open = std::make_shared<OpenFile>();
  open->file = std::make_shared<arrow::io::BufferReader>(bytes);
  open->footer = Footer::Read(open->file.get()).ValueOrDie();
  open->options.batch_rows = batch_rows;
  return open;
}

Result<std::vector<std::shared_ptr<arrow::RecordBatch>>> ReadLimited(const OpenFile& file, const BatchLimits& limits) {
  std::vector<int> leaves(file.footer->num_columns());
  std::iota(leaves.begin(), leaves.end(), 0);
  ARROW_ASSIGN_OR_RAISE(auto reader, BatchReader::Make(file, leaves, {0}, limits));
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
    if (batch == nullptr) return batches;
    EXPECT_TRUE(batch->ValidateFull().ok()) << batch->ValidateFull();
    batches.push_back(std::move(batch));
  }
}

TEST(BatchLimits, CutBatchesKeepEveryRow) {
  const auto schema = arrow::schema(
      {field("i", arrow::int64()), field("s", arrow::utf8()), field("t", arrow::binary(), false),
       field("l",
             arrow::list(field("element", arrow::struct_({field("x", arrow::int32()), field("y", arrow::utf8())})))),
       field("st", arrow::struct_({field("a", arrow::utf8()), field("b", arrow::boolean())})),
       field("m", arrow::map(arrow::utf8(), arrow::decimal128(20, 1)))});
  testing::RandomArrays arrays(3, {.null_probability = 0.2});
  arrow::ArrayVector columns;
  for (const auto& f : schema->fields()) columns.push_back(arrays.Make(*f, 5000));
  const auto table = arrow::Table::Make(schema, columns, 5000);
  const auto file = Open(WriteTable(*table));
  for (int64_t soft : {1, 10, 300, 5000}) {
    for (int64_t levels : {1, 50, 1 << 20}) {
      SCOPED_TRACE(fmt::format("soft {} levels {}", soft, levels));
      auto batches = ReadLimited(*file, {soft, 1 << 20, levels});
      ASSERT_TRUE(batches.ok()) << batches.status();
      EXPECT_GT(batches->size(), 3u);
      ExpectSameTable(arrow::Table::FromRecordBatches((*batches)[0]->schema(), *batches), table);
    }
  }
}

TEST(BatchLimits, ARowLargerThanTheHardLimitIsRefused) {
  auto array =
      arrow::json::ArrayFromJSONString(arrow::list(arrow::utf8()), R"([["a"], ["bbbb", "cccc", "dddd"]])").ValueOrDie();
  const auto table = arrow::Table::Make(arrow::schema({field("l", array->type())}), {array});
  const auto file = Open(WriteTable(*table));
  EXPECT_EQ(ReadLimited(*file, {2, 12, 100})->size(), 2u);
  const auto refused = ReadLimited(*file, {2, 11, 100}).status();
  EXPECT_TRUE(refused.IsNotImplemented());
  EXPECT_THAT(refused.message(), ::testing::EndsWith("a row of more than 11 bytes of byte arrays"));
}

TEST(BatchLimits, ALargeDictionaryValueAndManyRows) {
  // A value of 4 MB in 1 of 3 rows: 800 MB of strings in a small file (a third of that in a quick run).
  const int64_t all_rows = testing::LongTests() ? 600 : 240;
  arrow::StringBuilder builder;
  const std::string large(4 << 20, 'x');
  for (int64_t i = 0; i < all_rows; ++i) ASSERT_TRUE((i % 3 == 0 ? builder.Append(large) : builder.AppendNull()).ok());
  const auto array = builder.Finish().ValueOrDie();
  const auto bytes = WriteTable(*arrow::Table::Make(arrow::schema({field("s", arrow::utf8())}), {array}));
  ASSERT_LT(bytes->size(), 16 << 20);
  for (const int threads : {1, 2}) {
    SCOPED_TRACE(fmt::format("{} threads", threads));
    MemoryBudget budget(arrow::default_memory_pool(), 0);
    auto file = Open(bytes);
    file->context.pool = &budget;
    file->context.threads = threads;
    auto reader = BatchReader::Make(*file, {0}, {0}).ValueOrDie();
    int64_t rows = 0;
    for (auto batch = reader->Next(); batch.ok() && *batch != nullptr; batch = reader->Next()) {
      EXPECT_TRUE((*batch)->column(0)->Equals(array->Slice(rows, (*batch)->num_rows())));
      rows += (*batch)->num_rows();
    }
    EXPECT_EQ(rows, all_rows);
    // Three times the soft limit, 64 MiB: the batch before, the one being read, and its growth. A second thread may
    // have one more batch ready. Each ends with the value that reaches the limit.
    EXPECT_LT(budget.max_memory(), int64_t{200 + 68 * (threads - 1)} << 20);
  }
}

TEST(BatchLimits, MemoryIsFlatOverBatches) {
  const auto schema = arrow::schema({field("i", arrow::int64()), field("s", arrow::utf8()),
                                     field("l", arrow::list(field("element", arrow::int32())))});
  testing::RandomArrays arrays(3, {.null_probability = 0.2});
  arrow::ArrayVector columns;
  for (const auto& f : schema->fields()) columns.push_back(arrays.Make(*f, 400000));
  auto file = Open(WriteTable(*arrow::Table::Make(schema, columns, 400000)), 1000);
  MemoryBudget budget(arrow::default_memory_pool(), 0);
  file->context.pool = &budget;
  auto reader = BatchReader::Make(*file, {0, 1, 2}, {0}).ValueOrDie();
  int64_t early_peak = 0, batches = 0;
  for (auto batch = reader->Next(); batch.ok() && *batch != nullptr; batch = reader->Next()) {
    if (++batches == 50) early_peak = budget.max_memory();
  }
  EXPECT_EQ(batches, 400);
  EXPECT_LT(budget.max_memory(), early_peak + (4 << 20));
  EXPECT_LT(budget.max_memory(), 16 << 20);
}

}  // namespace
}  // namespace calve::parquet
