#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/iceberg/inspection.h"
#include "calve/iceberg/row_builder.h"

#include <arrow/type.h>

namespace calve::iceberg {
namespace {

std::shared_ptr<arrow::Schema> FilesSchema() {
  const auto counts = arrow::map(arrow::utf8(), arrow::int64());
  const auto bounds = arrow::map(arrow::utf8(), arrow::utf8());
  auto required = [](const char* name, const std::shared_ptr<arrow::DataType>& type) {
    return arrow::field(name, type, /*nullable=*/false);
  };
  return arrow::schema({
      required("content", arrow::utf8()),
      required("file_path", arrow::utf8()),
      required("file_format", arrow::utf8()),
      required("spec_id", arrow::int32()),
      required("partition", arrow::utf8()),
      required("record_count", arrow::int64()),
      required("file_size_in_bytes", arrow::int64()),
      required("sequence_number", arrow::int64()),
      arrow::field("column_sizes", counts),
      arrow::field("value_counts", counts),
      arrow::field("null_value_counts", counts),
      arrow::field("nan_value_counts", counts),
      arrow::field("lower_bounds", bounds),
      arrow::field("upper_bounds", bounds),
  });
}

std::string_view ContentName(FileContent content) {
  switch (content) {
    case FileContent::kData:
      return "data";
    case FileContent::kPositionDeletes:
      return "position_deletes";
    case FileContent::kEqualityDeletes:
      return "equality_deletes";
  }
  return "unknown";
}

/// Names and types of columns by field id: the current schema's, then those of older ones that it lacks.
class ColumnNames {
 public:
  explicit ColumnNames(const TableMetadata& metadata) {
    Add(metadata.schema().fields, "");
    for (auto schema = metadata.schemas.rbegin(); schema != metadata.schemas.rend(); ++schema) Add(schema->fields, "");
  }

  std::map<std::string, int64_t> Counts(const std::map<int, int64_t>& counts) const {
    std::map<std::string, int64_t> named;
    for (const auto& [id, count] : counts) named[NameOf(id)] = count;
    return named;
  }

  /// Bounds that are no values of their columns are left out.
  std::map<std::string, std::string> Bounds(const std::map<int, std::string>& bounds) const {
    std::map<std::string, std::string> named;
    for (const auto& [id, bytes] : bounds) {
      auto column = columns_.find(id);
      if (column == columns_.end()) continue;
      auto value = ValueFromBytes(*column->second.type, bytes);
      if (value.ok()) named[column->second.name] = ValueToText(*column->second.type, *value);
    }
    return named;
  }

 private:
  struct Column {
    std::string name;
    TypePtr type;
  };

  void Add(const std::vector<Field>& fields, const std::string& prefix) {
    for (const Field& field : fields) {
      const std::string name = prefix.empty() ? field.name : prefix + "." + field.name;
      columns_.emplace(field.id, Column{name, field.type});
      Add(field.type->fields, name);
    }
  }

  std::string NameOf(int id) const {
    auto column = columns_.find(id);
    return column != columns_.end() ? column->second.name : fmt::format("#{}", id);
  }

  std::map<int, Column> columns_;
};

Result<std::vector<ManifestEntry>> LiveEntries(const FileIO& io, const TableMetadata& metadata,
                                               const Snapshot& snapshot) {
  ARROW_ASSIGN_OR_RAISE(auto manifests, ManifestsOf(io, metadata, snapshot));
  std::vector<std::vector<ManifestEntry>> read(manifests.size());
  ARROW_RETURN_NOT_OK(ParallelFor({}, static_cast<int64_t>(manifests.size()), [&](int64_t i) -> Status {
    if (!manifests[i].might_have_live_files()) return Status::OK();
    return ReadManifest(io, metadata, manifests[i]).Value(&read[i]);
  }));
  std::vector<ManifestEntry> live;
  for (auto& entries : read) {
    for (ManifestEntry& entry : entries) {
      if (entry.is_live()) live.push_back(std::move(entry));
    }
  }
  return live;
}

// An empty text when unpartitioned, "?" when the values cannot be written.
std::string PartitionText(const TableMetadata& metadata, const DataFile& file) {
  const PartitionSpec* spec = metadata.FindSpec(file.spec_id);
  if (spec == nullptr || spec->fields.empty()) return "";
  auto types = PartitionTypes(*spec, metadata);
  if (!types.ok()) return "?";
  return PartitionPath(*spec, *types, file.partition).ValueOr("?");
}

}  // namespace

Result<std::shared_ptr<arrow::RecordBatch>> FilesBatch(const FileIO& io, const TableMetadata& metadata,
                                                       const Snapshot* snapshot) {
  ARROW_ASSIGN_OR_RAISE(RowBuilder rows, RowBuilder::Make(FilesSchema()));
  std::vector<ManifestEntry> entries;
  if (snapshot != nullptr) {
    ARROW_ASSIGN_OR_RAISE(entries, LiveEntries(io, metadata, *snapshot));
  }
  const ColumnNames names(metadata);
  for (const ManifestEntry& entry : entries) {
    const DataFile& file = entry.file;
    rows.Text(std::string(ContentName(file.content))).Text(file.file_path).Text(file.file_format).Int(file.spec_id);
    rows.Text(PartitionText(metadata, file)).Long(file.record_count).Long(file.file_size_in_bytes);
    rows.Long(entry.sequence_number.value_or(0));
    rows.Map(names.Counts(file.column_sizes)).Map(names.Counts(file.value_counts));
    rows.Map(names.Counts(file.null_value_counts)).Map(names.Counts(file.nan_value_counts));
    rows.Map(names.Bounds(file.lower_bounds)).Map(names.Bounds(file.upper_bounds));
  }
  return rows.Finish();
}

}  // namespace calve::iceberg
