#include "calve/parquet_writer.h"

#include "calve/base/memory_budget.h"

#include "random_array.h"
#include "written_parquet.h"

#include <arrow/extension/uuid.h>
#include <arrow/util/key_value_metadata.h>

namespace calve {
namespace {

using arrow::field;
using testing::Batches;
using testing::ExpectRoundTrip;
using testing::FromJson;
using testing::OneColumn;
using testing::RandomArrays;
using testing::WrittenParquet;

std::vector<std::shared_ptr<arrow::DataType>> LeafTypes() {
  using namespace arrow;  // NOLINT
  return {boolean(),
          int8(),
          int16(),
          int32(),
          int64(),
          uint8(),
          uint16(),
          uint32(),
          uint64(),
          float16(),
          float32(),
          float64(),
          decimal32(9, 2),
          decimal64(18, 6),
          decimal128(7, 2),
          decimal128(15, 2),
          decimal128(19, 4),
          decimal128(38, 10),
          decimal256(9, 0),
          decimal256(18, 18),
          decimal256(40, 5),
          decimal256(76, 10),
          date32(),
          date64(),
          time32(TimeUnit::SECOND),
          time32(TimeUnit::MILLI),
          time64(TimeUnit::MICRO),
          time64(TimeUnit::NANO),
          timestamp(TimeUnit::SECOND),
          timestamp(TimeUnit::MILLI, "UTC"),
          timestamp(TimeUnit::MICRO),
          timestamp(TimeUnit::MICRO, "Europe/Paris"),
          timestamp(TimeUnit::NANO),
          utf8(),
          large_utf8(),
          binary(),
          large_binary(),
          utf8_view(),
          binary_view(),
          fixed_size_binary(16),
          fixed_size_binary(1),
          extension::uuid(),
          dictionary(int8(), utf8()),
          dictionary(uint16(), large_binary()),
          dictionary(int32(), int64()),
          dictionary(int64(), decimal128(30, 3)),
          dictionary(uint8(), float64()),
          null()};
}

std::shared_ptr<arrow::RecordBatch> RandomBatch(const std::shared_ptr<arrow::Schema>& schema, int64_t rows,
                                                RandomArrays* arrays) {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (const auto& f : schema->fields()) columns.push_back(arrays->Make(*f, rows));
  return arrow::RecordBatch::Make(schema, rows, std::move(columns));
}

std::shared_ptr<arrow::Schema> AllLeaves(bool nullable) {
  arrow::FieldVector fields;
  for (const auto& type : LeafTypes()) {
    fields.push_back(field("c" + std::to_string(fields.size()), type, nullable || type->id() == arrow::Type::NA));
  }
  return arrow::schema(fields);
}

TEST(ParquetWriter, EveryLeafType) {
  for (bool v2 : {false, true}) {
    for (bool dictionary : {true, false}) {
      for (double nulls : {0.0, 0.25, 0.99, 1.0}) {
        RandomArrays arrays(17, {.null_probability = nulls, .distinct = dictionary ? 40 : 0});
        const auto schema = AllLeaves(nulls > 0);
        ParquetWriteOptions options;
        options.data_page_v2 = v2;
        options.dictionary = dictionary;
        options.page_rows = 100;
        options.row_group_rows = 350;
        SCOPED_TRACE(fmt::format("v2 {} dictionary {} nulls {}", v2, dictionary, nulls));
        ExpectRoundTrip(schema, {RandomBatch(schema, 333, &arrays), RandomBatch(schema, 1, &arrays),
                                 RandomBatch(schema, 500, &arrays)},
                        options);
      }
    }
  }
}

TEST(ParquetWriter, EveryCodec) {
  const auto schema = AllLeaves(true);
  for (auto codec : {ParquetCompression::kUncompressed, ParquetCompression::kSnappy, ParquetCompression::kGzip,
                     ParquetCompression::kZstd, ParquetCompression::kLz4Raw, ParquetCompression::kBrotli}) {
    for (bool v2 : {false, true}) {
      RandomArrays arrays(4, {.null_probability = 0.5});
      ParquetWriteOptions options;
      options.compression = codec;
      options.data_page_v2 = v2;
      SCOPED_TRACE(fmt::format("codec {} v2 {}", static_cast<int>(codec), v2));
      ExpectRoundTrip(schema, {RandomBatch(schema, 500, &arrays)}, options);
    }
  }
}

}  // namespace
}  // namespace calve
