#include "calve/pipeline/rolling_writer.h"

#include "calve/array/referenced_bytes.h"
#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/iceberg/metrics.h"
#include "calve/io/file_io.h"
#include "calve/pipeline/file_metrics.h"
#include "calve/pipeline/partition_router.h"
#include "calve/pipeline/target_field.h"
#include "calve/pipeline/write_options.h"

#include <arrow/record_batch.h>

#include <map>

namespace calve::pipeline {
namespace {

constexpr size_t kMaxOpenFiles = 100;
/// A file may overshoot its target by about this part of it.
constexpr int64_t kRollChecksPerFile = 50;
constexpr int64_t kMinSliceRows = 100;

/// A file that rows of one partition are being written to.
struct OpenFile {
  std::string location;
  std::vector<Value> partition;
  size_t order = 0;  // of its beginning
  std::unique_ptr<FileIO::Output> output;
  std::unique_ptr<ParquetWriter> writer;
  int64_t rows = 0;
};

/// Rows of `batch` to write between two looks at the file's size.
int64_t SliceRows(const arrow::RecordBatch& batch, int64_t target_bytes) {
  int64_t bytes = 0;
  for (const auto& column : batch.column_data()) bytes += ReferencedBytes(*column, 0, batch.num_rows());
  const int64_t row_bytes = std::max<int64_t>(1, bytes / std::max<int64_t>(1, batch.num_rows()));
  return std::max(kMinSliceRows, target_bytes / kRollChecksPerFile / row_bytes);
}

}  // namespace

struct RollingWriter::Impl {
  WriteSetup setup;
  int64_t task = 0;
  Context context;
  std::unique_ptr<RowRouter> router;
  std::map<size_t, OpenFile> open;              // by partition
  std::map<size_t, iceberg::DataFile> written;  // by order
  size_t files_begun = 0;
  bool closed = false;

  Status Begin(size_t partition) {
    if (open.size() >= kMaxOpenFiles) ARROW_RETURN_NOT_OK(CloseLargest());
    OpenFile file;
    file.order = files_begun++;
    file.partition = router->partition(partition).values;
    file.location = setup.locations.New(router->partition(partition).path, task, static_cast<int64_t>(file.order));
    ARROW_ASSIGN_OR_RAISE(file.output, setup.io->Create(file.location));
    ARROW_ASSIGN_OR_RAISE(file.writer,
                          ParquetWriter::Make(file.output->stream(), setup.schema, setup.parquet, context));
    open.emplace(partition, std::move(file));
    return Status::OK();
  }

  Status WriteRows(size_t partition, const std::shared_ptr<arrow::RecordBatch>& rows) {
    const int64_t slice_rows = SliceRows(*rows, setup.target_file_size_bytes);
    for (int64_t start = 0; start < rows->num_rows(); start += slice_rows) {
      if (!open.contains(partition)) ARROW_RETURN_NOT_OK(Begin(partition));
      OpenFile& file = open.at(partition);
      const auto slice = rows->Slice(start, slice_rows);
      ARROW_RETURN_NOT_OK(WithContext(file.writer->Write(*slice), "data file " + file.location));
      file.rows += slice->num_rows();
      if (file.writer->estimated_bytes() >= setup.target_file_size_bytes) ARROW_RETURN_NOT_OK(Finish(partition));
    }
    return Status::OK();
  }

  /// Keeps what open files hold under the limit.
  Status Relieve() {
    if (setup.buffer_limit_bytes <= 0) return Status::OK();
    while (open.size() > 1 && Buffered() > setup.buffer_limit_bytes) ARROW_RETURN_NOT_OK(CloseLargest());
    return Status::OK();
  }

  /// What the open files hold, no more than a row group each.
  int64_t Buffered() const {
    int64_t bytes = 0;
    for (const auto& [partition, file] : open) {
      bytes += std::min(file.writer->estimated_bytes(), setup.parquet.row_group_bytes);
    }
    return bytes;
  }

  Status CloseLargest() {
    auto largest = std::max_element(open.begin(), open.end(), [](const auto& left, const auto& right) {
      return left.second.writer->estimated_bytes() < right.second.writer->estimated_bytes();
    });
    return Finish(largest->first);
  }

  Status Finish(size_t partition) {
    OpenFile file = std::move(open.at(partition));
    open.erase(partition);
    return WithContext(FinishFile(&file), "data file " + file.location);
  }

  Status FinishFile(OpenFile* file) {
    ARROW_ASSIGN_OR_RAISE(const auto summary, file->writer->Close());
    if (summary.rows != file->rows) return Invalid("{} rows were written of {}", summary.rows, file->rows);
    iceberg::DataFile data;
    data.file_path = file->location;
    data.file_format = "PARQUET";
    data.spec_id = setup.metadata->spec().spec_id;
    data.partition = std::move(file->partition);
    data.record_count = summary.rows;
    data.split_offsets = summary.row_group_offsets;
    data.sort_order_id = 0;
    ARROW_ASSIGN_OR_RAISE(const auto leaves, MetricsOfSummary(summary, setup.schema));
    ARROW_RETURN_NOT_OK(iceberg::SetMetrics(*setup.metadata, setup.metadata->schema(), leaves, &data));
    file->writer.reset();
    ARROW_ASSIGN_OR_RAISE(data.file_size_in_bytes, file->output->Commit());
    const int64_t size_bytes = data.file_size_in_bytes;
    written.emplace(file->order, std::move(data));
    if (size_bytes != summary.bytes) return IOError("{} bytes arrived of {}", size_bytes, summary.bytes);
    return Status::OK();
  }

  std::vector<iceberg::DataFile> Written() const {
    std::vector<iceberg::DataFile> files;
    for (const auto& [order, file] : written) files.push_back(file);
    return files;
  }
};

Result<WriteSetup> WriteSetup::Make(std::shared_ptr<const FileIO> io, const iceberg::TableMetadata& metadata,
                                    bool lineage, int writers, std::shared_ptr<OperationPool> pool) {
  WriteSetup setup;
  setup.io = std::move(io);
  setup.metadata = &metadata;
  ARROW_ASSIGN_OR_RAISE(const auto columns, FileColumns(metadata.schema()));
  ARROW_ASSIGN_OR_RAISE(auto targets, TargetsOf(columns, DefaultKind::kWrite));
  if (lineage) {
    targets.push_back(*MetadataColumn("_row_id"));
    targets.push_back(*MetadataColumn("_last_updated_sequence_number"));
  }
  setup.schema = SchemaOf(targets);
  ARROW_ASSIGN_OR_RAISE(setup.parquet, WriteOptionsOf(metadata));
  ARROW_ASSIGN_OR_RAISE(setup.locations, DataLocations::Make(metadata));
  ARROW_ASSIGN_OR_RAISE(setup.target_file_size_bytes, TargetFileSizeOf(metadata));
  if (pool && pool->limit_bytes() > 0) {
    // A quarter for what is being written, the rest for what is read and for encoding.
    constexpr int64_t kLeast = int64_t{1} << 20;
    setup.buffer_limit_bytes = std::max(kLeast, pool->limit_bytes() / 4 / std::max(1, writers));
    setup.parquet.row_group_bytes =
        std::min(setup.parquet.row_group_bytes, std::max(kLeast, setup.buffer_limit_bytes / 2));
  }
  setup.pool = std::move(pool);
  return setup;
}

RollingWriter::RollingWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<RollingWriter>> RollingWriter::Make(const WriteSetup& setup, int64_t task,
                                                           const Context& context) {
  auto impl = std::make_unique<Impl>();
  impl->setup = setup;
  impl->task = task;
  impl->context = ContextWithPool(context, setup.pool.get());
  ARROW_ASSIGN_OR_RAISE(impl->router,
                        RowRouter::Make(*setup.metadata, setup.metadata->spec(), *setup.schema, setup.pool.get()));
  return std::unique_ptr<RollingWriter>(new RollingWriter(std::move(impl)));
}

RollingWriter::~RollingWriter() {
  if (!impl_->closed) Abort();
}

Status RollingWriter::Write(const std::shared_ptr<arrow::RecordBatch>& batch) {
  ARROW_ASSIGN_OR_RAISE(const auto routed, impl_->router->Route(batch));
  for (const RoutedRows& rows : routed) {
    ARROW_RETURN_NOT_OK(impl_->WriteRows(rows.partition, rows.rows));
    ARROW_RETURN_NOT_OK(impl_->Relieve());
  }
  rows_written_ += batch->num_rows();
  return Status::OK();
}

Result<std::vector<iceberg::DataFile>> RollingWriter::Close() {
  while (!impl_->open.empty()) ARROW_RETURN_NOT_OK(impl_->Finish(impl_->open.begin()->first));
  impl_->closed = true;
  return impl_->Written();
}

void RollingWriter::Abort() {
  impl_->open.clear();
  DeleteFiles(*impl_->setup.io, impl_->Written());
  impl_->written.clear();
}

void DeleteFiles(const FileIO& io, const std::vector<iceberg::DataFile>& files) {
  for (const auto& file : files) ARROW_UNUSED(io.Delete(file.file_path));
}

}  // namespace calve::pipeline
