#include "calve/cli/batch_source.h"

#include "calve/arrow_file.h"
#include "calve/parquet_reader.h"

#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;
using BatchesResult = Result<std::shared_ptr<arrow::RecordBatchReader>>;

/// Some columns of a reader's batches.
class ChosenColumns final : public arrow::RecordBatchReader {
 public:
  ChosenColumns(std::shared_ptr<arrow::RecordBatchReader> batches, std::vector<int> columns,
                std::shared_ptr<arrow::Schema> schema)
      : batches_(std::move(batches)), columns_(std::move(columns)), schema_(std::move(schema)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    ARROW_RETURN_NOT_OK(batches_->ReadNext(out));
    return *out == nullptr ? Status::OK() : (*out)->SelectColumns(columns_).Value(out);
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> batches_;
  std::vector<int> columns_;
  std::shared_ptr<arrow::Schema> schema_;
};

std::shared_ptr<arrow::RecordBatchReader> Choose(std::shared_ptr<arrow::RecordBatchReader> batches,
                                                 const std::vector<std::string>& columns) {
  if (columns.empty()) return batches;
  const auto schema = batches->schema();
  std::vector<int> chosen;
  arrow::FieldVector fields;
  for (int i = 0; i < schema->num_fields(); ++i) {
    if (std::find(columns.begin(), columns.end(), schema->field(i)->name()) == columns.end()) continue;
    chosen.push_back(i);
    fields.push_back(schema->field(i));
  }
  return std::make_shared<ChosenColumns>(std::move(batches), std::move(chosen), arrow::schema(fields));
}

Result<std::string> FirstBytes(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(const auto bytes, file->ReadAt(0, 8));
  return bytes->ToString();
}

}  // namespace

BatchesResult OpenBatches(const std::string& path, const std::vector<std::string>& columns, const Context& context) {
  ARROW_ASSIGN_OR_RAISE(const std::string head, FirstBytes(path));
  if (BeginsAsArrow(head)) {
    ARROW_ASSIGN_OR_RAISE(auto batches, OpenArrowFile(path, {}, context));
    return Choose(std::move(batches), columns);
  }
  ARROW_ASSIGN_OR_RAISE(const auto reader, ParquetReader::Open(path, {}, context));
  return reader->ReadAll(columns);
}

}  // namespace calve::cli
