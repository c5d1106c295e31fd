#include "calve/pipeline/add_files.h"

#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/iceberg/scan_plan.h"
#include "calve/parquet_reader.h"
#include "calve/pipeline/append_columns.h"
#include "calve/pipeline/column_projection.h"
#include "calve/pipeline/file_metrics.h"
#include "calve/pipeline/inferred_partition.h"
#include "calve/pipeline/table_files.h"
#include "calve/pipeline/write_options.h"

#include <filesystem>
#include <mutex>
#include <set>

namespace calve::pipeline {
namespace {

/// The name under which a file is registered: absolute, so that it is found from anywhere.
std::string LocationOf(const std::string& path) {
  const std::string normal = NormalizeLocation(path);
  if (normal.find("://") != std::string::npos) return normal;
  return std::filesystem::absolute(normal).lexically_normal().string();
}

/// The normalized locations of the branch's live data files.
Result<std::set<std::string>> LiveFiles(const Table& table, const std::string& branch, const Context& context) {
  const auto& metadata = table.version()->metadata;
  std::set<std::string> result;
  iceberg::SnapshotSelector selector;
  if (metadata.refs.contains(branch)) selector.ref = branch;
  ARROW_ASSIGN_OR_RAISE(const auto* snapshot, iceberg::SelectSnapshot(metadata, selector));
  ARROW_ASSIGN_OR_RAISE(const auto plan,
                        iceberg::PlanScan(*IoOf(table), metadata, snapshot, metadata.schema(), nullptr, context));
  for (const auto& task : plan.tasks) result.insert(NormalizeLocation(task.file.file_path));
  return result;
}

/// Reads the footer of one file after another; thread-safe.
class Registrar {
 public:
  Registrar(const iceberg::TableMetadata& metadata, std::vector<TargetField> targets, const Context& context)
      : metadata_(metadata), targets_(std::move(targets)), context_(context) {}

  Status Prepare() {
    const auto text = metadata_.properties.find("schema.name-mapping.default");
    table_has_mapping_ = text != metadata_.properties.end();
    if (table_has_mapping_) {
      ARROW_ASSIGN_OR_RAISE(mapping_, WithContext(iceberg::NameMappingFromJson(text->second),
                                                  "table property schema.name-mapping.default"));
    } else {
      mapping_ = iceberg::MappingOf(metadata_.schema());
    }
    return Status::OK();
  }

  Result<iceberg::DataFile> Register(const std::string& location) {
    ARROW_ASSIGN_OR_RAISE(auto input, io_.Open(location));
    ARROW_ASSIGN_OR_RAISE(auto reader, ParquetReader::Open(std::move(input), location, {}, context_));
    if (reader->num_rows() == 0) return Invalid("file {} has no rows", location);
    auto source = SourceSchema::OfFile(reader->file_schema(), location);
    ARROW_RETURN_NOT_OK(Identify(*reader, &source));
    ARROW_RETURN_NOT_OK(CheckNothingIsLost(source, targets_, metadata_));
    FileValues values;
    values.path = location;
    ARROW_ASSIGN_OR_RAISE(values.identity_partition, IdentityValuesInPath(metadata_, location));
    ARROW_ASSIGN_OR_RAISE(const auto projection,
                          ColumnProjection::Make(source, targets_, std::move(values), {.casts = CastRules::kAppend}));
    ARROW_RETURN_NOT_OK(reader->CheckSupported(projection.leaves()));
    return Describe(*reader, source, location);
  }

  bool needs_mapping() const { return needs_mapping_ && !table_has_mapping_; }
  std::string mapping_text() const { return iceberg::ToJsonText(mapping_); }

 private:
  Status Identify(const ParquetReader& reader, SourceSchema* source) {
    if (!source->has_ids()) {
      source->AssignIdsByMapping(mapping_, *reader.schema());
      needs_mapping_ = true;
      return Status::OK();
    }
    if (HasIdsOfTable(*source, metadata_)) return Status::OK();
    return Invalid("file {} has field ids that are not those of the table: readers would take its columns for others",
                   source->name);
  }

  Result<iceberg::DataFile> Describe(const ParquetReader& reader, const SourceSchema& source,
                                     const std::string& location) {
    iceberg::DataFile file;
    file.file_path = location;
    file.file_format = "PARQUET";
    file.spec_id = metadata_.spec().spec_id;
    file.record_count = reader.num_rows();
    file.file_size_in_bytes = reader.size_bytes();
    file.split_offsets = SplitOffsets(reader.metadata());
    file.sort_order_id = 0;
    ARROW_ASSIGN_OR_RAISE(const auto leaves, MetricsOfFooter(reader.metadata(), source, metadata_.schema()));
    ARROW_ASSIGN_OR_RAISE(file.partition, InferPartition(metadata_, location, leaves));
    ARROW_RETURN_NOT_OK(iceberg::SetMetrics(metadata_, metadata_.schema(), leaves, &file));
    return file;
  }

  FileIO io_;
  const iceberg::TableMetadata& metadata_;
  std::vector<TargetField> targets_;
  Context context_;
  iceberg::NameMapping mapping_;
  bool table_has_mapping_ = false;
  std::atomic<bool> needs_mapping_{false};
};

}  // namespace

Result<RegisteredFiles> RegisterFiles(const Table& table, const std::vector<std::string>& paths,
                                      const std::string& branch, std::shared_ptr<OperationPool> pool,
                                      const Context& context) {
  const auto& metadata = table.version()->metadata;
  ARROW_ASSIGN_OR_RAISE(const auto columns, FileColumns(metadata.schema()));
  ARROW_ASSIGN_OR_RAISE(auto targets, TargetsOf(columns, DefaultKind::kInitial));
  ARROW_ASSIGN_OR_RAISE(auto taken, LiveFiles(table, branch, context));
  std::vector<std::string> locations;
  for (const std::string& path : paths) {
    locations.push_back(LocationOf(path));
    if (taken.insert(locations.back()).second) continue;
    return Invalid("file {} is in the table already, or is named twice", locations.back());
  }
  Registrar registrar(metadata, std::move(targets), ContextWithPool(context, pool.get()));
  ARROW_RETURN_NOT_OK(registrar.Prepare());
  RegisteredFiles result;
  result.files.resize(locations.size());
  ARROW_RETURN_NOT_OK(ParallelFor(context, static_cast<int64_t>(locations.size()), [&](int64_t i) -> Status {
    const auto index = static_cast<size_t>(i);
    ARROW_ASSIGN_OR_RAISE(result.files[index], registrar.Register(locations[index]));
    return Status::OK();
  }));
  if (registrar.needs_mapping()) result.name_mapping = registrar.mapping_text();
  return result;
}

}  // namespace calve::pipeline
