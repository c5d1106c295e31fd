#include "calve/append.h"

#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/pipeline/add_files.h"
#include "calve/pipeline/append_columns.h"
#include "calve/pipeline/file_set.h"
#include "calve/pipeline/rolling_writer.h"
#include "calve/pipeline/table_files.h"
#include "calve/pipeline/write_options.h"

#include <arrow/record_batch.h>

namespace calve {

using pipeline::RollingWriter;
using pipeline::TargetField;

namespace {

/// One append: what its rows are turned into and where they go.
struct Append {
  const Table& table;
  const AppendOptions& options;
  const Context& context;
  std::shared_ptr<OperationPool> pool;
  std::vector<TargetField> targets;
  pipeline::WriteSetup setup;
  std::unique_ptr<RollingWriter> writer;

  const iceberg::TableMetadata& metadata() const { return table.version()->metadata; }

  /// Casts of foreign data; a null in a required column is found before it is written.
  pipeline::ProjectionRules rules() const { return {.casts = pipeline::CastRules::kAppend, .check_required = true}; }

  Status Prepare() {
    ARROW_RETURN_NOT_OK(table.store()->CheckWritable(*table.version()));
    ARROW_ASSIGN_OR_RAISE(const auto columns, pipeline::FileColumns(metadata().schema()));
    ARROW_ASSIGN_OR_RAISE(targets, pipeline::TargetsOf(columns, pipeline::DefaultKind::kWrite));
    ARROW_ASSIGN_OR_RAISE(setup,
                          pipeline::WriteSetup::Make(pipeline::IoOf(table), metadata(), /*lineage=*/false, 1, pool));
    ARROW_ASSIGN_OR_RAISE(writer, RollingWriter::Make(setup, 0, context));
    return Status::OK();
  }

  Result<AppendResult> Commit(std::vector<iceberg::DataFile> files, std::map<std::string, std::string> properties) {
    AppendResult result;
    result.files = static_cast<int64_t>(files.size());
    for (const auto& file : files) {
      result.rows += file.record_count;
      result.bytes += file.file_size_in_bytes;
    }
    result.peak_memory_bytes = pool->max_memory();
    result.snapshot_id = table.current_snapshot_id().value_or(0);
    if (files.empty()) return result;
    iceberg::SnapshotChange change;
    change.operation = "append";
    change.added = std::move(files);
    change.extra_summary = options.summary;
    change.branch = options.branch;
    change.new_properties = std::move(properties);
    change.added_must_be_new = options.add_files;
    ARROW_ASSIGN_OR_RAISE(auto committed, iceberg::CommitSnapshot(*table.store(), *table.version(), change));
    result.snapshot_id = committed.snapshot.snapshot_id;
    result.attempts = committed.attempts;
    return result;
  }

  /// Commits what the writer holds. The files stay when they may have been committed.
  Result<AppendResult> Finish() {
    ARROW_ASSIGN_OR_RAISE(auto files, writer->Close());
    Status stopped = CheckStop(context);
    auto result = stopped.ok() ? Commit(files, {}) : Result<AppendResult>(stopped);
    if (!result.ok() && CommitFailureOf(result.status()) != CommitFailure::kStateUnknown) {
      pipeline::DeleteFiles(*setup.io, files);
    }
    return result;
  }
};

Result<AppendResult> AddFiles(const Table& table, const std::vector<std::string>& paths, const AppendOptions& options,
                              const Context& context) {
  Append append{table, options, context, OperationPool::Make(context), {}, {}, nullptr};
  ARROW_RETURN_NOT_OK(table.store()->CheckWritable(*table.version()));
  ARROW_ASSIGN_OR_RAISE(auto registered, pipeline::RegisterFiles(table, paths, options.branch, append.pool, context));
  std::map<std::string, std::string> properties;
  if (registered.name_mapping) properties["schema.name-mapping.default"] = *registered.name_mapping;
  return append.Commit(std::move(registered.files), std::move(properties));
}

}  // namespace

Result<AppendResult> AppendFiles(const Table& table, const std::vector<std::string>& paths,
                                 const AppendOptions& options, const Context& context) {
  if (paths.empty()) return Invalid("no file to append");
  if (options.add_files) return AddFiles(table, paths, options, context);
  Append append{table, options, context, OperationPool::Make(context), {}, {}, nullptr};
  ARROW_RETURN_NOT_OK(append.Prepare());
  pipeline::FileSetOptions read;
  read.output = append.targets;
  read.rules = append.rules();
  read.identify = [&](const ParquetReader&, pipeline::SourceSchema* source) {
    return pipeline::IdentifyForAppend(append.metadata(), append.targets, source);
  };
  std::vector<pipeline::FileToRead> inputs;
  for (const std::string& path : paths) {
    pipeline::FileToRead input;
    input.location = input.values.path = path;
    inputs.push_back(std::move(input));
  }
  ARROW_ASSIGN_OR_RAISE(auto files, pipeline::FileSet::Open(std::make_shared<FileIO>(), std::move(inputs),
                                                            std::move(read), append.pool, context));
  pipeline::ProgressMeter meter(context);
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto batch, files->Next());
    const auto& counts = files->counts();
    meter.Report({.rows = counts.rows_returned, .bytes = counts.bytes_read, .total_bytes = counts.bytes_total},
                 batch == nullptr);
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(append.writer->Write(batch));
  }
  if (files->counts().rows_read != append.writer->rows_written()) {
    return Invalid("{} rows were written of {} read", append.writer->rows_written(), files->counts().rows_read.load());
  }
  return append.Finish();
}

Result<AppendResult> AppendBatches(const Table& table, arrow::RecordBatchReader* reader, const AppendOptions& options,
                                   const Context& context) {
  if (options.add_files) return Invalid("add_files: batches are no files to register");
  Append append{table, options, context, OperationPool::Make(context), {}, {}, nullptr};
  ARROW_RETURN_NOT_OK(append.Prepare());
  auto source = pipeline::SourceSchema::OfArrow(*reader->schema(), "<batches>");
  ARROW_RETURN_NOT_OK(pipeline::IdentifyForAppend(append.metadata(), append.targets, &source));
  auto rules = append.rules();
  rules.whole_source = true;
  pipeline::FileValues values;
  values.path = source.name;
  ARROW_ASSIGN_OR_RAISE(const auto projection,
                        pipeline::ColumnProjection::Make(source, append.targets, std::move(values), rules));
  pipeline::ProgressMeter meter(context);
  while (true) {
    ARROW_RETURN_NOT_OK(CheckStop(context));
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    meter.Report({.rows = append.writer->rows_written()}, batch == nullptr);
    if (batch == nullptr) break;
    ARROW_ASSIGN_OR_RAISE(auto converted, projection.Apply(*batch, 0, append.pool.get()));
    ARROW_RETURN_NOT_OK(append.writer->Write(converted));
  }
  return append.Finish();
}

}  // namespace calve
