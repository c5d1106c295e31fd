#pragma once

#include "calve/catalog.h"
#include "calve/catalog/table_name.h"
#include "calve/io/file_io.h"

#include <memory>
#include <string>
#include <vector>

namespace calve {

/// Tables in folders below a warehouse, as Hadoop catalogs lay them out: warehouse/namespace/table/metadata. A folder
/// is a table when its metadata folder has metadata files, otherwise a namespace.
class FilesystemCatalog : public Catalog {
 public:
  /// Needs the property "warehouse".
  static arrow::Result<std::unique_ptr<Catalog>> Make(const CatalogConfig& config);
  FilesystemCatalog(FileIO io, std::string warehouse);

  arrow::Result<std::vector<std::string>> ListNamespaces() override;
  arrow::Result<std::vector<std::string>> ListTables(const std::string& name_space) override;
  arrow::Result<Table> LoadTable(const std::string& name) override;
  /// A location other than warehouse/namespace/table is Invalid.
  arrow::Result<Table> CreateTable(const std::string& name, const arrow::Schema& schema,
                                   const CreateTableOptions& options) override;
  /// Invalid without `purge`: the folder is all there is of the table.
  arrow::Status DropTable(const std::string& name, bool purge) override;

 private:
  arrow::Result<std::string> FolderOf(const std::vector<std::string>& levels) const;
  arrow::Result<std::string> FolderOf(const TableName& name) const;
  arrow::Result<std::vector<std::string>> ListFolders(const std::string& folder) const;
  arrow::Result<bool> IsTable(const std::string& folder) const;
  arrow::Status CollectNamespaces(const std::string& folder, const std::string& prefix, int depth,
                                  std::vector<std::string>* namespaces) const;

  FileIO io_;
  std::string warehouse_;
};

}  // namespace calve
