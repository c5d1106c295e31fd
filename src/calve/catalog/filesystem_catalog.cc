#include "calve/catalog/filesystem_catalog.h"

#include "calve/base/status.h"
#include "calve/catalog/filesystem_table.h"
#include "calve/catalog/new_table.h"
#include "calve/iceberg/table_files.h"

#include <algorithm>
#include <filesystem>

namespace calve {
namespace {

using iceberg::JoinLocation;
using iceberg::TableVersion;

/// Levels of namespaces that are listed; deeper ones can still be named.
constexpr int kMaxListedDepth = 16;

}  // namespace

arrow::Result<std::unique_ptr<Catalog>> FilesystemCatalog::Make(const CatalogConfig& config) {
  auto warehouse = config.properties.find("warehouse");
  if (warehouse == config.properties.end() || warehouse->second.empty()) {
    return Invalid("catalog '{}' is of type filesystem and has no property 'warehouse'", config.name);
  }
  return std::make_unique<FilesystemCatalog>(FileIO(PathMap(config.moved)), AbsoluteLocation(warehouse->second));
}

FilesystemCatalog::FilesystemCatalog(FileIO io, std::string warehouse)
    : io_(std::move(io)), warehouse_(std::move(warehouse)) {}

arrow::Result<std::string> FilesystemCatalog::FolderOf(const std::vector<std::string>& levels) const {
  std::string folder = warehouse_;
  for (const std::string& level : levels) {
    ARROW_RETURN_NOT_OK(CheckFolderName(level));
    folder = JoinLocation(folder, level);
  }
  return folder;
}

arrow::Result<std::string> FilesystemCatalog::FolderOf(const TableName& name) const {
  std::vector<std::string> levels = name.levels;
  levels.push_back(name.table);
  return FolderOf(levels);
}

arrow::Result<std::vector<std::string>> FilesystemCatalog::ListFolders(const std::string& folder) const {
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> names, io_.List(folder));
  std::vector<std::string> folders;
  for (std::string& name : names) {
    ARROW_ASSIGN_OR_RAISE(std::string path, io_.LocalPath(JoinLocation(folder, name)));
    std::error_code ignored;
    const bool hidden = name.starts_with('.') || name.starts_with('_');
    // Links are not followed: they could lead round in a circle.
    if (!hidden && std::filesystem::is_directory(std::filesystem::symlink_status(path, ignored))) {
      folders.push_back(std::move(name));
    }
  }
  return folders;
}

arrow::Result<bool> FilesystemCatalog::IsTable(const std::string& folder) const {
  Result<std::optional<CurrentMetadata>> current = FindCurrentMetadata(io_, folder);
  // Metadata files that cannot be told apart still are a table's.
  if (current.status().IsInvalid()) return true;
  ARROW_RETURN_NOT_OK(current.status());
  return current->has_value();
}

arrow::Status FilesystemCatalog::CollectNamespaces(const std::string& folder, const std::string& prefix, int depth,
                                                   std::vector<std::string>* namespaces) const {
  if (depth >= kMaxListedDepth) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> names, ListFolders(folder));
  for (const std::string& name : names) {
    const std::string child = JoinLocation(folder, name);
    ARROW_ASSIGN_OR_RAISE(bool is_table, IsTable(child));
    // A name with a dot cannot be told from two levels.
    if (is_table || name.find('.') != std::string::npos) continue;
    namespaces->push_back(prefix + name);
    ARROW_RETURN_NOT_OK(CollectNamespaces(child, prefix + name + ".", depth + 1, namespaces));
  }
  return Status::OK();
}

arrow::Result<std::vector<std::string>> FilesystemCatalog::ListNamespaces() {
  std::vector<std::string> namespaces;
  ARROW_RETURN_NOT_OK(CollectNamespaces(warehouse_, "", 0, &namespaces));
  std::sort(namespaces.begin(), namespaces.end());
  return namespaces;
}

arrow::Result<std::vector<std::string>> FilesystemCatalog::ListTables(const std::string& name_space) {
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> levels, ParseNamespace(name_space));
  ARROW_ASSIGN_OR_RAISE(std::string folder, FolderOf(levels));
  ARROW_ASSIGN_OR_RAISE(bool exists, io_.Exists(folder));
  if (!exists) return Invalid("no such namespace: '{}' (no folder {})", name_space, folder);
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> names, ListFolders(folder));
  std::vector<std::string> tables;
  for (std::string& name : names) {
    ARROW_ASSIGN_OR_RAISE(bool is_table, IsTable(JoinLocation(folder, name)));
    if (is_table) tables.push_back(std::move(name));
  }
  return tables;
}

arrow::Result<Table> FilesystemCatalog::LoadTable(const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(TableName table_name, ParseTableName(name));
  ARROW_ASSIGN_OR_RAISE(std::string folder, FolderOf(table_name));
  auto store = std::make_shared<FilesystemTable>(io_, std::move(folder), name);
  ARROW_ASSIGN_OR_RAISE(TableVersion version, store->Load());
  return Table(store, std::make_shared<TableVersion>(std::move(version)));
}

arrow::Result<Table> FilesystemCatalog::CreateTable(const std::string& name, const arrow::Schema& schema,
                                                    const CreateTableOptions& options) {
  ARROW_ASSIGN_OR_RAISE(TableName table_name, ParseTableName(name));
  ARROW_ASSIGN_OR_RAISE(std::string folder, FolderOf(table_name));
  if (!options.location.empty() && NormalizeLocation(AbsoluteLocation(options.location)) != NormalizeLocation(folder)) {
    return Invalid("table {} of a filesystem catalog lies at {}: it cannot be made at {}", name, folder,
                   options.location);
  }
  ARROW_ASSIGN_OR_RAISE(iceberg::TableMetadata metadata, MakeTableMetadata(folder, schema, options));
  auto store = std::make_shared<FilesystemTable>(io_, std::move(folder), name);
  ARROW_ASSIGN_OR_RAISE(TableVersion version, store->Create(metadata));
  return Table(store, std::make_shared<TableVersion>(std::move(version)));
}

arrow::Status FilesystemCatalog::DropTable(const std::string& name, bool purge) {
  ARROW_ASSIGN_OR_RAISE(TableName table_name, ParseTableName(name));
  ARROW_ASSIGN_OR_RAISE(std::string folder, FolderOf(table_name));
  FilesystemTable store(io_, folder, name);
  ARROW_ASSIGN_OR_RAISE(TableVersion version, store.Load());
  if (!purge) {
    return Invalid("table {} is its folder {}: dropping it from a filesystem catalog deletes its files (purge)", name,
                   folder);
  }
  ARROW_RETURN_NOT_OK(store.CheckWritable(version));
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> files, iceberg::FilesOfTable(io_, version));
  return iceberg::DeleteTableFiles(io_, folder, files);
}

}  // namespace calve
