#include "calve/catalog/new_table.h"

#include "calve/base/status.h"
#include "calve/catalog/partition_by.h"

#include <arrow/type.h>

#include <filesystem>

namespace calve {

arrow::Result<iceberg::TableMetadata> MakeTableMetadata(const std::string& location, const arrow::Schema& schema,
                                                        const CreateTableOptions& options) {
  if (options.format_version < 1 || options.format_version > 3) {
    return NotImplemented("tables of format version {}", options.format_version);
  }
  ARROW_ASSIGN_OR_RAISE(iceberg::Schema table_schema, iceberg::FromArrow(schema));
  ARROW_ASSIGN_OR_RAISE(iceberg::PartitionSpec spec, ParsePartitionBy(options.partition_by, table_schema));
  return iceberg::NewTableMetadata(location, table_schema, spec, options.format_version, options.properties);
}

std::string AbsoluteLocation(const std::string& location) {
  std::string absolute = location;
  const bool has_scheme = location.find(":/") != std::string::npos;
  if (!has_scheme && !location.starts_with('/')) {
    absolute = std::filesystem::absolute(location).lexically_normal().string();
  }
  while (absolute.size() > 1 && absolute.ends_with('/')) absolute.pop_back();
  return absolute;
}

}  // namespace calve
