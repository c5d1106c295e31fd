#include "calve/scan.h"

#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/pipeline/file_set_scan.h"
#include "calve/pipeline/filter_target.h"
#include "calve/pipeline/table_files.h"

#include <arrow/type.h>

namespace calve {

using pipeline::TargetField;

namespace {

/// The names of all columns at the top, for messages.
std::string ColumnNames(const iceberg::Schema& schema) {
  std::string names;
  for (const auto& field : schema.fields) names += (names.empty() ? "" : ", ") + field.name;
  return names;
}

Status CheckMetadataColumn(const TargetField& column, const iceberg::TableMetadata& metadata) {
  const bool is_lineage =
      column.kind == TargetField::Kind::kRowId || column.kind == TargetField::Kind::kLastUpdatedSequenceNumber;
  if (!is_lineage || metadata.format_version >= 3) return Status::OK();
  return Invalid("column '{}': rows have it from format version 3 on, the table is of version {}", column.field->name(),
                 metadata.format_version);
}

/// The columns asked for, in the order in which their top-level columns are first named.
Result<std::vector<TargetField>> SelectColumns(const iceberg::TableMetadata& metadata, const iceberg::Schema& schema,
                                               const std::vector<std::string>& names) {
  if (names.empty()) return pipeline::TargetsOf(schema.fields, pipeline::DefaultKind::kInitial);
  struct Column {
    const iceberg::Field* top = nullptr;  // null: a metadata column
    std::vector<int> ids;
    TargetField metadata_column;
  };
  std::vector<Column> columns;
  for (const std::string& name : names) {
    const iceberg::Field* field = schema.FindByName(name);
    if (field == nullptr) {
      auto special = pipeline::MetadataColumn(name);
      if (!special) return Invalid("no column '{}': the table has {}", name, ColumnNames(schema));
      ARROW_RETURN_NOT_OK(CheckMetadataColumn(*special, metadata));
      columns.push_back({nullptr, {}, std::move(*special)});
      continue;
    }
    for (const auto& top : schema.fields) {
      if (pipeline::SelectFields({top}, {field->id}).empty()) continue;
      auto known = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.top == &top; });
      if (known == columns.end()) known = columns.insert(columns.end(), Column{&top, {}, {}});
      known->ids.push_back(field->id);
    }
  }
  std::vector<TargetField> result;
  for (Column& column : columns) {
    if (column.top == nullptr) {
      result.push_back(std::move(column.metadata_column));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto targets, pipeline::TargetsOf(pipeline::SelectFields({*column.top}, column.ids),
                                                            pipeline::DefaultKind::kInitial));
    result.push_back(std::move(targets[0]));
  }
  return result;
}

Result<std::shared_ptr<arrow::RecordBatch>> PlanOf(const iceberg::TableMetadata& metadata,
                                                   const std::vector<iceberg::FileScanTask>& tasks) {
  std::vector<pipeline::PlanRow> rows;
  for (const auto& task : tasks) {
    ARROW_ASSIGN_OR_RAISE(auto partition, pipeline::PartitionText(metadata, task.file));
    rows.push_back({task.file.file_path, task.file.record_count, task.file.file_size_in_bytes, std::move(partition),
                    task.residual ? expr::ToString(task.residual) : "TRUE"});
  }
  return pipeline::PlanBatch(rows);
}

ScanMetrics MetricsOf(const iceberg::PlanCounts& counts) {
  ScanMetrics metrics;
  metrics.manifests_total = counts.manifests_total;
  metrics.manifests_skipped = counts.manifests_skipped;
  metrics.data_files_total = counts.data_files_total;
  metrics.data_files_skipped = counts.data_files_skipped;
  metrics.data_files_skipped_by_partition = counts.data_files_skipped_by_partition;
  metrics.data_files_skipped_by_bounds = counts.data_files_skipped_by_bounds;
  metrics.bytes_planned = counts.bytes_planned;
  return metrics;
}

}  // namespace

Result<std::unique_ptr<Scan>> ScanTable(const Table& table, const ScanOptions& options, const Context& context) {
  const auto& metadata = table.version()->metadata;
  const iceberg::SnapshotSelector selector{options.snapshot_id, options.ref, options.as_of_ms};
  ARROW_ASSIGN_OR_RAISE(const auto* snapshot, iceberg::SelectSnapshot(metadata, selector));
  const iceberg::Schema& schema = iceberg::ScanSchema(metadata, snapshot, selector);

  pipeline::FileSetOptions read;
  read.batch_rows = options.batch_rows;
  read.decryption = options.decryption;
  read.rules.missing_by_name_is_error = true;
  read.rules.unmapped_is_null = true;
  ARROW_ASSIGN_OR_RAISE(read.output, SelectColumns(metadata, schema, options.columns));
  expr::NodePtr filter;
  if (!options.filter.always_true()) {
    ARROW_ASSIGN_OR_RAISE(auto columns, iceberg::ToArrow(schema));
    auto special = pipeline::MetadataColumnsOf(options.filter.root(), *columns);
    for (const TargetField& column : special) {
      ARROW_RETURN_NOT_OK(CheckMetadataColumn(column, metadata));
      ARROW_ASSIGN_OR_RAISE(columns, columns->AddField(columns->num_fields(), column.field));
    }
    ARROW_ASSIGN_OR_RAISE(filter, expr::Bind(options.filter.root(), *columns));
    ARROW_ASSIGN_OR_RAISE(read.filter_columns,
                          pipeline::TargetsOf(pipeline::SelectFields(schema.fields, expr::FieldIdsOf(filter)),
                                              pipeline::DefaultKind::kInitial));
    std::move(special.begin(), special.end(), std::back_inserter(read.filter_columns));
  }
  auto known = read.output;
  known.insert(known.end(), read.filter_columns.begin(), read.filter_columns.end());
  read.identify = pipeline::IdentifyByTable(metadata, std::move(known));

  const auto io = pipeline::IoOf(table);
  ARROW_ASSIGN_OR_RAISE(auto plan, iceberg::PlanScan(*io, metadata, snapshot, schema, filter, context));
  ARROW_RETURN_NOT_OK(iceberg::CheckSupported(plan));
  pipeline::ScanSetup setup;
  setup.pool = OperationPool::Make(context);
  setup.planned = MetricsOf(plan.counts);
  ARROW_ASSIGN_OR_RAISE(setup.plan, PlanOf(metadata, plan.tasks));
  ARROW_ASSIGN_OR_RAISE(auto files, pipeline::FilesOfPlan(metadata, plan.tasks, true));
  ARROW_ASSIGN_OR_RAISE(setup.files,
                        pipeline::FileSet::Open(io, std::move(files), std::move(read), setup.pool, context));
  return pipeline::MakeFileSetScan(std::move(setup), context);
}

}  // namespace calve
