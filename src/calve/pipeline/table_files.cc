#include "calve/pipeline/table_files.h"

#include "calve/base/status.h"
#include "calve/pipeline/described_file.h"

namespace calve::pipeline {
namespace {

constexpr char kNameMappingProperty[] = "schema.name-mapping.default";

/// The partition values that stand for columns which a file lacks: those of identity transforms.
Result<std::map<int, Value>> IdentityValues(const iceberg::TableMetadata& metadata, const iceberg::DataFile& file) {
  const iceberg::PartitionSpec* spec = metadata.FindSpec(file.spec_id);
  if (spec == nullptr)
    return Invalid("data file {} is of partition spec {}, which the table lacks", file.file_path, file.spec_id);
  std::map<int, Value> result;
  for (size_t i = 0; i < spec->fields.size() && i < file.partition.size(); ++i) {
    const auto& field = spec->fields[i];
    if (field.transform.kind == iceberg::TransformKind::kIdentity) result[field.source_id] = file.partition[i];
  }
  return result;
}

}  // namespace

Result<std::vector<FileToRead>> FilesOfPlan(const iceberg::TableMetadata& metadata,
                                            const std::vector<iceberg::FileScanTask>& tasks, bool with_filter) {
  const auto schema = std::make_shared<const iceberg::Schema>(metadata.schema());
  std::vector<FileToRead> files;
  for (const iceberg::FileScanTask& task : tasks) {
    FileToRead file;
    file.location = task.file.file_path;
    file.expected_size_bytes = task.file.file_size_in_bytes;
    file.values.path = task.file.file_path;
    file.values.first_row_id = task.first_row_id;
    file.values.sequence_number = task.sequence_number;
    ARROW_ASSIGN_OR_RAISE(file.values.identity_partition, IdentityValues(metadata, task.file));
    file.describe = [schema, entry = task.file](const ParquetReader& reader, const SourceSchema& source) {
      return CheckDescribedBy(entry, reader.metadata(), source, *schema);
    };
    if (with_filter) file.filter = task.residual;
    files.push_back(std::move(file));
  }
  return files;
}

std::function<Status(const ParquetReader&, SourceSchema*)> IdentifyByTable(const iceberg::TableMetadata& metadata,
                                                                           std::vector<TargetField> targets) {
  std::shared_ptr<Result<iceberg::NameMapping>> mapping;
  if (auto text = metadata.properties.find(kNameMappingProperty); text != metadata.properties.end()) {
    mapping = std::make_shared<Result<iceberg::NameMapping>>(iceberg::NameMappingFromJson(text->second));
  }
  return [mapping, names = std::move(targets)](const ParquetReader& reader, SourceSchema* source) -> Status {
    if (source->has_ids()) return Status::OK();
    if (mapping == nullptr) {
      source->AssignIdsByName(names);
      return Status::OK();
    }
    ARROW_RETURN_NOT_OK(WithContext(mapping->status(), fmt::format("file {} has no field ids, and table property {}",
                                                                   reader.name(), kNameMappingProperty)));
    source->AssignIdsByMapping(**mapping, *reader.schema());
    return Status::OK();
  };
}

std::shared_ptr<const FileIO> IoOf(const Table& table) { return {table.store(), &table.store()->io()}; }

Result<std::string> PartitionText(const iceberg::TableMetadata& metadata, const iceberg::DataFile& file) {
  const iceberg::PartitionSpec* spec = metadata.FindSpec(file.spec_id);
  if (spec == nullptr || file.partition.empty()) return std::string();
  ARROW_ASSIGN_OR_RAISE(auto types, iceberg::PartitionTypes(*spec, metadata.schema()));
  return iceberg::PartitionPath(*spec, types, file.partition);
}

}  // namespace calve::pipeline
