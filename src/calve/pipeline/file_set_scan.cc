#include "calve/pipeline/file_set_scan.h"

#include "calve/base/status.h"

#include <arrow/builder.h>
#include <arrow/record_batch.h>

namespace calve::pipeline {
namespace {

/// What the scan and its reader share: the reader may outlive the scan.
struct Stream {
  ScanSetup setup;
  ProgressMeter meter;
  bool taken = false;

  Result<std::shared_ptr<arrow::RecordBatch>> Next() {
    ARROW_ASSIGN_OR_RAISE(auto batch, setup.files->Next());
    const FileSetCounts& counts = setup.files->counts();
    meter.Report({.rows = counts.rows_returned, .bytes = counts.bytes_read, .total_bytes = counts.bytes_total},
                 batch == nullptr);
    return batch;
  }
};

class StreamReader : public arrow::RecordBatchReader {
 public:
  explicit StreamReader(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
  std::shared_ptr<arrow::Schema> schema() const override { return stream_->setup.files->schema(); }
  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override { return stream_->Next().Value(batch); }

 private:
  std::shared_ptr<Stream> stream_;
};

class FileSetScan : public Scan {
 public:
  explicit FileSetScan(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}

  Result<std::shared_ptr<arrow::RecordBatchReader>> reader() override {
    if (stream_->taken) return Invalid("the scan's reader was already taken");
    stream_->taken = true;
    return std::make_shared<StreamReader>(stream_);
  }

  const std::shared_ptr<arrow::Schema>& schema() const override { return stream_->setup.files->schema(); }

  ScanMetrics metrics() const override {
    ScanMetrics result = stream_->setup.planned;
    const FileSetCounts& counts = stream_->setup.files->counts();
    result.row_groups_total = counts.row_groups_total;
    result.row_groups_skipped = counts.row_groups_skipped;
    result.row_groups_skipped_by_bloom_filter = counts.row_groups_skipped_by_bloom_filter;
    result.row_groups_skipped_by_page_index = counts.row_groups_skipped_by_page_index;
    result.row_groups_skipped_by_dictionary = counts.row_groups_skipped_by_dictionary;
    result.pages_read = counts.pages_read;
    result.pages_skipped = counts.pages_skipped;
    result.parquet = counts.parquet();
    result.rows_read = counts.rows_read;
    result.rows_returned = counts.rows_returned;
    result.peak_memory_bytes = stream_->setup.pool->max_memory();
    return result;
  }

  Result<std::shared_ptr<arrow::RecordBatch>> Plan() const override { return stream_->setup.plan; }

 private:
  std::shared_ptr<Stream> stream_;
};

}  // namespace

std::unique_ptr<Scan> MakeFileSetScan(ScanSetup setup, const Context& context) {
  return std::make_unique<FileSetScan>(
      std::make_shared<Stream>(Stream{.setup = std::move(setup), .meter = ProgressMeter(context)}));
}

Result<std::shared_ptr<arrow::RecordBatch>> PlanBatch(const std::vector<PlanRow>& rows) {
  arrow::StringBuilder paths, partitions, residuals;
  arrow::Int64Builder records, sizes;
  for (const PlanRow& row : rows) {
    ARROW_RETURN_NOT_OK(paths.Append(row.file_path));
    ARROW_RETURN_NOT_OK(records.Append(row.record_count));
    ARROW_RETURN_NOT_OK(sizes.Append(row.file_size_in_bytes));
    ARROW_RETURN_NOT_OK(partitions.Append(row.partition));
    ARROW_RETURN_NOT_OK(residuals.Append(row.residual));
  }
  arrow::ArrayVector columns(5);
  ARROW_RETURN_NOT_OK(paths.Finish(&columns[0]));
  ARROW_RETURN_NOT_OK(records.Finish(&columns[1]));
  ARROW_RETURN_NOT_OK(sizes.Finish(&columns[2]));
  ARROW_RETURN_NOT_OK(partitions.Finish(&columns[3]));
  ARROW_RETURN_NOT_OK(residuals.Finish(&columns[4]));
  auto schema = arrow::schema(
      {arrow::field("file_path", arrow::utf8(), false), arrow::field("record_count", arrow::int64(), false),
       arrow::field("file_size_in_bytes", arrow::int64(), false), arrow::field("partition", arrow::utf8(), false),
       arrow::field("residual", arrow::utf8(), false)});
  return arrow::RecordBatch::Make(schema, static_cast<int64_t>(rows.size()), std::move(columns));
}

}  // namespace calve::pipeline
