#pragma once

#include "calve/parquet_reader.h"

#include <arrow/compute/cast.h>
#include <arrow/compute/initialize.h>
#include <arrow/io/file.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <parquet/properties.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::testing {

using TableResult = arrow::Result<std::shared_ptr<arrow::Table>>;

/// All rows by calve; every batch is checked to be well-formed and not too long.
inline TableResult ReadWithCalve(std::shared_ptr<arrow::io::RandomAccessFile> source,
                                 const ParquetReadOptions& options = {}, const std::vector<std::string>& columns = {},
                                 const Context& context = {}) {
  ARROW_ASSIGN_OR_RAISE(auto file, ParquetReader::Open(std::move(source), "x.parquet", options, context));
  ARROW_ASSIGN_OR_RAISE(auto reader, file->ReadAll(columns));
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
    if (batch == nullptr) break;
    EXPECT_GT(batch->num_rows(), 0);
    EXPECT_LE(batch->num_rows(), options.batch_rows);
    EXPECT_TRUE(batch->Validate().ok()) << batch->Validate();
    batches.push_back(std::move(batch));
  }
  return arrow::Table::FromRecordBatches(reader->schema(), batches);
}

inline TableResult ReadWithCalve(const std::string& path, const ParquetReadOptions& options = {}) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  return ReadWithCalve(file, options);
}

inline TableResult ReadWithCalve(const std::shared_ptr<arrow::Buffer>& bytes, const ParquetReadOptions& options = {}) {
  return ReadWithCalve(std::make_shared<arrow::io::BufferReader>(bytes), options);
}

/// All rows by libparquet; INT96 as microseconds.
inline TableResult ReadWithLibparquet(std::shared_ptr<arrow::io::RandomAccessFile> source) {
  ::parquet::ArrowReaderProperties properties;
  properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);
  properties.set_arrow_extensions_enabled(true);  // as pyarrow does
  ::parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(source)));
  ARROW_ASSIGN_OR_RAISE(auto reader, builder.properties(properties)->Build());
  return reader->ReadTable();
}

inline TableResult ReadWithLibparquet(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  return ReadWithLibparquet(file);
}

/// Compares rows and types; field names inside lists and maps, metadata and chunking may differ, NaNs are equal.
inline void ExpectSameTable(const TableResult& got, const TableResult& expected) {
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_TRUE((*got)->schema()->Equals(*(*expected)->schema(), false)) << (*got)->schema()->ToString() << "\nexpected\n"
                                                                       << (*expected)->schema()->ToString();
  const auto equal = arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false);
  ASSERT_EQ((*got)->num_rows(), (*expected)->num_rows());
  for (int i = 0; i < (*got)->num_columns(); ++i) {
    EXPECT_TRUE((*got)->column(i)->Equals(*(*expected)->column(i), equal))
        << "column " << (*got)->field(i)->ToString() << "\n"
        << (*got)->column(i)->ToString() << "\nexpected\n"
        << (*expected)->column(i)->ToString();
  }
}

}  // namespace calve::testing
