#include "calve/pipeline/file_set.h"

#include "calve/array/read_memory.h"
#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/expr/evaluate.h"
#include "calve/parquet/chunk_bounds.h"
#include "calve/parquet/metadata.h"
#include "calve/pipeline/file_filter_pushdown.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <chrono>
#include <mutex>

namespace calve::pipeline {
namespace {

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

/// Readers of files that were checked are kept open for the reading that follows, up to this many: each holds a
/// descriptor.
constexpr size_t kKeptReaders = 256;

bool Filters(const expr::NodePtr& filter) { return filter != nullptr && filter->op != expr::Op::kTrue; }

}  // namespace

void FileSetCounts::Add(const ParquetReadMetrics& metrics) {
  std::lock_guard<std::mutex> lock(mutex_);
  parquet_ += metrics;
}

ParquetReadMetrics FileSetCounts::parquet() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return parquet_;
}

struct FileSet::Shared {
  std::shared_ptr<const FileIO> io;
  FileSetOptions options;
  std::shared_ptr<arrow::Schema> output_schema, filter_schema;
  std::shared_ptr<OperationPool> pool;
  Context context;
  std::shared_ptr<BufferPool> buffers;  ///< over `pool`: what one file's batches gave back serves the next file's
  int threads_a_row_group = 1;
  FileSetCounts counts;

  Context read_context() const {
    Context result = ContextWithPool(context, buffers.get());
    result.threads = threads_a_row_group;
    return result;
  }

  ParquetReadOptions read_options() const {
    ParquetReadOptions result = TableFileOptions();
    result.batch_rows = options.batch_rows;
    result.decryption = options.decryption;
    return result;
  }
};

/// A file whose footer was checked. Its reader lives as long as a row group of it is being read.
class FileSet::File {
 public:
  struct Group {
    int index = 0;
    int64_t compressed_bytes = 0, weight_bytes = 0;
  };

  File(std::shared_ptr<Shared> shared, FileToRead file) : shared_(std::move(shared)), file_(std::move(file)) {}

  Status Check(bool keep_open) {
    ARROW_ASSIGN_OR_RAISE(const std::string other_size, OtherSize());
    auto opened = Reader();
    if (!opened.ok()) return OfFileOfOtherSize(opened.status(), other_size);
    auto reader = *std::move(opened);
    ARROW_ASSIGN_OR_RAISE(const SourceSchema source, Identify(*reader));
    if (!other_size.empty()) {
      const Status described = file_.describe ? file_.describe(*reader, source) : Invalid("another file");
      ARROW_RETURN_NOT_OK(OfFileOfOtherSize(described, other_size));
    }
    file_.describe = nullptr;
    ARROW_ASSIGN_OR_RAISE(auto projection, Project(source));
    projection_ = std::make_unique<ColumnProjection>(std::move(projection));
    ARROW_RETURN_NOT_OK(reader->CheckSupported(projection_->leaves()));
    if (Filters(file_.filter)) {
      ARROW_ASSIGN_OR_RAISE(filter_, expr::Rebind(file_.filter, *shared_->filter_schema));
      own_filter_ = FilterOfFile(filter_, *projection_, reader->file_schema());
    }
    ChooseRowGroups(*reader);
    if (keep_open && !groups_.empty()) kept_ = std::move(reader);
    return Status::OK();
  }

  void Release() { kept_.reset(); }

  Result<std::shared_ptr<ParquetReader>> Reader() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (auto reader = reader_.lock()) return reader;
    ARROW_ASSIGN_OR_RAISE(auto file, shared_->io->Open(file_.location));
    ARROW_ASSIGN_OR_RAISE(auto reader, ParquetReader::Open(std::move(file), file_.location, shared_->read_options(),
                                                           shared_->read_context()));
    reader_ = reader;
    return reader;
  }

  /// A batch as read -> the output columns of the rows that pass the filter.
  Result<BatchPtr> Convert(const arrow::RecordBatch& batch, const std::vector<RowRange>& rows) const {
    arrow::MemoryPool* pool = shared_->pool.get();
    ARROW_ASSIGN_OR_RAISE(auto all, projection_->Apply(batch, rows, pool));
    if (!filter_) return arrow::RecordBatch::Make(shared_->output_schema, all->num_rows(), all->columns());
    const auto output_count = static_cast<int>(shared_->options.output.size());
    const auto& columns = all->columns();
    auto output = arrow::RecordBatch::Make(shared_->output_schema, all->num_rows(),
                                           std::vector(columns.begin(), columns.begin() + output_count));
    auto tested = arrow::RecordBatch::Make(shared_->filter_schema, all->num_rows(),
                                           std::vector(columns.begin() + output_count, columns.end()));
    ARROW_ASSIGN_OR_RAISE(auto mask, expr::Evaluate(filter_, *tested, pool));
    if (output_count == 0)
      return arrow::RecordBatch::Make(shared_->output_schema, mask->true_count(), arrow::ArrayVector{});
    return expr::KeepRows(output, mask, pool);
  }

  /// Makes the required columns of `schema` nullable that this file has only nulls for.
  Status AllowNulls(std::shared_ptr<arrow::Schema>* schema) const {
    for (int i = 0; i < (*schema)->num_fields(); ++i) {
      if (!projection_->is_null_though_required(static_cast<size_t>(i))) continue;
      ARROW_ASSIGN_OR_RAISE(*schema, (*schema)->SetField(i, (*schema)->field(i)->WithNullable(true)));
    }
    return Status::OK();
  }

  const std::vector<Group>& groups() const { return groups_; }
  int64_t num_rows() const { return num_rows_; }
  /// The rows of a row group that may pass the filter.
  ParquetReadRequest RequestOf(const Group& group) const {
    ParquetReadRequest request;
    request.leaves = projection_->leaves();
    request.row_groups = {group.index};
    if (own_filter_) request.filter = Expression(own_filter_);
    return request;
  }
  const Shared& shared() const { return *shared_; }
  FileSetCounts& counts() { return shared_->counts; }

 private:
  /// What is wrong with the file's size, "" when nothing is.
  Result<std::string> OtherSize() const {
    if (!file_.expected_size_bytes) return std::string();
    ARROW_ASSIGN_OR_RAISE(const int64_t size, shared_->io->Size(file_.location));
    if (size == *file_.expected_size_bytes) return std::string();
    return fmt::format("data file {} has {} bytes, its manifest says {}", file_.location, size,
                       *file_.expected_size_bytes);
  }

  /// An error of a file that is of another size than it should be begins with that.
  static Status OfFileOfOtherSize(const Status& status, const std::string& other_size) {
    return other_size.empty() ? status : WithContext(status, other_size);
  }

  Result<SourceSchema> Identify(const ParquetReader& reader) const {
    auto source = SourceSchema::OfFile(reader.file_schema(), file_.location);
    if (shared_->options.identify) ARROW_RETURN_NOT_OK(shared_->options.identify(reader, &source));
    return source;
  }

  Result<ColumnProjection> Project(const SourceSchema& source) const {
    std::vector<TargetField> targets = shared_->options.output;
    if (Filters(file_.filter)) {
      const auto& tested = shared_->options.filter_columns;
      targets.insert(targets.end(), tested.begin(), tested.end());
    }
    return ColumnProjection::Make(source, targets, file_.values, shared_->options.rules);
  }

  void ChooseRowGroups(const ParquetReader& reader) {
    const auto& footer = reader.metadata();
    num_rows_ = reader.num_rows();
    int64_t first_row = 0;
    for (int g = 0; g < reader.num_row_groups(); ++g) {
      ++shared_->counts.row_groups_total;
      const auto& group = footer.row_groups[static_cast<size_t>(g)];
      const int64_t group_begin = first_row;
      first_row += group.num_rows;
      if (filter_ && !MightMatch(footer, group, group_begin)) {
        ++shared_->counts.row_groups_skipped;
        continue;
      }
      Group chosen{.index = g};
      for (int leaf : projection_->leaves()) {
        const auto& chunk = group.columns[static_cast<size_t>(leaf)].metadata;
        if (!chunk) continue;
        chosen.compressed_bytes += chunk->total_compressed_size;
        chosen.weight_bytes += chunk->total_compressed_size + chunk->total_uncompressed_size;
      }
      shared_->counts.bytes_total += chosen.compressed_bytes;
      groups_.push_back(chosen);
    }
  }

  /// `first_row` is the position of the row group's first row in the file.
  bool MightMatch(const parquet::FileMetadata& footer, const parquet::RowGroup& group, int64_t first_row) const {
    return expr::MightMatch(filter_, [&](const expr::ColumnRef& column) -> std::optional<expr::ColumnBounds> {
      if (column.field_id == iceberg::kRowPositionFieldId) return expr::BoundsOfPositions(first_row, group.num_rows);
      const auto origin = projection_->OriginOf(column.field_id);
      if (!origin) return std::nullopt;
      if (origin->leaf < 0) return BoundsOfConstant(origin->constant, group.num_rows);
      const auto leaf = static_cast<size_t>(origin->leaf);
      if (leaf >= group.columns.size() || !group.columns[leaf].metadata) return std::nullopt;
      const bool ordered = leaf < footer.type_defined_order.size() && footer.type_defined_order[leaf];
      return BoundsOfChunk(*group.columns[leaf].metadata, *origin->source_type, ordered, *origin->type);
    });
  }

  std::shared_ptr<Shared> shared_;
  FileToRead file_;
  std::mutex mutex_;
  std::weak_ptr<ParquetReader> reader_;
  std::shared_ptr<ParquetReader> kept_;
  std::unique_ptr<ColumnProjection> projection_;
  expr::NodePtr filter_;      // null: every row
  expr::NodePtr own_filter_;  // what it asks of the file's own columns
  std::vector<Group> groups_;
  int64_t num_rows_ = 0;
};

class FileSet::RowGroupSource : public BatchSource {
 public:
  static Result<std::unique_ptr<BatchSource>> Make(std::shared_ptr<File> file, File::Group group, bool last_of_file) {
    auto source = std::unique_ptr<RowGroupSource>(new RowGroupSource);
    source->file_ = file;
    ARROW_ASSIGN_OR_RAISE(source->reader_, file->Reader());
    if (last_of_file) file->Release();
    ARROW_ASSIGN_OR_RAISE(source->batches_, source->reader_->Read(file->RequestOf(group)));
    source->group_ = group;
    return std::unique_ptr<BatchSource>(std::move(source));
  }

  ~RowGroupSource() override {
    if (batches_ != nullptr) file_->counts().Add(batches_->metrics());
  }

  Result<BatchPtr> Next() override {
    while (true) {
      ARROW_ASSIGN_OR_RAISE(auto batch, batches_->Next());
      CountRead();
      if (batch == nullptr) {
        file_->counts().bytes_read += group_.compressed_bytes;
        return nullptr;
      }
      ARROW_ASSIGN_OR_RAISE(auto result, file_->Convert(*batch, batches_->rows()));
      if (result->num_rows() > 0) return result;
    }
  }

 private:
  static int64_t RowsDecoded(const ParquetReadMetrics& metrics) {
    return metrics.selection.rows_tested > 0 ? metrics.selection.rows_tested : metrics.rows;
  }

  /// Adds what was read since the last call.
  void CountRead() {
    FileSetCounts& counts = file_->counts();
    const ParquetReadMetrics now = batches_->metrics();
    const ParquetSelectionCounts &by = now.selection, &before = counted_.selection;
    counts.rows_read += RowsDecoded(now) - RowsDecoded(counted_);
    counts.pages_read += now.pages_read - counted_.pages_read;
    counts.pages_skipped += now.pages_skipped - counted_.pages_skipped;
    counts.row_groups_skipped += now.row_groups_skipped - counted_.row_groups_skipped;
    counts.row_groups_skipped_by_bloom_filter +=
        by.row_groups_skipped_by_bloom_filter - before.row_groups_skipped_by_bloom_filter;
    counts.row_groups_skipped_by_page_index +=
        by.row_groups_skipped_by_page_index - before.row_groups_skipped_by_page_index;
    counts.row_groups_skipped_by_dictionary +=
        by.row_groups_skipped_by_dictionary - before.row_groups_skipped_by_dictionary;
    counted_ = now;
  }

  std::shared_ptr<File> file_;
  ParquetReadMetrics counted_;
  std::shared_ptr<ParquetReader> reader_;  // outlives batches_
  std::unique_ptr<ParquetBatchReader> batches_;
  File::Group group_;
};

Result<std::unique_ptr<FileSet>> FileSet::Open(std::shared_ptr<const FileIO> io, std::vector<FileToRead> files,
                                               FileSetOptions options, std::shared_ptr<OperationPool> pool,
                                               const Context& context) {
  auto result = std::unique_ptr<FileSet>(new FileSet);
  result->schema_ = SchemaOf(options.output);
  result->shared_ = std::make_shared<Shared>();
  Shared& shared = *result->shared_;
  shared.io = std::move(io);
  shared.output_schema = result->schema_;
  shared.filter_schema = SchemaOf(options.filter_columns);
  shared.options = std::move(options);
  shared.pool = pool;
  shared.context = context;
  shared.buffers = BufferPool::Make(pool.get(), IdleBytesOf(context));
  std::vector<std::shared_ptr<File>> checked;
  for (FileToRead& file : files) checked.push_back(std::make_shared<File>(result->shared_, std::move(file)));
  ARROW_RETURN_NOT_OK(ParallelFor(context, static_cast<int64_t>(checked.size()), [&](int64_t i) -> Status {
    File& file = *checked[static_cast<size_t>(i)];
    return file.Check(static_cast<size_t>(i) < kKeptReaders);
  }));
  for (const auto& file : checked) ARROW_RETURN_NOT_OK(file->AllowNulls(&result->schema_));
  shared.output_schema = result->schema_;
  std::vector<BatchUnit> units;
  for (const auto& file : checked) {
    result->file_rows_.push_back(file->num_rows());
    const auto& groups = file->groups();
    for (size_t g = 0; g < groups.size(); ++g) {
      const bool last = g + 1 == groups.size();
      units.push_back({[file, group = groups[g], last] { return RowGroupSource::Make(file, group, last); },
                       groups[g].weight_bytes});
    }
  }
  // Row groups by themselves keep every thread busy when there are enough of them.
  if (const int threads = ThreadsOf(context); units.size() < static_cast<size_t>(threads)) {
    shared.threads_a_row_group = threads;
    for (const auto& file : checked) file->Release();
  }
  result->batches_ = std::make_unique<OrderedBatches>(context, std::move(pool), std::move(units));
  return result;
}

FileSet::~FileSet() = default;

Result<BatchPtr> FileSet::Next() {
  ARROW_ASSIGN_OR_RAISE(auto batch, batches_->Next());
  if (batch != nullptr) shared_->counts.rows_returned += batch->num_rows();
  return batch;
}

const FileSetCounts& FileSet::counts() const { return shared_->counts; }

void ProgressMeter::Report(const Progress& progress, bool last) {
  if (!context_.progress) return;
  const int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  constexpr int64_t kInterval = 250'000'000;
  if (!last && now - last_report_ns_ < kInterval) return;
  last_report_ns_ = now;
  context_.progress(progress);
}

}  // namespace calve::pipeline
