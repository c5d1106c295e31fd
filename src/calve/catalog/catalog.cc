#include "calve/catalog.h"

#include "calve/base/status.h"
#include "calve/catalog/filesystem_catalog.h"
#include "calve/catalog/filesystem_table.h"
#include "calve/catalog/metadata_file_table.h"
#include "calve/catalog/new_table.h"
#include "calve/catalog/sql_catalog.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace calve {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// The type of a catalog that does not tell, by the scheme of its URI.
arrow::Result<std::string> InferType(const CatalogConfig& config) {
  auto uri = config.properties.find("uri");
  if (uri == config.properties.end() || uri->second.empty()) {
    std::string variable = config.name;
    std::transform(variable.begin(), variable.end(), variable.begin(), [](unsigned char c) { return std::toupper(c); });
    return Invalid(
        "catalog '{}' is not configured: it has neither a type nor a uri (in ~/.pyiceberg.yaml, or as "
        "PYICEBERG_CATALOG__{}__URI)",
        config.name, variable);
  }
  constexpr std::pair<std::string_view, const char*> kSchemes[] = {
      {"http", "rest"}, {"thrift", "hive"}, {"sqlite", "sql"}, {"jdbc:", "sql"}, {"postgresql", "sql"}};
  for (const auto& [scheme, type] : kSchemes) {
    if (uri->second.starts_with(scheme)) return type;
  }
  return Invalid("catalog '{}': cannot tell its type by the uri '{}': set 'type'", config.name, uri->second);
}

Table OpenedTable(std::shared_ptr<iceberg::TableStore> store, iceberg::TableVersion version) {
  return Table(std::move(store), std::make_shared<iceberg::TableVersion>(std::move(version)));
}

}  // namespace

arrow::Result<std::unique_ptr<Catalog>> Catalog::Open(const CatalogConfig& config) {
  if (config.properties.contains("py-catalog-impl")) {
    return NotImplemented("catalog '{}': catalogs written in Python (py-catalog-impl)", config.name);
  }
  auto given = config.properties.find("type");
  std::string type = given == config.properties.end() ? "" : Lower(given->second);
  if (type.empty()) {
    ARROW_ASSIGN_OR_RAISE(type, InferType(config));
  }
  if (type == "sql" || type == "jdbc") return SqlCatalog::Make(config);
  if (type == "filesystem" || type == "hadoop") return FilesystemCatalog::Make(config);
  for (const char* known : {"rest", "hive", "glue", "dynamodb", "in-memory", "bigquery", "nessie"}) {
    if (type == known) return NotImplemented("catalog '{}': catalogs of type '{}'", config.name, type);
  }
  return Invalid("catalog '{}': unknown type '{}' (sql and filesystem are known)", config.name, type);
}

arrow::Result<Table> OpenTable(const std::string& path, const std::vector<std::pair<std::string, std::string>>& moved) {
  FileIO io{PathMap(moved)};
  const std::string location = AbsoluteLocation(path);
  ARROW_ASSIGN_OR_RAISE(std::string local, io.LocalPath(location));
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(local, error);
  std::shared_ptr<iceberg::TableStore> store;
  if (std::filesystem::is_directory(status)) {
    store = std::make_shared<FilesystemTable>(io, location, path);
  } else if (std::filesystem::exists(status)) {
    store = std::make_shared<MetadataFileTable>(io, location);
  } else {
    return Invalid("no such table: {}", path);
  }
  ARROW_ASSIGN_OR_RAISE(iceberg::TableVersion version, store->Load());
  return OpenedTable(std::move(store), std::move(version));
}

}  // namespace calve
