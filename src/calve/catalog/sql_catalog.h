#pragma once

#include "calve/catalog.h"
#include "calve/catalog/sql_table.h"

#include <memory>
#include <string>
#include <vector>

namespace calve {

/// A catalog in a SQLite database that pyiceberg and Java share; see SqlCatalogTables. The database and the namespace
/// of a new table are made when they are missing.
class SqlCatalog : public Catalog {
 public:
  /// Needs the property "uri"; takes "warehouse".
  static arrow::Result<std::unique_ptr<Catalog>> Make(const CatalogConfig& config);
  SqlCatalog(FileIO io, SqlCatalogTables tables, std::string warehouse);

  arrow::Result<std::vector<std::string>> ListNamespaces() override;
  arrow::Result<std::vector<std::string>> ListTables(const std::string& name_space) override;
  arrow::Result<Table> LoadTable(const std::string& name) override;
  /// Without a location: below the namespace's property "location", else below the warehouse.
  arrow::Result<Table> CreateTable(const std::string& name, const arrow::Schema& schema,
                                   const CreateTableOptions& options) override;
  arrow::Status DropTable(const std::string& name, bool purge) override;

 private:
  arrow::Result<std::string> LocationFor(const TableName& name, const std::string& location) const;

  FileIO io_;
  SqlCatalogTables tables_;
  std::string warehouse_;
};

}  // namespace calve
