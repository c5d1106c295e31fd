#include "calve/pipeline/arrow_file_scan.h"

#include "calve/array/read_memory.h"
#include "calve/arrow_file.h"
#include "calve/base/context.h"
#include "calve/base/operation_pool.h"
#include "calve/base/status.h"
#include "calve/io/file_io.h"
#include "calve/pipeline/batch_filter.h"
#include "calve/pipeline/file_set_scan.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>

namespace calve::pipeline {
namespace {

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

struct Inputs {
  std::vector<std::string> paths;
  std::shared_ptr<arrow::Schema> whole, chosen;
  std::vector<int> columns;
  BatchFilter filter;
  int64_t batch_rows = 0;
  Context context;
  std::shared_ptr<OperationPool> pool;
  std::shared_ptr<BufferPool> buffers;  ///< over `pool`: of what the files' batches and the filter's are made
  ScanMetrics metrics;
  bool taken = false;
  std::shared_ptr<arrow::RecordBatchReader> first;  ///< of the first file, until it is read

  Context with_pool() const { return ContextWithPool(context, buffers.get()); }
  Result<std::shared_ptr<arrow::RecordBatchReader>> Open(size_t file) const {
    ARROW_ASSIGN_OR_RAISE(const bool is_arrow, IsArrowFile(paths[file]));
    if (!is_arrow) {
      return Invalid("'{}' is an Arrow file and '{}' is not: files of one kind are scanned together", paths[0],
                     paths[file]);
    }
    ARROW_ASSIGN_OR_RAISE(auto batches, OpenArrowFile(paths[file], {}, with_pool()));
    if (!batches->schema()->Equals(*whole, /*check_metadata=*/false)) {
      return NotImplemented("Arrow files of different columns as one: '{}' and '{}'", paths[0], paths[file]);
    }
    return batches;
  }
};

/// The files' batches, one file after another, in pieces of at most batch_rows.
class ArrowBatches final : public arrow::RecordBatchReader {
 public:
  explicit ArrowBatches(std::shared_ptr<Inputs> inputs) : inputs_(std::move(inputs)), meter_(inputs_->context) {}

  std::shared_ptr<arrow::Schema> schema() const override { return inputs_->chosen; }

  Status ReadNext(BatchPtr* out) override {
    do {
      ARROW_RETURN_NOT_OK(CheckStop(inputs_->context));
      ARROW_ASSIGN_OR_RAISE(*out, NextPiece());
      if (*out == nullptr) return Status::OK();
      ARROW_ASSIGN_OR_RAISE(*out, Passing(**out));
    } while ((*out)->num_rows() == 0);
    inputs_->metrics.rows_returned += (*out)->num_rows();
    meter_.Report({.rows = inputs_->metrics.rows_returned}, false);
    return Status::OK();
  }

 private:
  /// The next rows of the files, some; null at the end of the last.
  Result<BatchPtr> NextPiece() {
    while (rest_ == nullptr || rest_->num_rows() == 0) {
      if (file_ == inputs_->paths.size()) return BatchPtr();
      ARROW_RETURN_NOT_OK(ReadBatch());
    }
    const BatchPtr piece = rest_->Slice(0, inputs_->batch_rows);
    rest_ = rest_->Slice(piece->num_rows());
    return piece;
  }

  /// The next batch of the file, whole; without one, the next file.
  Status ReadBatch() {
    if (batches_ == nullptr && file_ == 0) batches_ = std::move(inputs_->first);
    if (batches_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(batches_, inputs_->Open(file_));
    }
    ARROW_RETURN_NOT_OK(batches_->ReadNext(&rest_));
    if (rest_ == nullptr) {
      batches_.reset();
      ++file_;
    } else {
      inputs_->metrics.rows_read += rest_->num_rows();
    }
    return Status::OK();
  }

  Result<BatchPtr> Passing(const arrow::RecordBatch& piece) {
    ARROW_ASSIGN_OR_RAISE(const BatchPtr chosen, piece.SelectColumns(inputs_->columns));
    const BatchPtr named = arrow::RecordBatch::Make(inputs_->chosen, piece.num_rows(), chosen->columns());
    return WithContext(inputs_->filter.Keep(piece, named, inputs_->buffers.get()), inputs_->paths[file_]);
  }

  std::shared_ptr<Inputs> inputs_;
  ProgressMeter meter_;
  size_t file_ = 0;
  std::shared_ptr<arrow::RecordBatchReader> batches_;
  BatchPtr rest_;
};

class ArrowScan final : public Scan {
 public:
  explicit ArrowScan(std::shared_ptr<Inputs> inputs) : inputs_(std::move(inputs)) {}

  Result<std::shared_ptr<arrow::RecordBatchReader>> reader() override {
    if (inputs_->taken) return Invalid("the scan's reader was already taken");
    inputs_->taken = true;
    return std::make_shared<ArrowBatches>(inputs_);
  }
  const std::shared_ptr<arrow::Schema>& schema() const override { return inputs_->chosen; }
  ScanMetrics metrics() const override {
    ScanMetrics result = inputs_->metrics;
    result.peak_memory_bytes = inputs_->pool->max_memory();
    return result;
  }

  /// Counts the rows by reading the files.
  Result<BatchPtr> Plan() const override {
    std::vector<PlanRow> rows;
    for (size_t file = 0; file < inputs_->paths.size(); ++file) {
      const std::string& path = inputs_->paths[file];
      ARROW_ASSIGN_OR_RAISE(const int64_t size, FileIO().Size(path));
      rows.push_back({path, 0, size, "", inputs_->filter.tests() ? "the filter" : "TRUE"});
      ARROW_ASSIGN_OR_RAISE(const auto batches, inputs_->Open(file));
      for (BatchPtr batch;;) {
        ARROW_RETURN_NOT_OK(batches->ReadNext(&batch));
        if (batch == nullptr) break;
        rows.back().record_count += batch->num_rows();
      }
    }
    return PlanBatch(rows);
  }

 private:
  std::shared_ptr<Inputs> inputs_;
};

Status ChooseColumns(const std::vector<std::string>& names, Inputs* inputs) {
  const arrow::Schema& whole = *inputs->whole;
  for (int i = 0; names.empty() && i < whole.num_fields(); ++i) inputs->columns.push_back(i);
  for (const std::string& name : names) {
    const int column = whole.GetFieldIndex(name);
    if (column >= 0) {
      inputs->columns.push_back(column);
      continue;
    }
    const bool is_inside = whole.GetFieldIndex(name.substr(0, name.find('.'))) >= 0;
    if (is_inside || MetadataColumn(name)) return NotImplemented("column '{}' of an Arrow file", name);
    return Invalid("no column '{}': the files have {}", name, fmt::join(whole.field_names(), ", "));
  }
  arrow::FieldVector fields;
  for (const int column : inputs->columns) fields.push_back(whole.field(column));
  inputs->chosen = arrow::schema(std::move(fields), whole.metadata());
  return Status::OK();
}

}  // namespace

Result<bool> IsArrowFile(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto file, FileIO().Open(path));
  ARROW_ASSIGN_OR_RAISE(const auto first, file->ReadAt(0, 8));
  return BeginsAsArrow(first->ToString());
}

Result<std::unique_ptr<Scan>> ScanArrowFiles(const std::vector<std::string>& paths, const ScanOptions& options,
                                             const Context& context) {
  const auto inputs = std::make_shared<Inputs>();
  inputs->paths = paths;
  inputs->batch_rows = std::max<int64_t>(options.batch_rows, 1);
  inputs->context = context;
  inputs->pool = OperationPool::Make(context);
  inputs->buffers = BufferPool::Make(inputs->pool.get(), IdleBytesOf(context));
  inputs->metrics.data_files_total = static_cast<int64_t>(paths.size());
  for (const std::string& path : paths) {
    ARROW_ASSIGN_OR_RAISE(const int64_t size, FileIO().Size(path));
    inputs->metrics.bytes_planned += size;
  }
  ARROW_ASSIGN_OR_RAISE(inputs->first, OpenArrowFile(paths[0], {}, inputs->with_pool()));
  inputs->whole = inputs->first->schema();
  ARROW_RETURN_NOT_OK(ChooseColumns(options.columns, inputs.get()));
  ARROW_ASSIGN_OR_RAISE(inputs->filter, BatchFilter::Make(options.filter, *inputs->whole));
  return std::make_unique<ArrowScan>(inputs);
}

}  // namespace calve::pipeline
