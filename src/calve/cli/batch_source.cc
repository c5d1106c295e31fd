#include "calve/cli/batch_source.h"

#include "calve/parquet_reader.h"

#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;
using BatchesResult = Result<std::shared_ptr<arrow::RecordBatchReader>>;

Status Named(const Status& status, const std::string& path) {
  return status.ok() ? status : status.WithMessage(path, ": ", status.message());
}

/// The batches of an IPC file, one after another; of a reader, some of its columns.
class ChosenColumns final : public arrow::RecordBatchReader {
 public:
  using Next = std::function<Result<std::shared_ptr<arrow::RecordBatch>>()>;
  ChosenColumns(std::string path, std::shared_ptr<arrow::Schema> schema, std::vector<int> columns, bool all, Next next)
      : path_(std::move(path)),
        schema_(std::move(schema)),
        columns_(std::move(columns)),
        all_(all),
        next_(std::move(next)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    auto batch = next_();
    if (!batch.ok()) return Named(batch.status(), path_);
    *out = *std::move(batch);
    if (*out == nullptr || all_) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(*out, (*out)->SelectColumns(columns_));
    return Status::OK();
  }

 private:
  std::string path_;
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<int> columns_;
  bool all_;
  Next next_;
};

BatchesResult Choose(const std::string& path, const std::shared_ptr<arrow::Schema>& schema,
                     const std::vector<std::string>& columns, ChosenColumns::Next next) {
  std::vector<int> chosen;
  arrow::FieldVector fields;
  for (int i = 0; i < schema->num_fields(); ++i) {
    if (std::find(columns.begin(), columns.end(), schema->field(i)->name()) == columns.end()) continue;
    chosen.push_back(i);
    fields.push_back(schema->field(i));
  }
  const bool all = columns.empty();
  return std::make_shared<ChosenColumns>(path, all ? schema : arrow::schema(fields), chosen, all, std::move(next));
}

BatchesResult OpenIpcFile(const std::string& path, const std::shared_ptr<arrow::io::RandomAccessFile>& file,
                          const std::vector<std::string>& columns) {
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(file));
  auto schema = reader->schema();
  return Choose(path, schema, columns, [reader, next = 0]() mutable -> Result<std::shared_ptr<arrow::RecordBatch>> {
    if (next == reader->num_record_batches()) return nullptr;
    return reader->ReadRecordBatch(next++);
  });
}

BatchesResult OpenIpcStream(const std::string& path, const std::shared_ptr<arrow::io::RandomAccessFile>& file,
                            const std::vector<std::string>& columns) {
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchStreamReader::Open(file));
  auto schema = reader->schema();
  return Choose(path, schema, columns, [reader] { return reader->Next(); });
}

BatchesResult OpenArrow(const std::string& path, const std::vector<std::string>& columns, bool is_file) {
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::ReadableFile::Open(path));
  return is_file ? OpenIpcFile(path, file, columns) : OpenIpcStream(path, file, columns);
}

Result<std::string> FirstBytes(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(const auto bytes, file->ReadAt(0, 8));
  return bytes->ToString();
}

}  // namespace

BatchesResult OpenBatches(const std::string& path, const std::vector<std::string>& columns, const Context& context) {
  ARROW_ASSIGN_OR_RAISE(const std::string head, FirstBytes(path));
  const bool is_file = head.starts_with("ARROW1"), is_stream = head.starts_with("\xff\xff\xff\xff");
  if (is_file || is_stream) {
    auto batches = OpenArrow(path, columns, is_file);
    if (!batches.ok()) return Named(batches.status(), path);
    return batches;
  }
  ARROW_ASSIGN_OR_RAISE(const auto reader, ParquetReader::Open(path, {}, context));
  return reader->ReadAll(columns);
}

}  // namespace calve::cli
