// What the writer writes, the reader reads: the two sides of this module against each other. Each of them alone is
// tested against libparquet.

#include "calve/parquet_reader.h"
#include "calve/parquet_writer.h"

#include "random_array.h"
#include "written_parquet.h"

#include <arrow/record_batch.h>
#include <fmt/format.h>

namespace calve {
namespace {

using arrow::field;
using testing::Batches;
using testing::RandomArrays;
using testing::WrittenParquet;

void ExpectOwnRoundTrip(const std::shared_ptr<arrow::Schema>& schema, const Batches& batches,
                        const ParquetWriteOptions& options) {
  auto written = WrittenParquet::Make(schema, batches, options);
  ASSERT_TRUE(written.ok()) << written.status();
  ParquetReadOptions read_options;
  read_options.batch_rows = 37;
  read_options.verify_crc = true;
  auto reader = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(written->bytes), "x", read_options);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->num_rows(), written->summary.rows);
  auto rows = (*reader)->ReadAll();
  ASSERT_TRUE(rows.ok()) << rows.status();
  auto table = (*rows)->ToTable();
  ASSERT_TRUE(table.ok()) << table.status();
  const auto expected = arrow::Table::FromRecordBatches(schema, batches).ValueOrDie();
  for (int c = 0; c < schema->num_fields(); ++c) {
    const auto want = testing::CanonicalColumn(*expected->column(c)),
               got = testing::CanonicalColumn(*(*table)->column(c));
    ASSERT_EQ(want.size(), got.size());
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(want[i], got[i]) << "column " << schema->field(c)->ToString() << " row " << i;
    }
  }
}

std::shared_ptr<arrow::DataType> TypeOfDepth(std::mt19937_64* random, int depth) {
  const auto pick = [&](uint64_t count) { return (*random)() % count; };
  if (depth == 0) {
    const std::shared_ptr<arrow::DataType> leaves[] = {arrow::int8(),
                                                       arrow::uint32(),
                                                       arrow::int64(),
                                                       arrow::boolean(),
                                                       arrow::float32(),
                                                       arrow::float16(),
                                                       arrow::utf8(),
                                                       arrow::binary(),
                                                       arrow::decimal128(7, 2),
                                                       arrow::decimal128(30, 4),
                                                       arrow::date32(),
                                                       arrow::float64(),
                                                       arrow::utf8_view(),
                                                       arrow::fixed_size_binary(5),
                                                       arrow::null(),
                                                       arrow::timestamp(arrow::TimeUnit::NANO, "UTC"),
                                                       arrow::time64(arrow::TimeUnit::MICRO),
                                                       arrow::dictionary(arrow::int8(), arrow::utf8())};
    return leaves[pick(18)];
  }
  const auto child = [&](const char* name) { return field(name, TypeOfDepth(random, depth - 1), pick(3) != 0); };
  switch (pick(4)) {
    case 0:
      return arrow::list(child("element"));
    case 1:
      return arrow::fixed_size_list(child("element"), 2);
    case 2:
      return std::make_shared<arrow::MapType>(field("key", arrow::utf8(), false), child("value"));
    default:
      return arrow::struct_({child("a"), child("b")});
  }
}

TEST(ParquetRoundTrip, RandomSchemas) {
  std::mt19937_64 random(77);
  for (int round = 0; round < 150; ++round) {
    arrow::FieldVector fields;
    for (int f = 0; f < 4; ++f)
      fields.push_back(field(std::string(1, 'a' + f), TypeOfDepth(&random, (round + f) % 5), f != 1));
    const auto schema = arrow::schema(fields);
    const double nulls[] = {0, 0.02, 0.3, 0.9};
    RandomArrays arrays(static_cast<uint64_t>(round),
                        {.null_probability = nulls[round % 4], .distinct = round % 3 * 10});
    Batches batches;
    for (int64_t rows : {90, 1, 60}) {
      arrow::ArrayVector columns;
      for (const auto& f : schema->fields()) columns.push_back(arrays.Make(*f, rows));
      batches.push_back(arrow::RecordBatch::Make(schema, rows, columns));
    }
    ParquetWriteOptions options;
    options.data_page_v2 = round % 2 == 0;
    options.compression = static_cast<ParquetCompression>(round % 6);
    options.page_rows = round % 5 == 0 ? 10 : 50;
    options.row_group_rows = 100;
    SCOPED_TRACE(fmt::format("round {}: {}", round, schema->ToString()));
    ExpectOwnRoundTrip(schema, batches, options);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace calve
