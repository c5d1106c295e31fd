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

#include <arrow/type.h>

#include <filesystem>
#include <map>
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

/// Whether what a footer says of the values is enough to know that the table can read all of them. Fields are walked
/// beside the Arrow fields of the same source, which tell whether nulls are possible.
struct InPlaceCheck {
  const std::string& location;
  const iceberg::Schema& schema;
  const std::map<int, const iceberg::LeafMetrics*>& metrics;

  Status All(const std::vector<SourceField>& fields, const arrow::FieldVector& arrow_fields,
             const std::string& prefix) const {
    if (fields.size() != arrow_fields.size()) {
      return Invalid("file {}: {} fields stand for {} under '{}'", location, fields.size(), arrow_fields.size(),
                     prefix);
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      const SourceField& field = fields[i];
      const iceberg::Field* column = field.id >= 0 ? schema.FindById(field.id) : nullptr;
      if (column == nullptr) continue;
      const std::string path = prefix + column->name;
      if (column->required && arrow_fields[i]->nullable()) ARROW_RETURN_NOT_OK(HoldsNoNull(field, path));
      if (field.leaf >= 0) ARROW_RETURN_NOT_OK(Fits(field, *column, path));
      if (field.children.empty()) continue;
      ARROW_RETURN_NOT_OK(All(field.children, ChildrenOf(*arrow_fields[i]->type()), path + "."));
    }
    return Status::OK();
  }

  /// A map's are its key and value.
  static arrow::FieldVector ChildrenOf(const arrow::DataType& type) {
    return type.id() == arrow::Type::MAP ? type.field(0)->type()->fields() : type.fields();
  }

  Status HoldsNoNull(const SourceField& field, const std::string& path) const {
    const auto nulls = FewestNulls(field);
    if (nulls == 0) return Status::OK();
    if (nulls && field.leaf >= 0) {
      return Invalid("file {}: required column '{}' holds {} null{}", location, path, *nulls, *nulls == 1 ? "" : "s");
    }
    return Invalid("file {}: required column '{}' may hold nulls: the file's footer does not rule them out", location,
                   path);
  }

  /// The least null count of the leaves under `field`: a null of the field counts in each of them.
  std::optional<int64_t> FewestNulls(const SourceField& field) const {
    std::optional<int64_t> fewest;
    if (auto leaf = metrics.find(field.id); field.leaf >= 0 && leaf != metrics.end()) return leaf->second->null_count;
    for (const SourceField& child : field.children) {
      const auto nulls = FewestNulls(child);
      if (nulls && (!fewest || *nulls < *fewest)) fewest = nulls;
    }
    return fewest;
  }

  /// Timestamps whose unit becomes finer may leave the range of 64 bits; their bounds, in the table's unit, tell.
  Status Fits(const SourceField& field, const iceberg::Field& column, const std::string& path) const {
    ARROW_ASSIGN_OR_RAISE(const auto type, iceberg::ToArrow(*column.type));
    if (field.is_int96) {
      return Invalid("file {}: column '{}' is INT96, whose nanoseconds are lost when it is read as {}", location, path,
                     type->ToString());
    }
    if (type->id() != arrow::Type::TIMESTAMP || field.type->id() == arrow::Type::NA) return Status::OK();
    const auto unit = static_cast<const arrow::TimestampType&>(*type).unit();
    if (field.type->id() == arrow::Type::TIMESTAMP &&
        static_cast<const arrow::TimestampType&>(*field.type).unit() == unit) {
      return Status::OK();
    }
    const auto leaf = metrics.find(field.id);
    if (leaf == metrics.end()) return Status::OK();
    const iceberg::LeafMetrics& known = *leaf->second;
    if (known.null_count && known.null_count == known.value_count) return Status::OK();
    if (!IsNull(known.lower) && !IsNull(known.upper)) return Status::OK();
    return Invalid("file {}: column '{}' is {}; the file's footer does not tell that all of its values fit into {}",
                   location, path, field.type->ToString(), type->ToString());
  }
};

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
    ARROW_ASSIGN_OR_RAISE(auto reader, ParquetReader::Open(std::move(input), location, TableFileOptions(), context_));
    if (reader->num_rows() == 0) return Invalid("file {} has no rows", location);
    auto source = SourceSchema::OfFile(reader->file_schema(), location);
    ARROW_RETURN_NOT_OK(Identify(*reader, &source));
    ARROW_RETURN_NOT_OK(CheckNothingIsLost(source, targets_, metadata_));
    FileValues values;
    values.path = location;
    ARROW_ASSIGN_OR_RAISE(values.identity_partition, IdentityValuesInPath(metadata_, location));
    ARROW_ASSIGN_OR_RAISE(const auto projection,
                          ColumnProjection::Make(source, targets_, std::move(values), {.casts = casts()}));
    ARROW_RETURN_NOT_OK(reader->CheckSupported(projection.leaves()));
    ARROW_ASSIGN_OR_RAISE(const auto leaves, MetricsOfFooter(reader->metadata(), source, metadata_.schema()));
    std::map<int, const iceberg::LeafMetrics*> metrics;
    for (const auto& leaf : leaves) metrics[leaf.field_id] = &leaf;
    const InPlaceCheck check{location, metadata_.schema(), metrics};
    ARROW_RETURN_NOT_OK(check.All(source.fields, reader->schema()->fields(), ""));
    return Describe(*reader, leaves, location);
  }

  bool needs_mapping() const { return needs_mapping_ && !table_has_mapping_; }
  std::string mapping_text() const { return iceberg::ToJsonText(mapping_); }

 private:
  CastRules casts() const { return metadata_.format_version >= 3 ? CastRules::kInPlaceV3 : CastRules::kInPlace; }

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

  Result<iceberg::DataFile> Describe(const ParquetReader& reader, const std::vector<iceberg::LeafMetrics>& leaves,
                                     const std::string& location) {
    iceberg::DataFile file;
    file.file_path = location;
    file.file_format = "PARQUET";
    file.spec_id = metadata_.spec().spec_id;
    file.record_count = reader.num_rows();
    file.file_size_in_bytes = reader.size_bytes();
    file.split_offsets = SplitOffsets(reader.metadata());
    file.sort_order_id = 0;
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
