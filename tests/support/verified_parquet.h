#pragma once

#include "calve/parquet_verify.h"

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/io/memory.h>
#include <arrow/table.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <cmath>
#include <memory>
#include <set>
#include <string>

/// A file that libparquet wrote, in which violations are planted, and what calve finds in it.
namespace calve::testing::verified {

using Rules = std::set<std::string>;

/// Rows of the file.
inline constexpr int64_t kRows = 1000;
/// Its leaves.
inline constexpr size_t kId = 0, kReal = 1, kWord = 2, kList = 3, kText = 4;

template <typename T>
inline std::string Plain(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

inline std::shared_ptr<arrow::Array> Finish(arrow::ArrayBuilder* builder) { return builder->Finish().ValueOrDie(); }

inline std::shared_ptr<arrow::Table> MakeTable() {
  arrow::Int64Builder id;
  arrow::DoubleBuilder real;
  arrow::StringBuilder word, text;
  auto elements = std::make_shared<arrow::Int32Builder>();
  arrow::ListBuilder list(arrow::default_memory_pool(), elements);
  for (int64_t i = 0; i < kRows; ++i) {
    EXPECT_TRUE(id.Append(i).ok());
    EXPECT_TRUE((i % 7 == 3 ? real.AppendNull() : real.Append(i % 11 == 5 ? std::nan("") : 0.5 * double(i))).ok());
    EXPECT_TRUE((i % 5 == 1 ? word.AppendNull() : word.Append(fmt::format("word {}", (i * 7) % 13))).ok());
    EXPECT_TRUE(text.Append(fmt::format("text {:05}", (i * 37) % kRows)).ok());
    EXPECT_TRUE((i % 6 == 2 ? list.AppendNull() : list.Append()).ok());
    for (int64_t j = 0; i % 6 != 2 && j < i % 4; ++j) EXPECT_TRUE(elements->Append(int32_t(i - j)).ok());
  }
  const auto schema =
      arrow::schema({arrow::field("id", arrow::int64(), false), arrow::field("real", arrow::float64()),
                     arrow::field("word", arrow::utf8()), arrow::field("list", arrow::list(arrow::int32())),
                     arrow::field("text", arrow::utf8(), false)});
  return arrow::Table::Make(schema, {Finish(&id), Finish(&real), Finish(&word), Finish(&list), Finish(&text)});
}

inline std::shared_ptr<arrow::Buffer> MakeFile(bool v2 = false) {
  ::parquet::WriterProperties::Builder builder;
  builder.max_row_group_length(kRows / 2)->max_rows_per_page(100)->write_batch_size(50)->enable_write_page_index();
  builder.enable_page_checksum()->disable_dictionary()->enable_dictionary("word");
  builder.data_page_version(v2 ? ::parquet::ParquetDataPageVersion::V2 : ::parquet::ParquetDataPageVersion::V1);
  builder.set_sorting_columns({{0, false, false}});
  builder.enable_bloom_filter("word", {})->enable_bloom_filter("id", {});
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto status =
      ::parquet::arrow::WriteTable(*MakeTable(), arrow::default_memory_pool(), sink, kRows / 2, builder.build());
  EXPECT_TRUE(status.ok()) << status;
  return sink->Finish().ValueOrDie();
}

inline ParquetVerification Verify(const std::shared_ptr<arrow::Buffer>& file,
                                  const ParquetVerifyOptions& options = {}) {
  auto found = VerifyParquet(std::make_shared<arrow::io::BufferReader>(file), options);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ValueOr(ParquetVerification{});
}

inline Rules RulesOf(const ParquetVerification& found) {
  Rules rules;
  for (const auto& violation : found.violations) rules.insert(violation.rule);
  return rules;
}

inline std::string Lines(const ParquetVerification& found) {
  std::string lines;
  for (const auto& violation : found.violations) lines += ToString(violation) + "\n";
  return lines;
}

}  // namespace calve::testing::verified
