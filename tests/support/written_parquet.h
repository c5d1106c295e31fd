#pragma once

#include "calve/parquet_writer.h"

#include "canonical_text.h"

#include <arrow/io/memory.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/statistics.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::testing {

using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

/// A Parquet file in memory, written by calve.
struct WrittenParquet {
  std::shared_ptr<arrow::Buffer> bytes;
  ParquetFileSummary summary;

  static arrow::Result<WrittenParquet> Make(const std::shared_ptr<arrow::Schema>& schema, const Batches& batches,
                                            const ParquetWriteOptions& options = {}, const Context& context = {}) {
    ARROW_ASSIGN_OR_RAISE(auto sink, arrow::io::BufferOutputStream::Create());
    ARROW_ASSIGN_OR_RAISE(auto writer, ParquetWriter::Make(sink.get(), schema, options, context));
    for (const auto& batch : batches) ARROW_RETURN_NOT_OK(writer->Write(*batch));
    WrittenParquet result;
    ARROW_ASSIGN_OR_RAISE(result.summary, writer->Close());
    ARROW_ASSIGN_OR_RAISE(result.bytes, sink->Finish());
    return result;
  }

  /// libparquet's reader, checksums verified.
  std::unique_ptr<::parquet::ParquetFileReader> Open() const {
    ::parquet::ReaderProperties properties = ::parquet::default_reader_properties();
    properties.set_page_checksum_verification(true);
    return ::parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), properties);
  }
  /// As libparquet parses it; lives as long as this does.
  const std::shared_ptr<::parquet::FileMetaData>& metadata() const {
    if (metadata_ == nullptr) metadata_ = Open()->metadata();
    return metadata_;
  }
  std::shared_ptr<::parquet::Statistics> statistics(int row_group = 0, int column = 0) const {
    return metadata()->RowGroup(row_group)->ColumnChunk(column)->statistics();
  }
  arrow::Result<std::shared_ptr<arrow::Table>> Read() const {
    ARROW_ASSIGN_OR_RAISE(auto reader, ::parquet::arrow::FileReader::Make(arrow::default_memory_pool(), Open()));
    return reader->ReadTable();
  }

 private:
  mutable std::shared_ptr<::parquet::FileMetaData> metadata_;
};

inline std::shared_ptr<arrow::Array> FromJson(const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
  auto array = arrow::json::ArrayFromJSONString(type, json);
  EXPECT_TRUE(array.ok()) << array.status();
  return array.ValueOr(nullptr);
}

/// One column named "c".
inline std::shared_ptr<arrow::RecordBatch> OneColumn(const std::shared_ptr<arrow::Array>& array, bool nullable = true) {
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("c", array->type(), nullable)}), array->length(),
                                  {array});
}

/// Writes the batches, reads them with libparquet, and compares all values.
inline WrittenParquet ExpectRoundTrip(const std::shared_ptr<arrow::Schema>& schema, const Batches& batches,
                                      const ParquetWriteOptions& options = {}, const Context& context = {}) {
  auto written = WrittenParquet::Make(schema, batches, options, context);
  EXPECT_TRUE(written.ok()) << written.status();
  if (!written.ok()) return {};
  std::shared_ptr<arrow::Table> table;
  try {
    auto read = written->Read();
    EXPECT_TRUE(read.ok()) << read.status();
    if (read.ok()) table = *read;
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
  if (table == nullptr) return *written;
  auto expected = arrow::Table::FromRecordBatches(schema, batches);
  EXPECT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(table->num_rows(), (*expected)->num_rows());
  EXPECT_EQ(table->num_columns(), schema->num_fields());
  for (int c = 0; c < schema->num_fields(); ++c) {
    const auto want = CanonicalColumn(*(*expected)->column(c)), got = CanonicalColumn(*table->column(c));
    EXPECT_EQ(want.size(), got.size());
    for (size_t i = 0; i < std::min(want.size(), got.size()); ++i) {
      if (want[i] == got[i]) continue;
      ADD_FAILURE() << "column " << schema->field(c)->ToString() << " row " << i << ": expected " << want[i] << ", got "
                    << got[i];
      break;
    }
  }
  EXPECT_EQ(written->summary.rows, table->num_rows());
  EXPECT_EQ(written->summary.bytes, written->bytes->size());
  return *written;
}

}  // namespace calve::testing
