#pragma once

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/table.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace calve::testing {

/// How libparquet is to write a file.
struct IndexedFile {
  int64_t row_group_rows = 1000, page_rows = 100;
  bool page_index = true;
  std::vector<std::string> bloom_filters;  ///< dotted paths of columns
  int64_t page_bytes = int64_t{1} << 30;
  bool dictionary = false;
  ::parquet::ParquetDataPageVersion data_pages = ::parquet::ParquetDataPageVersion::V1;
  ::parquet::Compression::type codec = ::parquet::Compression::SNAPPY;
  ::parquet::Encoding::type encoding = ::parquet::Encoding::UNDEFINED;  ///< where there is no dictionary
};

/// `table` as a file with page indexes and bloom filters.
inline std::shared_ptr<arrow::Buffer> WriteIndexed(const arrow::Table& table, const IndexedFile& file = {}) {
  ::parquet::WriterProperties::Builder builder;
  builder.max_row_group_length(file.row_group_rows)->max_rows_per_page(file.page_rows)->write_batch_size(1);
  builder.data_pagesize(file.page_bytes)->data_page_version(file.data_pages)->compression(file.codec);
  file.page_index ? builder.enable_write_page_index() : builder.disable_write_page_index();
  file.dictionary ? builder.enable_dictionary() : builder.disable_dictionary();
  if (file.encoding != ::parquet::Encoding::UNDEFINED) builder.encoding(file.encoding);
  for (const std::string& column : file.bloom_filters) builder.enable_bloom_filter(column, {});
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto status =
      ::parquet::arrow::WriteTable(table, arrow::default_memory_pool(), sink, file.row_group_rows, builder.build());
  EXPECT_TRUE(status.ok()) << status;
  return sink->Finish().ValueOrDie();
}

}  // namespace calve::testing
