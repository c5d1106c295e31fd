#include "calve/base/memory_budget.h"
#include "calve/parquet_reader.h"

#include "read_parquet.h"
#include "test_data.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/json/from_string.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <cstdlib>

// Faults that other readers shipped (docs/design/parquet-faults.md), as files that libparquet writes.

namespace calve {
namespace {

using arrow::field;
using testing::ExpectSameTable;
using testing::ReadWithCalve;

std::shared_ptr<arrow::Buffer> Written(const arrow::Table& table, ::parquet::WriterProperties::Builder& properties,
                                       int64_t group_rows = 1 << 20) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto status =
      ::parquet::arrow::WriteTable(table, arrow::default_memory_pool(), sink, group_rows, properties.build());
  EXPECT_TRUE(status.ok()) << status;
  return sink->Finish().ValueOrDie();
}

std::shared_ptr<arrow::Table> OneColumn(const std::shared_ptr<arrow::DataType>& type, const std::string& json,
                                        bool nullable = true) {
  return arrow::Table::Make(arrow::schema({field("x", type, nullable)}),
                            {arrow::json::ArrayFromJSONString(type, json).ValueOrDie()});
}

void ExpectReadBack(const std::shared_ptr<arrow::Table>& table) {
  using Version = ::parquet::ParquetDataPageVersion;
  for (const auto version : {Version::V1, Version::V2}) {
    for (const bool dictionary : {false, true}) {
      ::parquet::WriterProperties::Builder properties;
      properties.data_page_version(version);
      dictionary ? properties.enable_dictionary() : properties.disable_dictionary();
      const auto bytes = Written(*table, properties);
      for (const int64_t batch_rows : {1, 2, 100}) {
        ParquetReadOptions options;
        options.batch_rows = batch_rows;
        ExpectSameTable(ReadWithCalve(bytes, options), table);
      }
    }
  }
}

TEST(ParquetFaults, UnsignedValuesAboveTheSignedRange) {
  ExpectReadBack(OneColumn(arrow::uint32(), "[0, 2147483648, 4294967295, null, 2147483647]"));
  ExpectReadBack(OneColumn(arrow::uint64(), "[0, 9223372036854775808, 18446744073709551615, null, 1]"));
  ExpectReadBack(OneColumn(arrow::uint8(), "[0, 128, 255, null]"));
  ExpectReadBack(OneColumn(arrow::uint16(), "[0, 32768, 65535, null]"));
}

TEST(ParquetFaults, AStructOfNullsIsNoNullStruct) {
  const auto type = arrow::struct_({field("a", arrow::int32()), field("b", arrow::utf8())});
  ExpectReadBack(OneColumn(type, R"([{"a": null, "b": null}, null, {"a": 1, "b": null}, {"a": null, "b": "x"}])"));
  ExpectReadBack(OneColumn(arrow::list(field("element", type)),
                           R"([[{"a": null, "b": null}, null], [], null, [null], [{"a": null, "b": null}]])"));
}

TEST(ParquetFaults, NoRowIsAddedBehindThree) {
  // Bit-packed levels and indices come in groups of eight; what pads them is no row, and no zero.
  ExpectReadBack(OneColumn(arrow::int32(), "[1, 2, 3]"));
  ExpectReadBack(OneColumn(arrow::int32(), "[1, null, 3]"));
  ExpectReadBack(OneColumn(arrow::boolean(), "[true, null, true]"));
}

TEST(ParquetFaults, ALargeDictionaryValueAndSixHundredNulls) {
  arrow::StringBuilder builder;
  ASSERT_TRUE(builder.Append(std::string(4 << 20, 'x')).ok());
  ASSERT_TRUE(builder.AppendNulls(600).ok());
  const auto table = arrow::Table::Make(arrow::schema({field("x", arrow::utf8())}), {builder.Finish().ValueOrDie()});
  ::parquet::WriterProperties::Builder properties;
  // The dictionary holds the value although it is over the limit.
  const auto bytes = Written(*table, *properties.enable_dictionary()->dictionary_pagesize_limit(8 << 20));
  for (const int64_t batch_rows : {7, 1000}) {
    ParquetReadOptions options;
    options.batch_rows = batch_rows;
    MemoryBudget budget(arrow::default_memory_pool(), 0);
    Context context;
    context.pool = &budget;
    {
      const auto got = ReadWithCalve(std::make_shared<arrow::io::BufferReader>(bytes), options, {}, context);
      ExpectSameTable(got, table);
    }
    // The page, the dictionary, the value; not one of each for every batch or null.
    EXPECT_LT(budget.max_memory(), int64_t{64} << 20);
  }
}

TEST(ParquetFaults, MoreThanTwoGibibytesOfStrings) {
  if (!testing::LongTests()) GTEST_SKIP() << "copies 3 GB (set CALVE_LONG_TESTS)";
  constexpr int64_t kValue = 8 << 20, kRows = 360;
  arrow::StringDictionary32Builder dictionary;
  const std::string values[] = {std::string(kValue, 'a'), std::string(kValue, 'b')};
  for (int64_t i = 0; i < kRows; ++i) ASSERT_TRUE(dictionary.Append(values[i % 2]).ok());
  const auto array = dictionary.Finish().ValueOrDie();
  ::parquet::WriterProperties::Builder properties;
  properties.dictionary_pagesize_limit(int64_t{64} << 20)->compression(arrow::Compression::ZSTD);
  const auto bytes = Written(*arrow::Table::Make(arrow::schema({field("x", array->type())}), {array}), properties);
  ASSERT_LT(bytes->size(), 1 << 20);
  MemoryBudget budget(arrow::default_memory_pool(), 0);
  Context context;
  context.pool = &budget;
  auto file = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x", {}, context).ValueOrDie();
  auto reader = file->Read({0}, {0}).ValueOrDie();
  int64_t rows = 0;
  while (true) {
    const auto batch = reader->Next();
    ASSERT_TRUE(batch.ok()) << batch.status();
    if (*batch == nullptr) break;
    const auto& column = static_cast<const arrow::StringArray&>(*(*batch)->column(0));
    for (int64_t i = 0; i < column.length(); ++i, ++rows) {
      ASSERT_EQ(column.GetView(i), values[rows % 2]) << "row " << rows;
    }
  }
  EXPECT_EQ(rows, kRows);
  EXPECT_LT(budget.max_memory(), int64_t{512} << 20);
}

TEST(ParquetFaults, DeltaWithSparseNulls) {
  arrow::Int64Builder integers;
  arrow::StringBuilder texts;
  for (int i = 0; i < 1000; ++i) {
    const bool null = i % 97 == 13 || i >= 990;
    ASSERT_TRUE((null ? integers.AppendNull() : integers.Append(i * 3 - 50)).ok());
    ASSERT_TRUE((null ? texts.AppendNull() : texts.Append("value " + std::to_string(i % 40))).ok());
  }
  const auto table = arrow::Table::Make(arrow::schema({field("i", arrow::int64()), field("t", arrow::utf8())}),
                                        {integers.Finish().ValueOrDie(), texts.Finish().ValueOrDie()});
  ::parquet::WriterProperties::Builder properties;
  properties.disable_dictionary()->data_pagesize(512)->write_batch_size(64);
  properties.encoding("i", ::parquet::Encoding::DELTA_BINARY_PACKED);
  properties.encoding("t", ::parquet::Encoding::DELTA_BYTE_ARRAY);
  const auto bytes = Written(*table, properties);
  for (const int64_t batch_rows : {1, 33, 1000}) {
    ParquetReadOptions options;
    options.batch_rows = batch_rows;
    ExpectSameTable(ReadWithCalve(bytes, options), table);
  }
}

}  // namespace
}  // namespace calve
