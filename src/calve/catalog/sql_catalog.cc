#include "calve/catalog/sql_catalog.h"

#include "calve/base/status.h"
#include "calve/catalog/new_table.h"
#include "calve/iceberg/metadata_file.h"
#include "calve/iceberg/table_files.h"

#include <algorithm>

namespace calve {

using iceberg::JoinLocation;
using iceberg::MetadataCodec;
using iceberg::TableMetadata;
using iceberg::TableVersion;

arrow::Result<std::unique_ptr<Catalog>> SqlCatalog::Make(const CatalogConfig& config) {
  auto property = [&](const char* name) {
    auto found = config.properties.find(name);
    return found == config.properties.end() ? std::string() : found->second;
  };
  if (property("uri").empty()) return Invalid("catalog '{}' is of type sql and has no property 'uri'", config.name);
  ARROW_ASSIGN_OR_RAISE(std::string path, SqlitePathOf(property("uri")));
  std::string warehouse = property("warehouse");
  if (!warehouse.empty()) warehouse = AbsoluteLocation(warehouse);
  return std::make_unique<SqlCatalog>(FileIO(PathMap(config.moved)), SqlCatalogTables(std::move(path), config.name),
                                      std::move(warehouse));
}

SqlCatalog::SqlCatalog(FileIO io, SqlCatalogTables tables, std::string warehouse)
    : io_(std::move(io)), tables_(std::move(tables)), warehouse_(std::move(warehouse)) {}

arrow::Result<std::vector<std::string>> SqlCatalog::ListNamespaces() { return tables_.ListNamespaces(); }

arrow::Result<std::vector<std::string>> SqlCatalog::ListTables(const std::string& name_space) {
  ARROW_RETURN_NOT_OK(ParseNamespace(name_space).status());
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> tables, tables_.ListTables(name_space));
  if (!tables.empty()) return tables;
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> namespaces, ListNamespaces());
  const bool known = std::any_of(namespaces.begin(), namespaces.end(), [&](const std::string& other) {
    return other == name_space || other.starts_with(name_space + ".");
  });
  if (!known) return Invalid("no such namespace: '{}' in catalog '{}'", name_space, tables_.catalog_name());
  return tables;
}

arrow::Result<Table> SqlCatalog::LoadTable(const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(TableName table_name, ParseTableName(name));
  auto store = std::make_shared<SqlTable>(io_, tables_, std::move(table_name));
  ARROW_ASSIGN_OR_RAISE(TableVersion version, store->Load());
  return Table(store, std::make_shared<TableVersion>(std::move(version)));
}

arrow::Result<std::string> SqlCatalog::LocationFor(const TableName& name, const std::string& location) const {
  if (!location.empty()) return AbsoluteLocation(location);
  for (const std::string& level : name.levels) ARROW_RETURN_NOT_OK(CheckFolderName(level));
  ARROW_RETURN_NOT_OK(CheckFolderName(name.table));
  ARROW_ASSIGN_OR_RAISE(std::optional<std::string> parent, tables_.NamespaceProperty(name.name_space(), "location"));
  if (parent) return JoinLocation(*parent, name.table);
  if (warehouse_.empty()) {
    return Invalid("catalog '{}' has no property 'warehouse': table {} needs a location", tables_.catalog_name(),
                   name.ToString());
  }
  std::string folder = warehouse_;
  for (const std::string& level : name.levels) folder = JoinLocation(folder, level);
  return JoinLocation(folder, name.table);
}

arrow::Result<Table> SqlCatalog::CreateTable(const std::string& name, const arrow::Schema& schema,
                                             const CreateTableOptions& options) {
  ARROW_ASSIGN_OR_RAISE(TableName table_name, ParseTableName(name));
  ARROW_ASSIGN_OR_RAISE(std::string location, LocationFor(table_name, options.location));
  ARROW_ASSIGN_OR_RAISE(TableMetadata metadata, MakeTableMetadata(location, schema, options));
  ARROW_ASSIGN_OR_RAISE(MetadataCodec codec, MetadataCodec::Of(metadata));
  ARROW_ASSIGN_OR_RAISE(std::string bytes, codec.Encode(metadata));
  const std::string file = JoinLocation(iceberg::MetadataLocation(metadata), iceberg::NextCatalogFileName("", codec));
  ARROW_RETURN_NOT_OK(io_.CreateNew(file, bytes));
  Status inserted = tables_.InsertTable(table_name, file);
  if (CommitFailureOf(inserted) == CommitFailure::kStateUnknown) {
    Result<std::optional<std::string>> found = tables_.FindTable(table_name);
    if (found.ok() && *found == file) inserted = Status::OK();
  } else if (!inserted.ok()) {
    ARROW_UNUSED(io_.Delete(file));
  }
  ARROW_RETURN_NOT_OK(inserted);
  auto store = std::make_shared<SqlTable>(io_, tables_, std::move(table_name));
  return Table(store, std::make_shared<TableVersion>(TableVersion{std::move(metadata), file}));
}

arrow::Status SqlCatalog::DropTable(const std::string& name, bool purge) {
  ARROW_ASSIGN_OR_RAISE(TableName table_name, ParseTableName(name));
  if (!purge) return tables_.DeleteTable(table_name);
  SqlTable store(io_, tables_, table_name);
  ARROW_ASSIGN_OR_RAISE(TableVersion version, store.Load());
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> files, iceberg::FilesOfTable(io_, version));
  ARROW_RETURN_NOT_OK(tables_.DeleteTable(table_name));
  return iceberg::DeleteTableFiles(io_, version.metadata.location, files);
}

}  // namespace calve
