#pragma once

#include "calve/append.h"
#include "calve/catalog.h"
#include "calve/iceberg/commit.h"
#include "calve/io/file_io.h"
#include "calve/rewrite.h"
#include "calve/scan.h"
#include "canonical_text.h"
#include "json_arrays.h"
#include "temp_folder.h"

#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace calve::testing {

/// All batches of a scan.
inline arrow::Result<std::vector<std::shared_ptr<arrow::RecordBatch>>> BatchesOf(Scan& scan) {
  ARROW_ASSIGN_OR_RAISE(auto reader, scan.reader());
  return reader->ToRecordBatches();
}

/// The rows of batches as text, in order.
inline std::vector<std::string> RowTexts(const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  std::vector<std::string> rows;
  for (const auto& batch : batches) {
    EXPECT_TRUE(batch->ValidateFull().ok()) << batch->ValidateFull().ToString();
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      std::string row;
      for (const auto& column : batch->columns()) row += CanonicalText(*column, i) + "|";
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// The rows of a table as text, in the order of the scan.
inline arrow::Result<std::vector<std::string>> ScanRows(const Table& table, const ScanOptions& options = {},
                                                        const Context& context = {}) {
  ARROW_ASSIGN_OR_RAISE(auto scan, ScanTable(table, options, context));
  ARROW_ASSIGN_OR_RAISE(auto batches, BatchesOf(*scan));
  return RowTexts(batches);
}

inline std::vector<std::string> Sorted(std::vector<std::string> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

inline std::vector<std::string> SortedRows(const Table& table, const ScanOptions& options = {}) {
  auto rows = ScanRows(table, options);
  EXPECT_TRUE(rows.ok()) << rows.status().ToString();
  return Sorted(rows.ValueOr({}));
}

/// Files below a folder, relative to it, sorted; hidden ones too.
inline std::vector<std::string> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(std::filesystem::relative(entry.path(), folder).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Writes a Parquet file with libparquet.
inline void WriteParquet(
    const std::string& path, const std::shared_ptr<arrow::RecordBatch>& batch, int64_t row_group_rows = 1 << 20,
    const std::shared_ptr<::parquet::WriterProperties>& properties = ::parquet::default_writer_properties()) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  auto table = arrow::Table::FromRecordBatches({batch}).ValueOrDie();
  auto sink = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  auto status = ::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, row_group_rows, properties);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_TRUE(sink->Close().ok());
}

/// A catalog in a folder of its own.
class CatalogFolder {
 public:
  /// `type`: "filesystem" or "sql".
  explicit CatalogFolder(const std::string& type) {
    CatalogConfig config;
    config.properties = {{"type", type}, {"warehouse", folder_ / "warehouse"}};
    if (type == "sql") config.properties["uri"] = "sqlite:///" + (folder_ / "catalog.db");
    auto opened = Catalog::Open(config);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    if (opened.ok()) catalog_ = *std::move(opened);
  }

  Catalog& catalog() { return *catalog_; }
  const TempFolder& folder() const { return folder_; }

  arrow::Result<Table> Create(const std::string& name, const std::shared_ptr<arrow::Schema>& schema,
                              const std::string& partition_by = "", int format_version = 2,
                              std::map<std::string, std::string> properties = {}) {
    CreateTableOptions options;
    options.partition_by = partition_by;
    options.format_version = format_version;
    options.properties = std::move(properties);
    return catalog_->CreateTable(name, *schema, options);
  }

 private:
  TempFolder folder_;
  std::unique_ptr<Catalog> catalog_;
};

/// Appends one batch.
inline arrow::Result<AppendResult> Append(const Table& table, const std::shared_ptr<arrow::RecordBatch>& batch,
                                          const Context& context = {}) {
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::RecordBatchReader::Make({batch}, batch->schema()));
  return AppendBatches(table, reader.get(), {}, context);
}

inline std::string DataFolder(const Table& table) { return iceberg::DataLocation(table.version()->metadata); }

}  // namespace calve::testing
