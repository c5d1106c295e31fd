// Statistics of what is written: in the footer, and in the summary that a writer returns.

#include "calve/parquet_writer.h"

#include "parquet_footer.h"

#include <arrow/builder.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/column_reader.h>

#include <cmath>

namespace calve {
namespace {

using arrow::field;
using testing::ExpectRoundTrip;
using testing::Footer;
using testing::FromJson;
using testing::OneColumn;
using testing::WrittenParquet;

TEST(ParquetWriterStatistics, SummaryIsOfTheWholeFile) {
  const auto id = arrow::key_value_metadata({"PARQUET:field_id"}, {"7"});
  const auto schema = arrow::schema({field("a", arrow::float64())->WithMetadata(id),
                                     field("b", arrow::list(field("element", arrow::utf8(), true, id)))});
  const auto batch = [&](const std::string& a, const std::string& b) {
    return arrow::RecordBatch::Make(schema, 3,
                                    {FromJson(arrow::float64(), a), FromJson(arrow::list(arrow::utf8()), b)});
  };
  ParquetWriteOptions options;
  options.row_group_rows = 3;
  const auto file = WrittenParquet::Make(schema,
                                         {batch("[1, null, NaN]", R"([["x", "y"], [], null])"),
                                          batch("[-3, NaN, NaN]", R"([["a"], [null], ["b"]])")},
                                         options)
                        .ValueOrDie();
  ASSERT_EQ(file.summary.columns.size(), 2u);
  const auto& a = file.summary.columns[0];
  EXPECT_EQ(a.leaf_index, 0);
  EXPECT_EQ(a.field_id, 7);
  EXPECT_EQ(a.value_count, 6);
  EXPECT_EQ(a.null_count, 1);
  EXPECT_EQ(a.nan_count, 3);
  const double low = -3, high = 1;
  EXPECT_EQ(a.min, std::string(reinterpret_cast<const char*>(&low), 8));
  EXPECT_EQ(a.max, std::string(reinterpret_cast<const char*>(&high), 8));
  EXPECT_FALSE(a.inside_repeated);
  const auto& b = file.summary.columns[1];
  EXPECT_EQ(b.leaf_index, 1);
  EXPECT_EQ(b.value_count, 7);
  EXPECT_EQ(b.null_count, 3);
  EXPECT_EQ(b.min, "a");
  EXPECT_EQ(b.max, "y");
  EXPECT_TRUE(b.inside_repeated);
  int64_t compressed = 0;
  for (const auto& group : Footer(file).row_groups) compressed += group.columns[0].metadata->total_compressed_size;
  EXPECT_EQ(a.compressed_bytes, compressed);
}

// Fault 9: -1, 0, 1 in every physical type of a decimal, across row groups.
TEST(ParquetWriterStatistics, BoundsOfDecimals) {
  for (const auto& type : {arrow::decimal128(5, 0), arrow::decimal128(15, 0), arrow::decimal128(30, 0),
                           arrow::decimal256(60, 0), arrow::decimal32(5, 0), arrow::decimal64(15, 0)}) {
    SCOPED_TRACE(type->ToString());
    ParquetWriteOptions options;
    options.row_group_rows = 3;
    const auto schema = arrow::schema({field("c", type)});
    const auto file = ExpectRoundTrip(
        schema, {OneColumn(FromJson(type, R"(["-1", "0", "1"])")), OneColumn(FromJson(type, R"(["5", "-7", "0"])"))},
        options);
    const parquet::SchemaElement leaf = Footer(file).schema[1];
    const int bytes = leaf.type == parquet::PhysicalType::kInt32   ? 4
                      : leaf.type == parquet::PhysicalType::kInt64 ? 8
                                                                   : leaf.type_length;
    const bool big_endian = leaf.type == parquet::PhysicalType::kFixedLenByteArray;
    const auto stored = [&](int64_t value) {
      std::string text(static_cast<size_t>(bytes), value < 0 ? '\xFF' : '\0');
      text[big_endian ? text.size() - 1 : 0] = static_cast<char>(value);
      return text;
    };
    const auto statistics = *Footer(file).row_groups[0].columns[0].metadata->statistics;
    EXPECT_EQ(statistics.min_value, stored(-1));
    EXPECT_EQ(statistics.max_value, stored(1));
    EXPECT_EQ(file.summary.columns[0].min, stored(-7));
    EXPECT_EQ(file.summary.columns[0].max, stored(5));
  }
}

// Fault 10, in a file.
TEST(ParquetWriterStatistics, BoundsOfFloats) {
  const auto check = [](const std::string& json, std::optional<double> min, std::optional<double> max, int64_t nans) {
    SCOPED_TRACE(json);
    const auto plain = [](std::optional<double> value) -> std::optional<std::string> {
      if (!value) return std::nullopt;
      return std::string(reinterpret_cast<const char*>(&*value), sizeof(double));
    };
    const auto schema = arrow::schema({field("c", arrow::float64())});
    const auto file = ExpectRoundTrip(schema, {OneColumn(FromJson(arrow::float64(), json))});
    const auto statistics = *Footer(file).row_groups[0].columns[0].metadata->statistics;
    EXPECT_EQ(statistics.min_value, plain(min));
    EXPECT_EQ(statistics.max_value, plain(max));
    EXPECT_EQ(statistics.nan_count, nans);
  };
  check("[0.0]", -0.0, 0.0, 0);
  check("[NaN, 1]", 1, 1, 1);
  check("[NaN, NaN]", {}, {}, 2);
  check("[Inf, -Inf, NaN]", -INFINITY, INFINITY, 1);
  check("[null]", {}, {}, 0);
}

// Fault 15: a blob does not get into the footer; the summary has it whole.
TEST(ParquetWriterStatistics, LargeBlobLeavesTheFooterSmall) {
  arrow::BinaryBuilder builder;
  const std::string blob(16 << 20, '\xFF'), small = "a";
  ASSERT_TRUE(builder.AppendValues({small, blob}).ok());
  const auto file = ExpectRoundTrip(arrow::schema({field("c", arrow::binary())}), {OneColumn(*builder.Finish())});
  uint32_t footer_bytes = 0;
  std::memcpy(&footer_bytes, file.bytes->data() + file.bytes->size() - 8, sizeof(footer_bytes));
  EXPECT_LT(footer_bytes, 1000u);
  const auto statistics = *Footer(file).row_groups[0].columns[0].metadata->statistics;
  EXPECT_EQ(statistics.min_value, "a");
  EXPECT_EQ(statistics.is_min_value_exact, true);
  EXPECT_FALSE(statistics.max_value);
  EXPECT_EQ(file.summary.columns[0].max, blob);
}

TEST(ParquetWriterStatistics, NoBoundsForIntervals) {
  const auto type = arrow::month_day_nano_interval();
  const auto schema = arrow::schema({field("c", type)});
  const auto file =
      WrittenParquet::Make(schema, {OneColumn(FromJson(type, "[[1, 2, 3000000], null, [0, 0, 0]]"))}).ValueOrDie();
  const auto statistics = *Footer(file).row_groups[0].columns[0].metadata->statistics;
  EXPECT_FALSE(statistics.min_value || statistics.max_value);
  EXPECT_EQ(statistics.null_count, 1);
  const auto opened = file.Open();
  const auto values = opened->RowGroup(0)->Column(0);
  auto* reader = static_cast<::parquet::FixedLenByteArrayReader*>(values.get());
  ::parquet::FixedLenByteArray value[3];
  int16_t levels[3];
  int64_t read = 0;
  reader->ReadBatch(3, levels, nullptr, value, &read);
  ASSERT_EQ(read, 2);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(value[0].ptr), 12), std::string("\1\0\0\0\2\0\0\0\3\0\0\0", 12));
  auto negative = WrittenParquet::Make(schema, {OneColumn(FromJson(type, "[[-1, 2, 0]]"))});
  EXPECT_TRUE(negative.status().IsInvalid()) << negative.status();
}

}  // namespace
}  // namespace calve
