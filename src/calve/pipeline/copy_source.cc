#include "calve/pipeline/copy_source.h"

#include "calve/arrow_file.h"
#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/parquet_reader.h"
#include "calve/pipeline/arrow_file_scan.h"
#include "calve/pipeline/batch_filter.h"

#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/csv/api.h>
#include <arrow/io/file.h>
#include <arrow/type.h>

#include <algorithm>
#include <cstring>

namespace calve::pipeline {
namespace {

using arrow::Result;
using arrow::Status;
using File = std::shared_ptr<arrow::io::ReadableFile>;
using Reader = std::shared_ptr<arrow::RecordBatchReader>;

/// The batches of a Parquet file, which it holds open.
class ParquetBatches : public arrow::RecordBatchReader {
 public:
  ParquetBatches(std::shared_ptr<ParquetReader> file, std::unique_ptr<ParquetBatchReader> batches)
      : file_(std::move(file)), batches_(std::move(batches)) {}
  std::shared_ptr<arrow::Schema> schema() const override { return batches_->schema(); }
  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override { return batches_->Next().Value(batch); }

 private:
  std::shared_ptr<ParquetReader> file_;
  std::unique_ptr<ParquetBatchReader> batches_;
};

/// The rows of another reader's batches that a filter passes.
class FilteredBatches : public arrow::RecordBatchReader {
 public:
  FilteredBatches(Reader batches, BatchFilter filter, const Context& context)
      : batches_(std::move(batches)), filter_(std::move(filter)), context_(context) {}
  std::shared_ptr<arrow::Schema> schema() const override { return batches_->schema(); }
  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    do {
      ARROW_RETURN_NOT_OK(CheckStop(context_));
      ARROW_RETURN_NOT_OK(batches_->ReadNext(batch));
      if (*batch == nullptr) return Status::OK();
      ARROW_ASSIGN_OR_RAISE(*batch, filter_.Keep(**batch, *batch, PoolOf(context_)));
    } while ((*batch)->num_rows() == 0);
    return Status::OK();
  }

 private:
  Reader batches_;
  BatchFilter filter_;
  Context context_;
};

/// The named columns of another reader's batches, in their order.
class ProjectedReader : public arrow::RecordBatchReader {
 public:
  ProjectedReader(Reader batches, std::vector<int> columns, std::shared_ptr<arrow::Schema> schema)
      : batches_(std::move(batches)), columns_(std::move(columns)), schema_(std::move(schema)) {}
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    ARROW_RETURN_NOT_OK(batches_->ReadNext(batch));
    return *batch == nullptr ? Status::OK() : (*batch)->SelectColumns(columns_).Value(batch);
  }

 private:
  Reader batches_;
  std::vector<int> columns_;
  std::shared_ptr<arrow::Schema> schema_;
};

Result<Reader> Project(Reader batches, const std::vector<std::string>& columns) {
  if (columns.empty()) return batches;
  std::vector<int> indices;
  arrow::FieldVector fields;
  for (const std::string& name : columns) {
    const int index = batches->schema()->GetFieldIndex(name);
    if (index < 0) return Invalid("there is no column '{}'", name);
    indices.push_back(index);
    fields.push_back(batches->schema()->field(index));
  }
  return std::make_shared<ProjectedReader>(std::move(batches), std::move(indices),
                                           arrow::schema(fields, batches->schema()->metadata()));
}

Result<Reader> OpenParquet(const std::string& path, const CopyOptions& options, const Context& context) {
  ParquetReadOptions read;
  read.batch_rows = 1 << 16;
  read.verify_crc = true;
  read.decryption = options.decryption;
  ARROW_ASSIGN_OR_RAISE(auto file, ParquetReader::Open(path, read, context));
  ParquetReadRequest request;
  for (const std::string& column : options.columns.empty() ? file->schema()->field_names() : options.columns) {
    ARROW_ASSIGN_OR_RAISE(const auto leaves, file->LeavesOf(column));
    request.leaves.insert(request.leaves.end(), leaves.begin(), leaves.end());
  }
  std::sort(request.leaves.begin(), request.leaves.end());
  request.leaves.erase(std::unique(request.leaves.begin(), request.leaves.end()), request.leaves.end());
  request.filter = options.filter;
  ARROW_ASSIGN_OR_RAISE(auto batches, file->Read(request));
  return Project(std::make_shared<ParquetBatches>(std::move(file), std::move(batches)), options.columns);
}

Result<Reader> OpenArrow(const std::string& path, const CopyOptions& options, const Context& context) {
  ScanOptions scanned;
  scanned.columns = options.columns;
  scanned.filter = options.filter;
  ARROW_ASSIGN_OR_RAISE(const auto scan, ScanArrowFiles({path}, scanned, context));
  return scan->reader();
}

Result<Reader> OpenCsv(const File& file, char delimiter, const CopyOptions& options, const Context& context) {
  auto parse = arrow::csv::ParseOptions::Defaults();
  parse.delimiter = delimiter;
  parse.newlines_in_values = true;
  ARROW_ASSIGN_OR_RAISE(Reader rows, arrow::csv::StreamingReader::Make(arrow::io::IOContext(PoolOf(context)), file,
                                                                       arrow::csv::ReadOptions::Defaults(), parse,
                                                                       arrow::csv::ConvertOptions::Defaults()));
  if (!options.filter.always_true()) {
    ARROW_ASSIGN_OR_RAISE(auto filter, BatchFilter::Make(options.filter, *rows->schema()));
    rows = std::make_shared<FilteredBatches>(std::move(rows), std::move(filter), context);
  }
  return Project(std::move(rows), options.columns);
}

/// By what the file begins with.
Result<Reader> OpenByContent(const std::string& path, const File& file, const CopyOptions& options,
                             const Context& context) {
  ARROW_ASSIGN_OR_RAISE(const auto first, file->Read(8));
  ARROW_RETURN_NOT_OK(file->Seek(0));
  const std::string begin = first->ToString();
  if (begin.starts_with("PAR1") || begin.starts_with("PARE")) return OpenParquet(path, options, context);
  if (BeginsAsArrow(begin)) return OpenArrow(path, options, context);
  const bool tabs = path.ends_with(".tsv");
  if (!tabs && !path.ends_with(".csv")) return Invalid("neither Parquet nor Arrow IPC, and not named .csv or .tsv");
  return OpenCsv(file, tabs ? '\t' : ',', options, context);
}

Result<std::shared_ptr<arrow::Array>> FitColumn(const arrow::RecordBatch& batch, const arrow::Field& field,
                                                arrow::MemoryPool* pool) {
  const auto column = batch.GetColumnByName(field.name());
  if (column == nullptr) return arrow::MakeArrayOfNull(field.type(), batch.num_rows(), pool);
  if (column->type()->Equals(*field.type())) return column;
  arrow::compute::ExecContext context(pool);
  auto cast = arrow::compute::Cast(*column, field.type(), arrow::compute::CastOptions::Safe(), &context);
  return WithContext(std::move(cast), fmt::format("column '{}'", field.name()));
}

}  // namespace

Result<CopySource> OpenCopySource(const std::string& path, const CopyOptions& options, const Context& context) {
  CopySource source;
  source.path = path;
  auto file = arrow::io::ReadableFile::Open(path, PoolOf(context));
  if (!file.ok()) return WithContext(file.status(), path);
  ARROW_ASSIGN_OR_RAISE(source.bytes, (*file)->GetSize());
  auto batches = OpenByContent(path, *file, options, context);
  if (!batches.ok()) return OfFile(batches.status(), path);
  source.batches = batches.MoveValueUnsafe();
  return source;
}

Status OfFile(const Status& status, const std::string& path) {
  return status.message().starts_with(path + ":") ? status : WithContext(status, path);
}

Result<std::shared_ptr<arrow::Schema>> UnifyCopySources(const std::vector<CopySource>& sources) {
  auto schema = sources.front().batches->schema();
  const auto options = arrow::Field::MergeOptions::Permissive();
  for (size_t i = 1; i < sources.size(); ++i) {
    auto own = sources[i].batches->schema();
    if (own->Equals(*schema, /*check_metadata=*/false)) continue;
    auto unified = arrow::UnifySchemas({schema, own}, options);
    if (!unified.ok()) return WithContext(unified.status(), sources[i].path);
    // What a source does not have is null in its rows.
    arrow::FieldVector fields;
    for (const auto& field : (*unified)->fields()) {
      const bool in_both = schema->GetFieldIndex(field->name()) >= 0 && own->GetFieldIndex(field->name()) >= 0;
      fields.push_back(in_both ? field : field->WithNullable(true));
    }
    schema = arrow::schema(fields, (*unified)->metadata());
  }
  return schema;
}

Result<std::shared_ptr<arrow::RecordBatch>> FitBatch(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                     const std::shared_ptr<arrow::Schema>& schema,
                                                     arrow::MemoryPool* pool) {
  if (batch->schema()->Equals(*schema, /*check_metadata=*/false)) return batch;
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (const auto& field : schema->fields()) {
    ARROW_ASSIGN_OR_RAISE(auto column, FitColumn(*batch, *field, pool));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(schema, batch->num_rows(), std::move(columns));
}

}  // namespace calve::pipeline
